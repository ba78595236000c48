"""Minimisation of the losses of every client at its own accuracy, without vectors in between."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.passes.fused import FusedGradients, Vectors


def solved(
    losses: FusedGradients, start: Vectors, centre: Vectors, going: NDArray[np.bool_],
    scale: float, a: float, u: Vectors, b: float,
    *, accuracy: float, L: float, mu: float, most: int,
) -> tuple[Vectors, Vectors, NDArray[np.int64]]:  # fmt: skip
    """Minimise a function plus (mu/2) |y - centre|^2 on every client, as far as is exact enough.

    The gradients of the functions are scale grad h_i(y) + a y + b u_i. What is done, and with which
    momentum, is what :func:`~bitbound.solvers.local.local_solve.minimise` does; this is the same by
    compiled code.

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
        Where y - centre ends, the gradients there, 0 where nobody has asked, and how many of them
        all clients together have evaluated, (R,).
    """
    from bitbound.data.passes import solve_passes  # noqa: PLC0415  (numba is slow to import)

    (_, m, d), runs, q = losses.shape, start.shape[2], math.sqrt(mu / L)
    lanes = losses.code.lanes_for(runs)
    width = len(lanes)
    rooms = (
        (*np.empty((5, d * width)), *np.empty((2, width))),
        tuple(np.empty((2, m * width))),
    )
    z, change, evaluated = start.copy(), np.zeros_like(start), np.zeros(runs, dtype=np.int64)
    for r in range(0, runs, width):
        some = slice(r, min(r + width, runs))
        own, middle, fixed, left = (_padded(x[..., some], width) for x in (z, centre, b * u, going))
        ends, counted = (own.copy(), np.zeros_like(own)), np.zeros(width, dtype=np.int64)
        solve_passes.local_solves(
            lanes, (losses.rows, losses.features, losses.shape), (-scale / m, float(a)),
            (1 / L, float(mu), (1 - q) / (1 + q), accuracy, most),
            middle[0], fixed, own, left, ends, counted, rooms,
        )  # fmt: skip
        for x, end in zip((z, change), ends, strict=True):
            x[..., some] = end.reshape(-1, d, width)[..., : some.stop - r]
        evaluated[some] = counted[: some.stop - r]
    return z, change, evaluated


def _padded(x: NDArray[Any], width: int) -> NDArray[Any]:
    """Return a copy with so many runs, those that are not there being 0, as (n, d R)."""
    out = np.zeros((*x.shape[:2], width), dtype=np.int64 if x.dtype == np.bool_ else x.dtype)
    out[..., : x.shape[2]] = x
    return out.reshape(len(x), -1)
