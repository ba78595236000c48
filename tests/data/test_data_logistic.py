"""Logistic regression: formula (11), its constants, its solution and its gap."""

import numpy as np
import pytest

from certibit import LogisticRegression, Refusal
from certibit.data.files.splits import split
from certibit.data.problems import rows
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.libraries import transfer


def clients(dataset, n, rule="shuffled", seed=0):
    """The clients' matrices and labels by another route."""
    return [
        (dataset.A.toarray()[rows], dataset.b[rows]) for rows in split(dataset.b, n, rule, seed)
    ]


@pytest.mark.parametrize("rule", ["shuffled", "similarity:30"])
@pytest.mark.parametrize("storage", ["dense", "sparse", None])
def test_functions_are_formula_11(make_dataset, storage, rule):
    dataset, n, mu = make_dataset(), 4, 0.1
    problem = LogisticRegression.from_data(dataset, n, mu=mu, split=rule, seed=3, storage=storage)
    x = np.random.default_rng(0).standard_normal(problem.d)
    values, gradients = [], []
    for A, b in clients(dataset, n, rule, 3):
        margin = b * (A @ x)
        values.append(np.log1p(np.exp(-margin)).mean() + mu / 2 * x @ x)
        gradients.append(-(A.T @ (b / (1 + np.exp(margin)))) / len(b) + mu * x)
    point = x[None, :, None]
    assert problem.view == "composite"
    assert problem.ridge_g == problem.constants.mu == mu
    np.testing.assert_allclose(problem.grad(point)[:, :, 0], gradients, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        problem.value(point)[0], np.mean(values) + mu / 2 * x @ x, rtol=1e-13
    )
    np.testing.assert_array_equal(problem.grad_g(point), mu * point)


@pytest.mark.parametrize("many", [0, 10**6])
@pytest.mark.parametrize("lanczos", [False, True])
@pytest.mark.parametrize(("N", "d"), [(23, 6), (40, 30), (30, 60)])
def test_constants_against_brute_force(make_dataset, monkeypatch, many, lanczos, N, d):
    if lanczos:
        monkeypatch.setattr(rows, "_DENSE_SIDE", 3)
    monkeypatch.setattr(rows, "_MANY", many)
    dataset, n, mu = make_dataset(N, d), 3, 0.2
    problem = LogisticRegression.from_data(dataset, n, mu=mu)
    parts = clients(dataset, n)
    grams = np.array([A.T @ A / (4 * len(A)) for A, _ in parts])
    constants = problem.constants
    np.testing.assert_allclose(constants.L_i, np.linalg.eigvalsh(grams)[:, -1] + mu, rtol=1e-13)
    np.testing.assert_allclose(
        constants.L_f, np.linalg.eigvalsh(grams.mean(axis=0))[-1] + mu, rtol=1e-13
    )
    assert constants.mu == mu


@pytest.mark.parametrize(
    "change",
    [
        {"n": 3},
        {"n": 6},
        {"seed": 1},
        {"mu": 0.2},
        {"mu": None, "kappa": 0.1 + 1},
        {"split": "similarity:20"},
        {"data": 2},
    ],
)
def test_another_problem_has_another_fingerprint(make_dataset, change):
    def fingerprint(data=1, n=4, mu=0.1, **rest):
        return LogisticRegression.from_data(
            make_dataset(24, seed=data), n, mu=mu, **rest
        ).fingerprint

    assert fingerprint(storage="dense") == fingerprint(storage="sparse") == fingerprint()
    assert fingerprint() != fingerprint(**change)


@pytest.mark.parametrize(("dtype", "size"), [("float64", 1e6), ("float64", 1e60), ("float32", 1e6)])
def test_nothing_overflows(make_dataset, dtype, size):
    """Huge margins: warnings are errors here, and the limits are exact."""
    dataset = make_dataset()
    problem = transfer(LogisticRegression.from_data(dataset, 4, mu=0.1).plain, "numpy", dtype)
    x = (size * np.random.default_rng(0).standard_normal((1, problem.d, 2))).astype(dtype)
    for point in (x, -x):
        assert np.isfinite(problem.grad(point)).all()
        np.testing.assert_allclose(problem.gap(point), problem.value(point), rtol=1e-5)


def test_infinite_points_give_no_finite_gap(make_dataset):
    problem = LogisticRegression.from_data(make_dataset(), 4, mu=0.1)
    with quiet_machine():
        for bad in (np.inf, np.nan, 1e200):
            assert not np.isfinite(problem.gap(np.full((1, problem.d, 1), bad))).any()


def test_rows_without_entries_are_legal(make_dataset):
    dataset = make_dataset(23, 6, density=0.05)
    assert (np.diff(dataset.A.indptr) == 0).any()
    problem = LogisticRegression.from_data(dataset, 23, kappa=10.0)
    assert problem.composite.constants.L_i.min() == problem.composite.constants.mu
    assert np.isfinite(problem.grad_star).all()


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({}, "mu = None and kappa = None; give exactly one of the two"),
        ({"mu": 0.1, "kappa": 10.0}, "mu = 0.1 and kappa = 10.0; give exactly one of the two"),
        ({"mu": 0.0}, "mu = 0.0; expected a finite number larger than 0"),
        ({"mu": float("nan")}, "mu = nan; expected a finite number larger than 0"),
        ({"kappa": 1.0}, "kappa = 1; expected a finite number larger than 1"),
        ({"kappa": float("inf")}, "kappa = inf; expected a finite number larger than 1"),
        ({"mu": 1.0, "storage": "cubic"}, "the storage 'cubic' is unknown"),
        ({"mu": 1.0, "split": "even"}, "the split 'even' is unknown"),
    ],
)
def test_refusals(make_dataset, choice, sentence):
    with pytest.raises(Refusal) as refusal:
        LogisticRegression.from_data(make_dataset(), 4, **choice)
    assert str(refusal.value).startswith(sentence)


def test_no_mu_for_empty_rows(make_dataset):
    dataset = make_dataset(density=0.0)
    with pytest.raises(Refusal, match="all rows are empty"):
        LogisticRegression.from_data(dataset, 4, kappa=10.0)
    assert not LogisticRegression.from_data(dataset, 4, mu=1.0).x_star.any()
