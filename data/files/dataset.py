"""A data set: rows with targets."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with a target each: one of two classes, if nothing else is said.

    Parameters
    ----------
    name : str
        Name by which it is selected.
    A : sparse matrix of shape (N, d)
        The rows, without explicit zeros.
    b : array of shape (N,)
        The targets: -1.0 or +1.0; positions among several classes; or numbers.
    labels : tuple
        The classes of the source, sorted: those that became -1 and +1, or all of several. None if
        the targets are numbers.
    origin : str
        Where it came from: a file, or a package.
    """

    name: str
    A: "scipy.sparse.csr_array"
    b: NDArray[np.float64]
    labels: tuple[Any, ...]
    origin: str
