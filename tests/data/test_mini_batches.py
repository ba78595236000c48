"""Mini-batches: all batches of small clients, exact constants, boundaries, and planted faults."""

from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from certibit import LeastSquares, MiniBatch, Refusal, plan, problem, sampling_constants
from certibit.data import mini_batch
from certibit.data.batch_rows import rows_of_batch
from certibit.theory.checks.problem.mini_batches import batches_as_stated, batches_within_constants

GENERATOR = np.random.default_rng(0)
X, Y = GENERATOR.standard_normal((13, 3)), np.sign(GENERATOR.standard_normal(13))
CLIENTS = ["a"] * 4 + ["b"] * 4 + ["c"] * 5
POINTS = GENERATOR.standard_normal((1, 3, 4))
LAWS = [MiniBatch(b, again) for b in (1, 2, 4) for again in (False, True)]
MADE = {
    "nonconvex": {"nonconvex": 0.1},
    "clients": {"nonconvex": 0.1, "weighting": "clients"},
    "squares": {"loss": "least-squares", "kappa": 10.0},
    "welsch": {"loss": "welsch:0.5"},
}


def made(name, batch=None):
    if name == "logistic":
        return problem(X[:12], Y[:12], clients=3, kappa=10.0, batch=batch)
    return problem(X, Y, clients=CLIENTS, batch=batch, **MADE[name])


def every_batch(rows, law):
    """Return all batches of a client as numbers of rows, all of one probability: (batches, b)."""
    drawn = product if law.replacement else combinations
    return np.array(
        list(drawn(range(rows), **({"repeat": law.b} if law.replacement else {"r": law.b})))
    )


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("name", [*MADE, "logistic"])
def test_all_batches_have_the_stated_mean_and_variance(name, law):
    """By enumeration, for clients of 4 and 5 rows."""
    solved = made(name, law)
    exact, stated = solved.grad(POINTS), law.variance_at(solved, POINTS)
    for i, count in enumerate(mini_batch.row_counts(solved)):
        drawn = np.stack([every_batch(count, law).T] * 3)
        batches = solved.of_batch(rows_of_batch(solved.rows, drawn, solved.row_counts / law.b))
        runs = np.zeros((1, 1, drawn.shape[2]))
        found = np.stack([batches.grad(x + runs)[i] for x in np.split(POINTS, 4, axis=2)], axis=2)
        np.testing.assert_allclose(np.mean(found, axis=1), exact[i], atol=1e-12)
        variance = np.mean(np.sum((found - exact[i][:, None, :]) ** 2, axis=0), axis=0)
        np.testing.assert_allclose(variance, stated[i], rtol=1e-10, atol=1e-12)


@pytest.mark.long(keep=8)
@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("name", [*MADE, "logistic"])
def test_checks_hold(name, law):
    for one in (batches_as_stated, batches_within_constants):
        verdict = one(made(name, law))
        assert verdict.holds, verdict.sentence


def test_all_rows_without_replacement_have_no_noise():
    solved = made("logistic", 4)
    constants = sampling_constants(solved)
    assert (constants.variance, constants.gap, constants.difference) == (0.0, 0.0, 0.0)
    np.testing.assert_allclose(constants.expected, solved.bare.L_i)
    uniforms = GENERATOR.random((3, 4, 4))
    drawn = solved.noise.gradient(solved, POINTS, uniforms, solved.grad)
    np.testing.assert_allclose(drawn, solved.grad(POINTS), atol=1e-14)


def orthogonal(loss, law, rows=20, **more):
    """Return one client with rows of length 1 that are orthogonal; their bounds nearly hold."""
    return problem(np.eye(rows), np.ones(rows), clients=["a"] * rows, loss=loss, batch=law, **more)


BOUNDARIES = {
    # far on the wrong side of all rows every |phi'| is 1
    "variance": (orthogonal("huber:1", MiniBatch(2), mu=0.1), -9.0),
    # of least squares |phi'|^2 = 2 phi
    "gap": (orthogonal(LeastSquares(), MiniBatch(2), mu=1e-9), None),
    "difference": (orthogonal(LeastSquares(), MiniBatch(2), mu=0.1), None),
}


@pytest.mark.parametrize("name", BOUNDARIES)
def test_constants_hold_with_little_to_spare(name):
    """At their boundary: one row that moves, or all rows at the largest slope."""
    solved, far = BOUNDARIES[name]
    solved, law = solved.plain, solved.noise
    constants = sampling_constants(solved)
    x = np.full((1, 20, 1), far) if far else np.eye(20)[:1].T[None] * 3.0 + 1.0
    y = np.ones((1, 20, 1))
    if name == "difference":
        change = solved.row_slopes(x) - solved.row_slopes(y)
        found = np.mean(law.spread(solved, change)) / (
            constants.difference**2 * np.sum((x - y) ** 2)
        )
    else:
        bound = constants.variance if name == "variance" else 2 * constants.gap * solved.value(x)[0]
        found = np.mean(law.variance_at(solved, x)) / bound
    assert 0.9 < found <= 1 + 1e-9


@pytest.mark.parametrize("law", LAWS, ids=str)
@pytest.mark.parametrize("name", ["logistic", "squares"])
def test_expected_smoothness(name, law):
    """E|g_i(x) - g_i(y)|^2 <= 2 expected_i D_{h_i}(x, y), client by client."""
    solved = made(name, law)
    solved = replace(solved, ridge=0.0, ridge_g=0.0)
    expected = sampling_constants(solved).expected
    for size in (1e-2, 1.0, 30.0):
        x, y = size * GENERATOR.standard_normal((2, 1, 3, 50))
        change = solved.row_slopes(x) - solved.row_slopes(y)
        second = law.spread(solved, change) + np.sum(solved.rows.backward(change) ** 2, axis=1)
        bend = np.sum(solved.rows.backward(change) * (x - y), axis=1)  # D(x, y) + D(y, x)
        halves = _divergences(solved, x, y)
        np.testing.assert_allclose(halves + _divergences(solved, y, x), bend, rtol=1e-6, atol=1e-9)
        assert np.all(second <= 2 * expected[:, None] * halves * (1 + 1e-8) + 1e-12)


def _divergences(solved, x, y):
    """Return D_{h_i}(x, y) of every client, (n, R)."""
    z, moved = solved.rows.forward(y), solved.rows.forward(x - y)
    return np.sum(solved.weights * solved.loss.divergence(z, moved, solved.targets), axis=1)


def test_plans_of_mini_batches_are_refused():
    with pytest.raises(Refusal, match="whole gradients, not mini-batches"):
        plan(problem("breast-cancer@9:nonconvex:batch=4"), target=1e-2)


def test_constants_of_no_batches_are_refused():
    with pytest.raises(Refusal, match="has no mini-batches"):
        sampling_constants(problem("breast-cancer@9"))
