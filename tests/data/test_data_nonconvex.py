"""Nonconvex problems: gradients, constants, infima, names; planted errors are seen."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from certibit import NonconvexQuadratic, Refusal, Welsch, problem
from certibit.data.files.own_data import own_data
from certibit.data.problem import is_strongly_convex
from certibit.data.problems.selector import strongly_convex_problem
from certibit.theory.checks.problem.problems import problem_checks

GENERATOR = np.random.default_rng(5)
X = GENERATOR.standard_normal((41, 4))
Y = X @ np.ones(4) + GENERATOR.standard_t(2, size=41)
PROBLEMS = {
    "breast-cancer": problem("breast-cancer@9:nonconvex"),
    "sparse": problem("breast-cancer@9:nonconvex=0.03", storage="sparse", split="dirichlet:0.3"),
    "welsch": problem(X, Y, clients=5, loss="welsch:1.5"),
    "tukey": problem(X, Y, clients=["a"] * 30 + ["b"] * 11, loss="tukey:2", nonconvex=0.2),
    "huber": problem(X, Y, clients=3, loss="huber:1", nonconvex=1.0, weighting="clients"),
    "quadratic": problem("quadratic:d=6@5:nonconvex"),
    "nearly convex": problem("quadratic:d=5@4:nonconvex=0.2", seed=3),
}
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def written_out(made, x):
    """Return all f_i at a point (d,), summed over rows and entries by hand."""
    if isinstance(made, NonconvexQuadratic):
        return [x @ H @ x / 2 - b[:, 0] @ x for H, b in zip(made.H, made.b, strict=True)]
    regulariser = made.lam * sum(t * t / (1 + t * t) for t in x)
    rows = made.rows.forward(np.eye(made.d)[None])  # (n, m, d): the rows themselves
    values = []
    for i in range(made.n):
        losses = [
            float(w) * float(made.loss.value(np.float64(a @ x), np.float64(b)))
            for a, b, w in zip(rows[i], made.targets[i, :, 0], made.weights[i, :, 0], strict=True)
        ]
        values.append(sum(losses) + regulariser)
    return values


@each_problem
def test_a_problem_is_not_convex_and_has_no_view_with_a_ridge(name):
    made = PROBLEMS[name]
    assert not is_strongly_convex(made)
    assert made.constants.mu < 0
    assert made.constants.kappa == math.inf
    assert made.x_0.shape == made.x_star.shape == (1, made.d, 1)
    assert made.grad(made.x_0).shape == (made.n, made.d, 1)
    with pytest.raises(Refusal, match="has no view with a shared ridge g"):
        _ = made.composite


@each_problem
def test_values_and_gradients_are_those_of_the_sums(name):
    made, h = PROBLEMS[name], 1e-5
    for x in (np.zeros(made.d), 0.7 * GENERATOR.standard_normal(made.d)):
        point = x.reshape(1, -1, 1)
        assert made.value(point)[0] == pytest.approx(np.mean(written_out(made, x)), rel=1e-12)
        gradients = made.grad(point)[:, :, 0]
        for j in range(made.d):
            e = h * np.eye(made.d)[j]
            ahead, back = (np.array(written_out(made, x + sign * e)) for sign in (1, -1))
            slopes = (ahead - back) / (2 * h)
            np.testing.assert_allclose(gradients[:, j], slopes, atol=1e-8 * (1 + abs(slopes).max()))


@each_problem
def test_all_checks_of_a_problem_pass(name):
    assert [str(v) for v in problem_checks(PROBLEMS[name]) if not v.holds] == []


def test_the_constants_are_those_of_the_formula():
    made = PROBLEMS["breast-cancer"]
    rows = made.rows.forward(np.eye(made.d)[None])
    grams = np.array([A.T @ A / (4 * len(A)) for A in rows])
    np.testing.assert_allclose(
        made.constants.L_i, np.linalg.eigvalsh(grams)[:, -1] + 2 * made.lam, rtol=1e-12
    )
    assert made.constants.L_tilde == pytest.approx(np.sqrt(np.mean(made.constants.L_i**2)))
    assert made.constants.mu == -made.lam / 2


def test_the_infimum_of_a_quadratic_is_known():
    made = PROBLEMS["quadratic"]
    assert np.linalg.norm(made.grad(made.x_star).mean(axis=0)) < 1e-12
    assert made.gap(made.x_star) == 0
    x = GENERATOR.standard_normal((1, made.d, 50))
    np.testing.assert_allclose(made.gap(x), made.value(x) - made.value(made.x_star), rtol=1e-9)
    assert (made.gap(x) > 0).all()
    assert np.linalg.eigvalsh(made.H)[:, 0].max() < 0  # every f_i is indefinite
    assert made.f_star == pytest.approx(made.value(made.x_star)[0], rel=1e-12)


def test_a_quadratic_may_be_flat():
    """f = x_1^2/2: singular average, a line of minimisers."""
    H = np.array([np.diag([3.0, 1.0]), np.diag([-1.0, -1.0])])
    made = NonconvexQuadratic.from_arrays(H, [[1.0, 2.0], [1.0, -2.0]], x_0=[2.0, 5.0])
    assert made.x_star.ravel() == pytest.approx([1.0, 0.0])
    assert [made.constants.mu, *made.constants.L_i] == pytest.approx([-1.0, 3.0, 1.0])
    assert made.gap(made.x_0)[0] == pytest.approx(0.5)


def test_the_spread_is_the_distance_to_the_average():
    made = NonconvexQuadratic.random(4, 6, spread=0.7, kappa=30.0, seed=2)
    average = made.H.mean(axis=0)
    assert np.linalg.norm(made.H - average, 2, axis=(1, 2)).max() == pytest.approx(0.7)
    assert np.linalg.eigvalsh(average)[[0, -1]] == pytest.approx([1 / 30, 1.0])


def test_names_make_the_same_problem_again():
    for name in ("breast-cancer", "quadratic"):
        made = PROBLEMS[name]
        again = problem(made.name)
        assert again.fingerprint == made.fingerprint
        assert again.name == made.name
    other = problem("breast-cancer@9:nonconvex=0.25")
    assert other.name == "breast-cancer@9:nonconvex=0.25"
    assert other.fingerprint != PROBLEMS["breast-cancer"].fingerprint
    assert problem("breast-cancer@9", nonconvex=0.1).name == "breast-cancer@9:nonconvex"


def test_the_infimum_of_a_model_is_a_bound():
    made = PROBLEMS["breast-cancer"]
    assert made.f_star == 0
    assert np.isnan(made.x_star).all()
    assert made.gap(made.x_0) == made.value(made.x_0) == pytest.approx(math.log(2))


def test_arrays_that_are_no_nonconvex_quadratic_are_refused():
    indefinite = np.array([np.diag([2.0, 1.0]), np.diag([-3.0, 1.0])])
    with pytest.raises(Refusal, match=r"the average has the least eigenvalue -0\.5 and is not"):
        NonconvexQuadratic.from_arrays(indefinite, np.zeros((2, 2)))
    flat = np.array([np.diag([2.0, 1.0]), np.diag([-2.0, 1.0])])
    with pytest.raises(Refusal, match="is not bounded below"):
        NonconvexQuadratic.from_arrays(flat, [[1.0, 0.0], [1.0, 0.0]])
    with pytest.raises(Refusal, match="a matrix is not symmetric"):
        NonconvexQuadratic.from_arrays([[[0.0, 1.0], [0.0, 0.0]]], [[0.0, 0.0]])
    with pytest.raises(Refusal, match="have the shape"):
        NonconvexQuadratic.from_arrays(flat, [[1.0], [1.0]])


def test_what_needs_strong_convexity_says_so():
    with pytest.raises(Refusal, match=r"breast-cancer@9:nonconvex is not strongly convex"):
        strongly_convex_problem("breast-cancer@9:nonconvex")
    with pytest.raises(Refusal, match="the loss welsch is not convex, which no ridge repairs"):
        type(problem(X, Y, clients=5, loss="huber:1")).from_shares(
            _dataset(), (np.arange(41),), Welsch(1.0), kappa=10.0
        )


def _dataset():
    return own_data(X, Y, name="own", classes=False)


@dataclass(frozen=True)
class TooConvex(Welsch):
    """States half of how far it is from convex."""

    name = "too convex"
    weak_convexity = Welsch(1.0).weak_convexity / 2


def test_a_loss_less_convex_than_it_says_is_refused():
    with pytest.raises(Refusal, match=r"the loss too convex is -0\.44.*, below -0\.223"):
        problem(X, Y, clients=3, loss=TooConvex(1.0))
