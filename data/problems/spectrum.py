"""The largest eigenvalue of A'A, exact up to rounding."""

import numpy as np
import scipy

_DENSE_SIDE = 1000
"""Up to this size of the Gram matrix it is decomposed; beyond, Lanczos."""


def largest_eigenvalue(matrix: "scipy.sparse.csr_array") -> float:
    """Largest eigenvalue of A'A for a sparse matrix A of shape (rows, d).

    The smaller one of A'A and AA' is decomposed where that is small, else the Lanczos method runs
    to machine precision from a fixed start.
    """
    if not matrix.nnz:
        return 0.0
    thin = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T.tocsr()
    side = thin.shape[0]
    if side <= _DENSE_SIDE:
        gram = (thin @ thin.T).toarray()
        return float(scipy.linalg.eigvalsh(gram, subset_by_index=[side - 1, side - 1])[0])
    operator = scipy.sparse.linalg.LinearOperator(
        (side, side), matvec=lambda v: thin @ (thin.T @ v), dtype=np.float64
    )
    start = np.random.default_rng(0).standard_normal(side)
    return float(
        scipy.sparse.linalg.eigsh(operator, k=1, which="LA", v0=start, return_eigenvectors=False)[0]
    )
