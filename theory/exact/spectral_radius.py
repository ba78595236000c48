"""The spectral radius of a matrix with multiple eigenvalues, less what rounding may have added."""

from typing import Any

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import ztrsen

from certibit.theory.worlds.symbolic.frames import Matrix

SEEN = 1e-9
"""Relative size of a part of a vector that is more than rounding."""

GAP = 2.0
"""Groups are tried that end where the next eigenvalue is so many times as far away."""


def spectral_radius(matrix: Matrix, start: Matrix | None = None) -> float:
    """Return the spectral radius, less what rounding may have added to it.

    With a vector where powers start, it is the rate at which these grow.

    A double eigenvalue is computed as two that are wrong by the root of the rounding error, and one
    of them may be too large. Their mean is right: no mean of eigenvalues is larger than all of
    them, and that of a group moves by at most 2 |P| times a perturbation, P being the projection on
    its invariant subspace, if 4 |P| times the perturbation is less than what separates it from the
    others. The largest eigenvalue and those nearest to it are averaged, as many as give the best
    bound. Source: Stewart, Sun, Matrix Perturbation Theory (1990), V.2.

    Examples
    --------
    >>> import numpy as np
    >>> block = np.array([[0.5, 1.0], [0.0, 0.5]])
    >>> turn = np.array([[0.8, -0.6], [0.6, 0.8]])
    >>> 0 < 0.5 - spectral_radius(turn @ block @ turn.T) < 1e-14
    True
    """
    found: Any = scipy.linalg.eig(matrix, left=True, right=False)
    values, left = found
    seen = np.ones(len(values), dtype=bool)
    if start is not None:
        seen = np.abs(left.conj().T @ start) > SEEN * np.linalg.norm(start)
    if not seen.any():
        return 0.0
    largest = values[seen][np.argmax(np.abs(values[seen]))]
    triangle, turn = scipy.linalg.schur(matrix, output="complex")
    here = np.diag(triangle)
    known = seen[np.argmin(np.abs(here[:, None] - values), axis=1)]
    away = np.where(known, np.abs(here - largest), np.inf)
    nearest = np.argsort(away)[: known.sum()]
    if not len(nearest):  # of equal eigenvalues, those of the vector are not told from the others
        return 0.0
    rounding = np.finfo(float).eps * len(matrix) * np.linalg.norm(matrix)
    bounds = [0.0]
    for end, farther in enumerate(np.append(away[nearest[1:]], np.inf), start=1):
        if farther <= GAP * away[nearest[end - 1]]:
            continue
        group = np.isin(np.arange(len(here)), nearest[:end])
        room = 2 * len(here) ** 2
        *_, condition, apart, _ = ztrsen(group, triangle, turn, job="B", lwork=room)
        moved = 2 * rounding / max(condition, np.finfo(float).tiny)
        if 2 * moved <= apart:
            bounds.append(float(np.abs(here[group].mean()) - moved))
    return max(bounds)
