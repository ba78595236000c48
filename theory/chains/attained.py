"""The attained contraction factor of several steps: no chain of certificates proves less."""

import math

import numpy as np
import scipy.linalg

from certibit.theory.chains.certify_steps import Chain
from certibit.theory.exact.long_run import long_runs
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.worlds.linear_maps import Matrix, seen_by


def attained_log_factor(chain: Chain) -> float:
    """Return the logarithm of the largest factor of all steps on the quadratics that are tried.

    Compressed vectors are off by the largest error, with random signs or, where compressors
    contract, always with the same.

    Raises
    ------
    Refusal
        As for :func:`~certibit.theory.exact.long_run.slowest_decrease`.
    """
    first, last = chain.links[0], chain.links[-1]
    functions, method = first.functions, first.method
    ends = last.following or last.weights
    start, end = (Reweighted(first.potential, weights) for weights in (first.weights, ends))
    found = []
    for moments in long_runs(method, functions):
        power, exponent = _power(moments.step, chain.steps)
        after, now = power @ moments.form(end, functions), moments.form(start, functions)
        pairs = zip(moments.blocks(now), moments.blocks(after), strict=True)
        ratios = [_largest_ratio(*pair) for pair in pairs if len(pair[0])]
        largest = max(ratios, default=0.0)
        found.append(math.log(largest) + exponent if largest > 0 else -math.inf)
    return max(found)


def _power(matrix: Matrix, count: int) -> tuple[Matrix, float]:
    """Return a power of a matrix, divided by e to a number, and that number."""
    power, exponent = np.eye(len(matrix)), 0.0
    for digit in f"{count:b}":
        power, exponent = power @ power, 2 * exponent
        if digit == "1":
            power = power @ matrix
        size = float(np.abs(power).max(initial=0.0))
        if not size > 0:
            return power, 0.0
        power, exponent = power / size, exponent + math.log(size)
    return power, exponent


def _largest_ratio(now: Matrix, after: Matrix) -> float:
    """Return the largest ratio of two forms where the first is not 0."""
    seen = seen_by(now)
    ratios = scipy.linalg.eigh(seen.T @ after @ seen, seen.T @ now @ seen, eigvals_only=True)
    return float(ratios[-1])
