"""A data set of two classes."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Dataset:
    """Rows with labels -1 and +1.

    Parameters
    ----------
    name : str
        Name by which it is selected.
    A : sparse matrix of shape (N, d)
        The rows, without explicit zeros.
    b : array of shape (N,)
        The labels, -1.0 or +1.0.
    labels : tuple of float
        The label values of the source that became -1 and +1: (negative, positive). The smaller
        one is the negative one.
    origin : str
        Where it came from: a file, or a package.
    """

    name: str
    A: scipy.sparse.csr_array
    b: NDArray[np.float64]
    labels: tuple[float, float]
    origin: str
