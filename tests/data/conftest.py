import numpy as np
import pytest
import scipy.sparse

from bitbound.data.files.dataset import Dataset
from bitbound.data.problems.logistic import LogisticRegression
from bitbound.data.problems.quadratic import Quadratic


def _dataset(N=23, d=6, density=0.5, seed=1):
    generator = np.random.default_rng(seed)
    A = scipy.sparse.random_array((N, d), density=density, rng=generator, format="csr")
    A.data = generator.standard_normal(A.nnz)
    b = np.where(generator.random(N) < 0.4, 1.0, -1.0)
    return Dataset("made", A, b, (-1.0, 1.0), "a test")


PROBLEMS = {
    "logistic, dense": lambda: LogisticRegression.from_data(
        _dataset(), 4, kappa=50.0, storage="dense"
    ),
    "logistic, sparse": lambda: LogisticRegression.from_data(
        _dataset(), 4, kappa=50.0, storage="sparse"
    ),
    "logistic, one client, one row each": lambda: LogisticRegression.from_data(
        _dataset(), 23, mu=0.01, storage="dense"
    ),
    "logistic, one feature": lambda: LogisticRegression.from_data(
        _dataset(d=1, density=1.0), 3, kappa=10.0, storage="sparse"
    ),
    "quadratic": lambda: Quadratic.random(3, 5, 0.5, [2.0, 3.0, 40.0], seed=2),
    "quadratic, shared eigenvectors": lambda: Quadratic.random(
        3, 5, 0.5, 20.0, shared_eigenvectors=True
    ),
    "quadratic, one feature": lambda: Quadratic.random(3, 1, 2.0, 2.0),
}


@pytest.fixture
def make_dataset():
    return _dataset


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]()


@pytest.fixture(params=["plain", "composite"])
def view(request, problem):
    return getattr(problem, request.param)
