"""The factor of several steps that is attained: no chain of certificates proves less."""

import numpy as np
import scipy.linalg

from bitbound.theory.chains.chain import Chain
from bitbound.theory.exact.second_moments import FEW_CLIENTS, one_dimensional
from bitbound.theory.quadratic_potential import Reweighted
from bitbound.theory.worlds.linear_maps import Matrix

SEEN = 1e-12
"""Relative size below which a direction is not seen by the first potential."""


def attained_factor(chain: Chain) -> float | None:
    """Return the largest factor of all steps on quadratics of one dimension, exactly.

    The curvatures are mu and L, in all combinations, and compressed vectors are off by the largest
    error, with random signs or, where compressors contract, always with the same. None for more
    than a few clients, those that differ, and compressors that share their randomness.

    Raises
    ------
    Refusal
        If the state is too large.
    """
    first, last = chain.links[0], chain.links[-1]
    functions, method = first.functions, first.method
    alone = functions.omega_joint is None and functions.L_f is None and not functions.classes
    if not (alone and functions.n <= FEW_CLIENTS):
        return None
    ends = last.following or last.weights
    start, end = (
        Reweighted(first.potential, tuple(map(float, weights))) for weights in (first.weights, ends)
    )
    found = []
    contracts = "contractive" in (method.needs.compressor, method.needs.downlink)
    for sign in (1.0, -1.0) if contracts else (1.0,):
        for world in one_dimensional(method, functions, (functions.mu, functions.L), sign):
            now = world.form(start)
            size = len(now)
            moments = np.linalg.matrix_power(world.second_moments.T, chain.steps)
            after = (moments @ world.form(end).reshape(-1)).reshape(size, size)
            found.append(_largest_ratio(now, (after + after.T) / 2))
    return max(found)


def _largest_ratio(now: Matrix, after: Matrix) -> float:
    """Return the largest ratio of two forms where the first is not 0."""
    values, vectors = np.linalg.eigh(now)
    seen = vectors[:, values > SEEN * values[-1]]
    ratios = scipy.linalg.eigh(seen.T @ after @ seen, seen.T @ now @ seen, eigvals_only=True)
    return float(ratios[-1])
