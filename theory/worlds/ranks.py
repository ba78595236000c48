"""Ranks that floats decide: by a gap between what is 0 and what is not, which is checked."""

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal

Floats = NDArray[np.float64]

ZERO = 1e-10
"""Relative size below which a singular value is taken for 0."""

APART = 10.0
"""How many times smaller or larger than that none may be."""


def above_zero(sizes: Floats, zero: float = ZERO) -> NDArray[np.bool_]:
    """Return which singular values or eigenvalues are not 0, relative to the largest.

    Raises
    ------
    Refusal
        If one of them is neither clearly 0 nor clearly not.

    Examples
    --------
    >>> import numpy as np
    >>> above_zero(np.array([2.0, 1e-3, 3e-17])).tolist()
    [True, True, False]
    """
    parts = np.abs(sizes) / (np.abs(sizes).max(initial=0.0) or 1.0)
    undecided = parts[(parts > zero / APART) & (parts < zero * APART)]
    if undecided.size:
        raise Refusal(
            f"floats do not decide whether {undecided[0]:.1e} of the largest part of a state is 0; "
            "take parameters whose sizes are less far apart"
        )
    return parts > zero


def null_space(rows: Floats) -> Floats:
    """Return an orthonormal basis, (N, k), of the vectors that are orthogonal to rows, (m, N).

    Raises
    ------
    Refusal
        As :func:`above_zero`.
    """
    _, sizes, vectors = np.linalg.svd(rows)
    kernel: Floats = vectors[int(np.sum(above_zero(sizes))) :].T
    return kernel
