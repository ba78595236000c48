"""What every problem promises, over all families, storages and views."""

import dataclasses
import json

import numpy as np
import pytest
from worlds import LIBRARIES

from certibit import GD, Constants, Experiment, LinearModel, LogisticRegression
from certibit.data.problem import is_strongly_convex
from certibit.data.problems.selector import problem as select_problem
from certibit.figures.text.tables import summary_of_parts
from certibit.solvers.libraries import host, transfer
from certibit.theory.checks.problem.problems import problem_checks


def points(problem, runs=3, seed=0, shared=False):
    shape = (1 if shared else problem.n, problem.d, runs)
    return np.random.default_rng(seed).standard_normal(shape)


def test_all_checks_hold(view):
    """Of gradients, Hessians, gap, solution, constants, and of clients and runs alone."""
    assert [str(verdict) for verdict in problem_checks(view) if not verdict.holds] == []


def test_grad_leaves_its_argument_alone(view):
    x = points(view)
    before = x.copy()
    view.grad(x)
    view.gap(x[:1])
    np.testing.assert_array_equal(x, before)


def test_points_and_gradients_have_clients_features_and_runs(view):
    assert is_strongly_convex(view)
    assert view.x_0.shape == view.x_star.shape == (1, view.d, 1)
    assert view.grad_star.shape == (view.n, view.d, 1)
    np.testing.assert_array_equal(view.grad_star, view.grad(view.x_star))


def test_a_problem_is_told_in_a_line(view):
    line = f"({view.name!r}, n={view.n}, d={view.d}, kappa={view.kappa:.4g}"
    more = {"storage": getattr(view, "storage", None)}
    if isinstance(view, LinearModel) and not isinstance(view, LogisticRegression):
        more = {"loss": view.loss.name}
    told = "".join(f", {key}={value!r}" for key, value in more.items() if value)
    assert repr(view) == f"{type(view).__name__}{line}{told})"


def test_views_are_one_problem(problem):
    plain, composite = problem.plain, problem.composite
    x = points(problem, shared=True)
    assert plain.x_star is composite.x_star
    assert plain.fingerprint == composite.fingerprint
    assert (plain.view, composite.view) == ("plain", "composite")
    assert plain.plain is plain
    assert composite.plain.constants.mu == plain.constants.mu
    np.testing.assert_allclose(plain.value(x), composite.value(x), rtol=1e-14)
    np.testing.assert_allclose(plain.gap(x), composite.gap(x), rtol=1e-14)
    np.testing.assert_array_equal(plain.grad_g(x), np.zeros_like(x))
    np.testing.assert_allclose(
        plain.grad(x), composite.grad(x) + composite.grad_g(x), rtol=1e-12, atol=1e-13
    )


def test_the_composite_view_moves_a_quarter_of_mu(problem):
    plain, composite = problem.plain.constants, problem.composite.constants
    assert plain.ridge == 0.0
    np.testing.assert_allclose(composite.ridge, plain.mu / 2, rtol=1e-14)
    np.testing.assert_allclose(composite.mu, plain.mu / 2, rtol=1e-14)
    np.testing.assert_allclose(composite.L_i, plain.L_i - plain.mu / 2, rtol=1e-14)
    np.testing.assert_allclose(composite.L_f, plain.L_f - plain.mu / 2, rtol=1e-14)
    assert problem.composite.ridge_g == composite.ridge


def test_constants_derived():
    constants = Constants(0.5, np.array([1.0, 7.0]), 3.0)
    assert constants.L == 7.0
    assert constants.L_tilde == 5.0
    assert constants.kappa == 14.0
    assert Constants(0.0, constants.L_i, 3.0).kappa == np.inf


def test_specification_is_ready_for_json(view):
    read = json.loads(json.dumps(view.specification))
    assert read["view"] == view.view
    assert (read["n"], read["d"]) == (view.n, view.d)
    assert (read["kappa"], read["mu"]) == (view.kappa, view.stated.constants.mu)


@pytest.mark.parametrize("selector", ["breast-cancer@3", "quadratic:d=4@3"])
@pytest.mark.parametrize("view", ["plain", "composite"])
def test_kappa_is_what_was_asked_for_in_every_view(selector, view):
    seen = getattr(select_problem(selector, kappa=100.0), view)
    assert seen.kappa == seen.stated.constants.kappa == pytest.approx(100, rel=1e-12)
    assert seen.specification["kappa"] == seen.kappa
    assert "kappa=100" in repr(seen)
    assert "view" not in repr(seen)
    parts = summary_of_parts(Experiment.of(GD(0.1), seen, None))
    assert parts["problem"]["kappa"] == seen.kappa
    assert parts["problem"]["L"] == seen.stated.constants.L


def test_problems_are_frozen(problem):
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.ridge = 1.0


@pytest.mark.long(keep=43)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("library", ["numpy", *LIBRARIES])
def test_problems_run_on_other_arrays(view, library, dtype):
    moved = transfer(view, library, dtype)
    tolerance = 1e-12 if dtype == "float64" else 2e-5
    for shared in (True, False):
        x = points(view, shared=shared).astype(dtype)
        there = transfer(Box(x), library, dtype).x
        for name in ("grad", "grad_g", *(("value", "gap") if shared else ())):
            result = getattr(moved, name)(there)
            expected = getattr(view, name)(x.astype("float64"))
            assert type(result) is type(there)
            assert str(result.dtype).endswith(dtype)
            scale = np.abs(expected).max()
            np.testing.assert_allclose(host(result), expected, rtol=0, atol=tolerance * scale)
    assert pytest.approx(view.constants.L, rel=tolerance) == moved.constants.L
    assert moved.constants.L_tilde == pytest.approx(view.constants.L_tilde, rel=tolerance)
    assert moved.f_star == pytest.approx(view.f_star, rel=tolerance)


@dataclasses.dataclass(frozen=True)
class Box:
    x: object
