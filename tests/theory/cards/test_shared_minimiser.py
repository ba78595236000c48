"""EF and compressed gradient descent: they need f_i with the same minimiser, or one client."""

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from by_rule import by_rule
from worlds import world

from certibit import EF, Budget, Clip21, CompressedGD, Quadratic, Setting, certify, compressor, run
from certibit.data.relaxed.families import crossed_cosh, tilted_wells
from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
from certibit.theory.cards.clip21 import ClippedDifferences
from certibit.theory.cards.normalised_ef21 import NormalisedFeedback, normalised_growth
from certibit.theory.catalogue.catalogue import SHARED_MINIMISER, parameters
from certibit.theory.certificates.largest_step import largest_step
from certibit.theory.formulas.gradient_step import gradient_step_factor
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.verdict import OutsideTheoremWarning
from certibit.theory.worlds.fixed_points import Rest, resting_state
from certibit.theory.worlds.generic import Subject

CLIENTS = {"ef": (1, 3, 1000), "compressed-gd": (1,)}
TOP = compressor("top-k:2")


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(("name", "n"), [(m, n) for m, some in CLIENTS.items() for n in some])
@pytest.mark.parametrize(("kappa", "omega"), [(10.0, 1.0), (100.0, 9.0)])
def test_the_theorem_is_tight_at_its_largest_step(name, n, kappa, omega):
    """What is certified for its potential is what it says, for any number of clients."""
    (method, where), theorem = by_rule(name, n, kappa, omega), SHARED_MINIMISER[name].theorems[0]
    proved = certify(method, where, potential=theorem).decrease
    assert proved == pytest.approx(1 - theorem.rate(method, where), rel=2e-4)
    shorter = replace(method, gamma=method.gamma / 3)
    proved = certify(shorter, where, potential=theorem).decrease
    assert proved >= (1 - 2e-4) * (1 - theorem.rate(shorter, where))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", SHARED_MINIMISER)
def test_unlike_minimisers_are_told_and_not_reached(name):
    unlike = Quadratic.random(3, 4, mu=1.0, L=10.0)
    method = parameters(name, unlike, TOP)
    assert not Setting.of(method, unlike, TOP).shared_minimiser
    with pytest.warns(OutsideTheoremWarning):
        trace = run(method, unlike, TOP, seeds=1, budget=Budget(rounds=3000))
    assert trace.final("gap") > 1e-4


@pytest.mark.parametrize(("name", "n"), [("ef", 3), ("ef", 1), ("compressed-gd", 1)])
def test_one_minimiser_is_reached(name, n):
    alike = Quadratic.random(n, 4, mu=1.0, L=10.0, shared_minimiser=True)
    np.testing.assert_allclose(alike.grad_star, 0.0, atol=1e-12)
    method = parameters(name, alike, TOP)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace = run(method, alike, TOP, seeds=1, budget=Budget(gap=1e-10, rounds=3000))
    assert trace.ending == ("gap",)


@pytest.mark.long
def test_compressed_gradients_of_two_clients_may_cancel():
    """With top-1 of gradients that are mirror images nothing moves, and EF does move."""
    (a, b), (c, d) = np.linalg.qr([[2.0, 1.0], [1.0, -2.0]])[0]
    turned = [np.array([[a, sign * b], [sign * c, d]]) for sign in (1, -1)]
    H = np.array([q @ np.diag([1.0, 30.0]) @ q.T for q in turned])
    H = (H + np.matrix_transpose(H)) / 2
    x_0 = np.array([1.0, 0.0])
    assert np.all(np.abs(H[:, 1, 0]) > np.abs(H[:, 0, 0]))
    problem = Quadratic.from_arrays(H, np.zeros((2, 2)))
    sent, ends = compressor("top-k:1"), {}
    for method in (CompressedGD(0.01), EF(0.01)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=300), x_0=x_0)
        gaps = trace.run(0)["gap"]
        ends[method.name] = gaps[-1] / gaps[0]
    assert ends["compressed-gd"] == pytest.approx(1.0)
    assert ends["ef"] < 1e-3
    functions = FunctionClass(2, mu=1.0, L=30.0, alpha=0.5)
    assert np.isnan(largest_step(CompressedGD, functions, 1.0))


@pytest.mark.long
@pytest.mark.parametrize("kappa", [4.0, 10.0, 100.0])
def test_several_clients_are_certified_up_to_where_their_messages_may_cancel(kappa):
    """s < 2 sqrt(kappa)/(kappa + 1), the cosine of gradients on either side of x - x*."""
    edge = 2 * np.sqrt(kappa) / (kappa + 1)
    below, above = (
        FunctionClass(5, mu=1.0, L=kappa, alpha=1 - (factor * edge) ** 2) for factor in (0.99, 1.01)
    )
    step = largest_step(CompressedGD, below, 1.0, accuracy=0.1, potential=AtModel("distance"))
    proved = certify(CompressedGD(step / 2), below, potential=AtModel("distance"))
    assert proved.verify()
    assert proved.factor < 1
    assert np.isnan(largest_step(CompressedGD, above, 1.0, potential=AtModel("distance")))
    # H e_1 = kappa^(1/2) (edge, +-(1 - edge^2)^(1/2)): half the difference of mu and L is turned.
    turned = np.sqrt(kappa * (1 - edge**2))
    along = kappa * edge / np.sqrt(kappa)
    H = np.array([[[along, sign * turned], [sign * turned, 1 + kappa - along]] for sign in (1, -1)])
    np.testing.assert_allclose(np.linalg.eigvalsh(H), [[1.0, kappa]] * 2, rtol=1e-9)
    gradients = H[:, :, 0]
    messages = gradients * [0.0, 1.0]  # what is left of them is s times as long
    left = np.linalg.norm(gradients - messages, axis=1)
    np.testing.assert_allclose(left, edge * np.linalg.norm(gradients, axis=1), rtol=1e-12)
    np.testing.assert_allclose(messages.mean(axis=0), 0.0, atol=1e-12)


@pytest.mark.parametrize("name", SHARED_MINIMISER)
def test_where_they_rest_is_found(name):
    method = SHARED_MINIMISER[name].method(0.05)
    object.__setattr__(method, "fixed_point", lambda problem: None)
    found = resting_state(Subject.of(method, 3))
    assert isinstance(found, Rest)
    assert found.fields["x"].a == 1.0
    assert all(one.b == one.c == 0.0 for one in found.fields.values())


QUADRATICS = [Quadratic.random(4, 3, mu=1.0, L=10.0, seed=seed) for seed in range(3)]


def lengths(v):
    return np.linalg.norm(np.asarray(v), axis=1).ravel()


@pytest.mark.parametrize("problem", QUADRATICS, ids=["0", "1", "2"])
@pytest.mark.parametrize("part", [0.02, 0.2, 2.0])
def test_clip21_clips_no_longer_than_promised_and_is_gradient_descent_then(problem, part):
    L, G = problem.constants.L, max(lengths(problem.grad(problem.x_0)))
    tau, theorem = part * G, ClippedDifferences()
    gamma = min(tau / (4 * L * G), 1 / L)
    assert all(condition.holds for condition in theorem.conditions(L, G, gamma, tau))
    last = theorem.clipped_rounds(G, tau)
    walked = list(world(Clip21(gamma, tau), problem).walk(last + 60))
    sent = [lengths(b.g - a.g).max() for a, b in pairwise(walked)]
    clipped = np.isclose(sent, tau, rtol=1e-9)
    assert not clipped[last:].any()
    assert last == 0 or clipped[0]
    factor = gradient_step_factor(gamma, problem.constants.mu, problem.constants.L_f)
    distances = [float(np.sum((s.x - problem.x_star) ** 2)) for s in walked[last:]]
    for before, after in pairwise(distances):
        assert after <= factor * before * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-4, 0.1])
def test_half_the_rounds_that_clip21_may_clip_are_not_enough(gamma):
    problem, tau = QUADRATICS[0], 0.05
    G = max(lengths(problem.grad(problem.x_0)))
    rounds = ClippedDifferences().clipped_rounds(G, tau) // 2
    walked = list(world(Clip21(gamma, tau), problem).walk(rounds))
    sent = lengths(walked[-1].g - walked[-2].g)
    assert sent.max() == pytest.approx(tau, rel=1e-9)


PROBLEMS = {"cosh": crossed_cosh(2.0), "wells": tilted_wells(2.0, n=4, d=3)}


def feedback_run(problem, sent, gamma, rounds):
    """Return |grad f| and V along a run; the compressor draws nothing."""
    alpha = compressor(sent).alpha(problem.d)
    weight = NormalisedFeedback().weight(gamma, alpha)
    slopes, values = [], []
    walked = list(world(NormalisedEF21(gamma), problem, compressor(sent)).walk(rounds))
    steps = np.diff([s.x for s in walked], axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=2), gamma, rtol=1e-6)
    for s in walked:
        gradients = problem.grad(s.x)
        slopes.append(lengths(gradients.mean(axis=0, keepdims=True))[0])
        gap = float(np.asarray(problem.gap(s.x)).ravel()[0])
        values.append(gap + weight * lengths(gradients - s.g).mean())
    return np.array(slopes), np.array(values)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("sent", ["top-k:1", "sign", "identity"])
@pytest.mark.parametrize("part", [1.0, 0.1])
def test_normalised_ef21_decreases_as_promised(name, sent, part):
    problem, theorem = PROBLEMS[name], NormalisedFeedback()
    c, alpha = problem.constants, compressor(sent).alpha(problem.d)
    limits = theorem.conditions(c, 1.0, alpha)[1:]
    gamma = part * min(condition.right for condition in limits)
    assert all(condition.holds for condition in theorem.conditions(c, gamma, alpha))
    slopes, values = feedback_run(problem, sent, gamma, 200)
    for slope, before, after in zip(slopes, values, values[1:], strict=False):
        assert before - after >= theorem.decrease(c, gamma, alpha, slope) - 1e-12 * before
    mean = slopes[:-1].mean()
    assert mean <= theorem.mean_slope(c, gamma, alpha, values[0], len(slopes) - 1)


def test_the_decrease_is_about_the_best_that_holds():
    """Uncompressed and far away, where V = f - f*, thrice as much is not kept."""
    problem, theorem = PROBLEMS["wells"], NormalisedFeedback()
    assert normalised_growth(1.0) == 0.5
    slopes, values = feedback_run(problem, "identity", 1e-3, 50)
    promised = [theorem.decrease(problem.constants, 1e-3, 1.0, slope) for slope in slopes[:-1]]
    assert (-np.diff(values) < 3 * np.array(promised)).any()
