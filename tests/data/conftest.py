from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from certibit import LinearModel, Logistic, LogisticRegression, MultinomialRegression, Quadratic
from certibit.data.files.own_data import Dataset
from certibit.data.losses.losses import LeastSquares, Multinomial, Poisson


def _dataset(N=23, d=6, density=0.5, seed=1):
    generator = np.random.default_rng(seed)
    A = scipy.sparse.random_array((N, d), density=density, rng=generator, format="csr")
    A.data = generator.standard_normal(A.nnz)
    b = np.where(generator.random(N) < 0.4, 1.0, -1.0)
    return Dataset("made", A, b, (-1.0, 1.0), "a test")


def _model(loss, shares=((3, 0, 7, 11), (1,), (8, 9, 22, 20, 15)), **choice):
    """A linear model of made-up rows over unequal clients; targets as the loss takes them."""
    dataset = _dataset()
    target = {"two classes": dataset.b, "numbers": np.round(3 + 2 * dataset.b)}[loss.targets]
    kept = replace(dataset, b=target, labels=())
    return LinearModel.from_shares(kept, [np.array(share) for share in shares], loss, **choice)


def _multinomial(**choice):
    dataset = _dataset(30)
    given = replace(dataset, b=np.arange(30.0) % 3, labels=("a", "b", "c"))
    shares = [np.arange(0, 4), np.arange(4, 30, 2)]
    return MultinomialRegression.from_shares(given, shares, Multinomial(3), **choice)


PROBLEMS = {
    **{
        f"{loss!r}, {storage}": lambda loss=loss, storage=storage: _model(
            loss, kappa=50.0, storage=storage
        )
        for loss in (Logistic(), LeastSquares(), Poisson(2.5))
        for storage in ("dense", "sparse")
    },
    "clients count alike": lambda: _model(Logistic(), mu=0.1, weighting="clients"),
    "multinomial, dense": lambda: _multinomial(kappa=50.0, storage="dense"),
    "multinomial, sparse": lambda: _multinomial(kappa=50.0, storage="sparse"),
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
