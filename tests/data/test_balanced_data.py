"""Data whose rows cancel are solved: rounding is measured against summands, not their sum."""

import json
from itertools import product

import numpy as np
import pytest

from certibit import NonconvexQuadratic, Refusal, compare, plan, problem
from certibit.cli import main
from certibit.data.problems import ridge_problem
from certibit.data.problems.ridge_problem import mean_gradient
from certibit.estimator import FederatedLogisticRegression

GENERATOR = np.random.default_rng(5)
LEVELS = np.array(list(product([-1.0, 1.0], repeat=3)))
UNEVEN = GENERATOR.standard_normal((12, 3)) + 0.3
DESIGNS = {
    "each row with each label": (np.repeat(UNEVEN, 2, axis=0), np.tile([0, 1], 12)),
    "labels in two halves": (np.vstack([UNEVEN, UNEVEN]), np.repeat([0, 1], 12)),
    "a row and its negative": (np.vstack([UNEVEN, -UNEVEN]), np.arange(24) % 12 // 11),
    "blocked trial": (np.tile(LEVELS * [1.0, 0.1, 3.7], (6, 1)), np.repeat([0, 1], 24)),
    "exclusive or": (np.tile(LEVELS, (3, 1)), np.tile(LEVELS.prod(axis=1) > 0, 3).astype(int)),
}
LOSSES = ["logistic", "least-squares", "huber:1", "smoothed-hinge:0.5", "multinomial"]


def solved_at_zero(made, size):
    """Whether the solution is 0, up to the rounding of a gradient."""
    norm = np.linalg.norm(mean_gradient(made, made.x_star))
    assert norm <= 1e-14 * size
    assert np.linalg.norm(made.x_star) * size <= 1e-10
    assert np.abs(made.gap(made.x_0)) <= 1e-20
    assert made.f_star == pytest.approx(float(made.value(0 * made.x_star)[0]), rel=1e-14)


@pytest.mark.long(keep=60)
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("clients", [1, 4, "unequal"])
@pytest.mark.parametrize("scale", [1e-40, 1.0, 1e40])
@pytest.mark.parametrize("dense", [True, False], ids=["Newton", "conjugate gradients"])
def test_balanced_classes_are_solved(monkeypatch, design, loss, clients, scale, dense):
    X, y = DESIGNS[design]
    if loss in ("least-squares", "huber:1"):
        y = 2.0 * y - 1.0
    if not dense:
        monkeypatch.setattr(ridge_problem, "_DENSE_FEATURES", 0)
    given = np.minimum(np.arange(len(X)) % 5, 2) if clients == "unequal" else clients
    made = problem(scale * X, y, clients=given, loss=loss, kappa=30)
    solved_at_zero(made, scale)
    solved_at_zero(made.plain, scale)


@pytest.mark.parametrize("weighting", ["rows", "clients"])
@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 1e30])
def test_targets_orthogonal_to_the_rows_are_solved(weighting, scale):
    """They are so up to rounding."""
    target = GENERATOR.standard_normal(12)
    away = target - UNEVEN @ np.linalg.lstsq(UNEVEN, target)[0]
    clients = np.arange(12) % (5 if weighting == "rows" else 4)
    made = problem(UNEVEN, scale * away, clients=clients, loss="least-squares", kappa=10,
                   weighting=weighting)  # fmt: skip
    assert np.linalg.norm(made.x_star) <= 1e-14 * scale
    assert made.f_star == pytest.approx(float(made.value(0 * made.x_star)[0]), rel=1e-14)


def test_nearly_balanced_data_are_solved_as_far_as_rounding_allows():
    """A gradient 1e-9 of its summands at 0 is no rounding."""
    X = np.repeat(UNEVEN, 2, axis=0)
    X[1] *= 1 + 1e-9
    made = problem(X, np.tile([0, 1], 12), clients=3, kappa=10)
    hessian = made.hessian(0 * made.x_star)
    expected = -np.linalg.solve(hessian, mean_gradient(made, 0 * made.x_star)[0, :, 0])
    np.testing.assert_allclose(made.x_star[0, :, 0], expected, rtol=1e-5)


def test_poisson_counts_at_their_mean():
    made = problem(UNEVEN, np.ones(12), clients=3, loss="poisson", kappa=10)
    solved_at_zero(made, 1.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_vectors_of_nonconvex_quadratics_cancel_in_their_own_units(scale):
    """The average is singular and the b_i cancel along its null space, up to rounding."""
    flat = np.diag([1.0, 0.0])
    H = np.stack([flat + np.diag([0.0, 2.0]), flat - np.diag([0.0, 2.0])])
    b = scale * np.array([[1.0, 0.3], [1.0, -0.3 * (1 + 1e-15)]])
    made = NonconvexQuadratic.from_arrays(H, b)
    np.testing.assert_allclose(made.x_star[0, :, 0], [scale, 0.0], rtol=1e-12, atol=1e-12 * scale)


@pytest.fixture
def exclusive_or(tmp_path):
    path = tmp_path / "xor"
    path.write_text("1 1:-1 2:-1\n2 1:-1 2:1\n2 1:1 2:-1\n1 1:1 2:1\n")
    return path


def test_nothing_is_compared_or_planned_where_the_start_is_the_solution(exclusive_or):
    made = problem(exclusive_or, clients=2, kappa=10)
    told = "f - f. is 0 at the start of xor@2, which is its solution; give other data"
    with pytest.raises(Refusal, match=told):
        compare(made, ["gd", "agd"], target=1e-6)
    with pytest.raises(Refusal, match=told):
        plan(made, target=1e-6)
    with pytest.raises(Refusal, match="at the start of xor@2, which is its solution"):
        compare(made, ["gd", "agd"], target=1e-6, measure="squared_gradient")
    moved = made.started_at([1.0, 0.0])
    assert "gd" in str(compare(moved, ["gd", "agd"], target=1e-6))


def test_a_run_ends_where_it_starts(exclusive_or, capsys):
    assert main(["run", f"{exclusive_or}@2", "gd", "--kappa", "10", "--json"]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert [run["bits_to"]["1e-6"] for run in runs] == [0.0] * 5


@pytest.mark.parametrize("method", [("locodl", "natural"), ("agd", None)])
@pytest.mark.parametrize("design", ["exclusive or", "blocked trial"])
def test_the_estimator_fits_nothing_to_balanced_classes(method, design):
    X, y = DESIGNS[design]
    fitted = FederatedLogisticRegression(*method, clients=3).fit(X, y)
    assert np.abs(fitted.coef_).max() <= 1e-14
    np.testing.assert_allclose(fitted.predict_proba(X), 0.5, rtol=1e-12)
    assert fitted.n_bits_ == 0
