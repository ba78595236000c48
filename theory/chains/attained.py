"""The factor of several steps that is attained: no chain of certificates proves less."""

import numpy as np
import scipy.linalg

from bitbound.theory.chains.chain import Chain
from bitbound.theory.exact.long_run import long_runs
from bitbound.theory.quadratic_potential import Reweighted
from bitbound.theory.worlds.linear_maps import Matrix

SEEN = 1e-12
"""Relative size below which a direction is not seen by the first potential."""


def attained_factor(chain: Chain) -> float:
    """Return the largest factor of all steps on the quadratics that are tried, exactly.

    Compressed vectors are off by the largest error, with random signs or, where compressors
    contract, always with the same.

    Raises
    ------
    Refusal
        As for :func:`~bitbound.theory.exact.long_run.slowest_decrease`.
    """
    first, last = chain.links[0], chain.links[-1]
    functions, method = first.functions, first.method
    ends = last.following or last.weights
    start, end = (Reweighted(first.potential, weights) for weights in (first.weights, ends))
    found = []
    for moments in long_runs(method, functions):
        after = np.linalg.matrix_power(moments.step, chain.steps) @ moments.form(end, functions)
        now = moments.form(start, functions)
        pairs = zip(moments.blocks(now), moments.blocks(after), strict=True)
        found += [_largest_ratio(*pair) for pair in pairs if len(pair[0])]
    return max(found)


def _largest_ratio(now: Matrix, after: Matrix) -> float:
    """Return the largest ratio of two forms where the first is not 0."""
    values, vectors = np.linalg.eigh(now)
    seen = vectors[:, values > SEEN * values[-1]]
    ratios = scipy.linalg.eigh(seen.T @ after @ seen, seen.T @ now @ seen, eigvals_only=True)
    return float(ratios[-1])
