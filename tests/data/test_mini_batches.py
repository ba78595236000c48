"""Mini-batches: all batches of small clients, exact constants, boundaries, and planted faults."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest

from certibit import (
    SGD,
    Budget,
    LeastSquares,
    MiniBatch,
    OutsideTheoremWarning,
    Refusal,
    plan,
    problem,
    run,
    sampling_constants,
)
from certibit.data import batch_rows, mini_batch
from certibit.data.batch_rows import GatheredRows, rows_of_batch
from certibit.solvers.simulation.tape import Tape
from certibit.theory.checks.problem.mini_batches import (
    batches_as_stated,
    batches_within_constants,
)

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


def test_batches_are_drawn_alike_on_another_array_library():
    strict = pytest.importorskip("array_api_strict")
    for law in LAWS:
        solved = made("nonconvex", law)
        uniforms = GENERATOR.random((3, law.numbers(solved), 6))
        moved = replace(solved, weights=strict.asarray(solved.weights))
        there = law.drawn(moved, strict.asarray(uniforms))
        np.testing.assert_array_equal(np.asarray(there), law.drawn(solved, uniforms))


@pytest.mark.parametrize("b", [1, 2, 3, 4])
def test_few_rows_are_drawn_uniformly(monkeypatch, b):
    """By enumeration of Floyd's choices: the clients have 4 and 5 rows."""
    monkeypatch.setattr(mini_batch, "FLOYD", 0)
    solved, law = made("nonconvex"), MiniBatch(b)
    for i, m in enumerate(mini_batch.row_counts(solved)):
        ends = np.arange(m - b + 1, m + 1)
        choices = np.array(list(product(*map(range, ends))))
        uniforms = np.stack([(choices / ends + 1e-9).T] * 3)
        found = Counter(map(tuple, law.drawn(solved, uniforms)[i].T.tolist()))
        assert set(found) == set(combinations(range(m), b))
        assert len(set(found.values())) == 1


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
    z, loss = solved.rows.forward(y), solved.row_loss
    targets = getattr(solved, "targets", 1.0 + 0 * z)
    parts = loss.divergence(z, solved.rows.forward(x - y), targets)
    return np.sum(solved.row_weights * parts, axis=1)


FAULTS = {
    "without replacement as with": lambda: (
        MiniBatch,
        "kappa",
        lambda law, solved: np.full(3, 1 / law.b),
    ),
    "multiples without m/b": lambda: (
        mini_batch,
        "rows_of_batch",
        lambda rows, drawn, multiples: rows_of_batch(rows, drawn, multiples / multiples.max()),
    ),
    "the first rows always": lambda: (
        MiniBatch,
        "drawn",
        lambda law, solved, u, right=MiniBatch.drawn: right(law, solved, np.sort(u, axis=1)),
    ),
    "targets of the rows before": lambda: (
        GatheredRows,
        "of",
        lambda rows, values, right=GatheredRows.of: right(rows, np.roll(values, 1, axis=1)),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_planted_faults_are_caught(monkeypatch, name):
    monkeypatch.setattr(batch_rows, "GATHERED", 0)
    monkeypatch.setattr(batch_rows, "LEAST", 0)
    assert batches_as_stated(made("nonconvex", MiniBatch(2))).holds
    monkeypatch.setattr(*FAULTS[name]())
    assert not batches_as_stated(made("nonconvex", MiniBatch(2))).holds


def test_clients_draw_independently():
    law, count = MiniBatch(2), 2000
    solved = made("nonconvex", law)
    uniforms = Tape.of(law, range(count)).uniforms(0, 3, law.numbers(solved))
    error = law.gradient(solved, POINTS[..., :1], uniforms, solved.grad) - solved.grad(
        POINTS[..., :1]
    )
    mean = np.mean(error, axis=0)
    variance = np.mean(law.variance_at(solved, POINTS[..., :1])) / 3
    assert np.mean(np.sum(mean**2, axis=0)) == pytest.approx(variance, rel=0.15)


@pytest.mark.parametrize("name", BOUNDARIES)
def test_constants_that_are_too_small_are_caught(monkeypatch, name):
    solved, far = BOUNDARIES[name]
    if far:
        solved = replace(solved, start=np.full((1, 20, 1), far))
    right = sampling_constants(solved)
    smaller = replace(right, **{name: 0.9 * getattr(right, name)})
    monkeypatch.setattr(
        "certibit.theory.checks.problem.mini_batches.sampling_constants", lambda one: smaller
    )
    assert not batches_within_constants(solved).holds


def test_gradients_are_counted_in_rows():
    solved = problem("breast-cancer@9:nonconvex:batch=4")
    trace = run(SGD(0.1), solved, seeds=2, budget=Budget(rounds=5))
    assert trace.final("gradients").tolist() == [20.0, 20.0]
    with pytest.warns(OutsideTheoremWarning, match="gradients are exact"):
        other = run("gd", solved, seeds=1, budget=Budget(rounds=5))
    assert other.final("gradients").tolist() == [20.0]


def test_runs_depend_on_their_seed_alone():
    solved = problem("breast-cancer@9:nonconvex:batch=4")
    both = run(SGD(0.1), solved, seeds=[3, 5], budget=Budget(rounds=5))
    alone = run(SGD(0.1), solved, seeds=[5], budget=Budget(rounds=5))
    ends = both.final("squared_gradient")[1]
    assert ends == pytest.approx(alone.final("squared_gradient")[0], rel=1e-10)


@pytest.mark.parametrize(
    ("selector", "choice", "sentence"),
    [
        ("breast-cancer@9:batch=64", {}, "batch = 64 of clients that have 63 rows or more; give"),
        ("breast-cancer@9:batch=0", {}, "batch = 0 of clients that have 63 rows or more; give a"),
        ("breast-cancer@9:batch", {}, "the problem 'breast-cancer@9:batch' cannot be read"),
        ("breast-cancer@9:batch=x", {}, "the problem 'breast-cancer@9:batch=x' cannot be read"),
        ("breast-cancer@9:batch=4", {"batch": 4}, "the problem 'breast-cancer@9:batch=4' cannot"),
        ("breast-cancer@9:replacement", {}, "the problem 'breast-cancer@9:replacement' cannot"),
        ("breast-cancer@9", {"batch": "4"}, "batch = '4' is no number of rows; give such as"),
        ("breast-cancer@9", {"batch": True}, "batch = True is no number of rows; give such as"),
        ("breast-cancer@9:nonconvex:noise=1:batch=4", {}, "noise = 1 and mini-batches of one"),
        ("breast-cancer@9:batch=4", {"loss": "multinomial"}, "breast-cancer@9 has no rows of one"),
        ("quadratic:d=4@3:nonconvex:batch=4", {}, "quadratic:d=4@3:nonconvex has no rows of one"),
    ],
)
def test_misfits_are_refused_in_a_sentence(selector, choice, sentence):
    with pytest.raises(Refusal) as refusal:
        problem(selector, download=False, **choice)
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


WHOLE = {"by_cohort": False}


def test_plans_of_mini_batches_are_refused():
    with pytest.raises(Refusal, match="whole gradients, not mini-batches"):
        plan(problem("breast-cancer@9:nonconvex:batch=4"), target=1e-2)


def test_constants_of_no_batches_are_refused():
    with pytest.raises(Refusal, match="has no mini-batches"):
        sampling_constants(problem("breast-cancer@9"))
