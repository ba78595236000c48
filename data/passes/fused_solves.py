"""Minimisation of the losses of every client at its own accuracy, without vectors in between."""

import math

import numpy as np
from numpy.typing import NDArray

from certibit.data.passes.fused import FusedGradients, Vectors


def solved(
    losses: FusedGradients, start: Vectors, centre: Vectors, going: NDArray[np.bool_],
    scale: float, a: float, u: Vectors, b: float,
    *, accuracy: float, L: float, mu: float, most: int,
) -> tuple[Vectors, Vectors, NDArray[np.int64]]:  # fmt: skip
    """Minimise a function plus (mu/2) |y - centre|^2 on every client, up to an accuracy.

    The gradients of the functions are scale grad h_i(y) + a y + b u_i. The steps and their momentum
    are those of :func:`~certibit.solvers.local_solve.minimise`; this is the same by compiled code.

    Parameters
    ----------
    losses : FusedGradients
        The gradients of the h_i.
    start : (n, d, R)
        Where y - centre begins.
    centre, u : (1, d, R), and (n, d, R) or (1, d, R)
    going : (n, 1, R) bool
        Who takes part.
    accuracy, L, mu, most
        As for that function.

    Returns
    -------
    z, change, evaluated
        The last y - centre; the gradients there, 0 if they were not evaluated; and the number of
        gradients that all clients together have evaluated, (R,).
    """
    from certibit.data.passes import solve_passes  # noqa: PLC0415  (numba is slow to import)

    (n, m, d), runs, q = losses.shape, start.shape[2], math.sqrt(mu / L)
    lanes, size = losses.code.lanes_for(runs), d * runs
    width = len(lanes)
    z, change = np.empty(n * size), np.empty(n * size + width)[: n * size]
    evaluated = np.zeros(runs, dtype=np.int64)
    rooms = (
        np.empty(size + width), tuple(np.empty((8, d * width))), tuple(np.empty((5, width))),
        tuple(np.empty((2, m * width))),
    )  # fmt: skip
    solve_passes.local_solves(
        lanes, (losses.rows, losses.features, (n, m, d, runs)), (-scale / m, float(a), float(b)),
        (1 / L, float(mu), (1 - q) / (1 + q), accuracy, most),
        start.reshape(n, size), centre.reshape(-1), u.reshape(-1, size),
        going.reshape(n, runs).astype(np.int64), (z.reshape(n, size), change.reshape(n, size)),
        evaluated, rooms,
    )  # fmt: skip
    return z.reshape(n, d, runs), change.reshape(n, d, runs), evaluated
