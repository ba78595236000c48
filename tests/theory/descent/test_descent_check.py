"""Promised descents on nonconvex problems, by exact expectations along runs."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from small_methods import TwoSteps

from certibit import (
    CARDS,
    DIANA,
    EF21,
    GD,
    Experiment,
    Gap,
    Quadratic,
    Setting,
    check,
    compressor,
    problem,
)
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.theory.certificates.certified_theorem import searched_descents
from certibit.theory.checks.method.one_step import steps_along_a_run
from certibit.theory.theorem import DescentPromise, Theorem


def noisy_run(name, theorem=None):
    """Return the verdict on a theorem along a run with stochastic gradients."""
    functions = problem("quadratic:d=4@3:nonconvex:noise=3")
    card = CARDS[name]
    sent = compressor("top-k:2") if card.method.needs.compressor else None
    method = card.at(Setting.of(card.method, functions, sent), "nonconvex")
    return steps_along_a_run(
        theorem or card.about("squared_gradient")[0],
        Experiment.of(method, functions, sent),
        steps=(0, 1, *range(10, 101, 10)),
    )


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["sgd", "ef21-sgdm"])
def test_runs_with_stochastic_gradients_descend_as_promised(name):
    verdict = noisy_run(name)
    assert verdict.holds
    assert verdict.points > 1
    assert "standard errors" in verdict.note


@dataclass(frozen=True)
class Stated(Theorem):
    """A promise about f - f* as it is stated."""

    stated: DescentPromise
    measure = "squared_gradient"

    def conditions(self, m, setting):
        return ()

    def promise(self, m, setting):
        return self.stated

    def lyapunov(self, m, s, star, setting, problem):
        return (Gap(1.0, s.x),)


@pytest.mark.parametrize(
    ("growth", "dissimilarity", "value"),
    [(0.0, 0.0, -3 / 8), (0.0, 0.25, -7 / 16), (0.5, 0.0, -5 / 8), (0.5, 0.25, -11 / 16)],
)
def test_a_descent_is_measured_beside_what_is_allowed(growth, dissimilarity, value):
    """Of x^2/2 - x and x^2/2 - 3 x from 0 to 1: f - f* from 2 to 1/2, |grad f|^2 = 4, zeta = 1."""
    functions = Quadratic.from_arrays(np.ones((2, 1, 1)), np.array([[1.0], [3.0]]))
    promised = DescentPromise(0.3, growth=growth, dissimilarity=dissimilarity)
    verdict = steps_along_a_run(Stated(promised), Experiment.of(GD(0.5), functions), steps=(0,))
    assert verdict.value == pytest.approx(value, rel=1e-12)
    assert (verdict.limit, verdict.note) == (-0.3, "exact")


class Quieter(type(CARDS["sgd"].about("squared_gradient")[0])):
    """The theorem of SGD with a tenth of its noise; features differ in their curvature."""

    def noise(self, m, setting):
        return super().noise(m, setting) / 10


FLAT = NonconvexQuadratic(
    name="flat",
    x_0=np.full((1, 2, 1), 50.0),
    H=np.array([np.diag([1.0, 0.0]), np.diag([0.5, 0.0])]),
    b=np.zeros((2, 2, 1)),
    minimiser=np.zeros((1, 2, 1)),
)


def test_of_convex_functions_the_descent_of_the_gradient_is_searched():
    """Of gradient descent with L_f = 3/4 it is c = gamma (1 - gamma L_f/2)."""
    assert FLAT.constants.mu == 0
    (found,) = searched_descents(Experiment.of(GD(0.5), FLAT))
    assert found.measure == "squared_gradient"
    assert found.certificate.c == pytest.approx(0.5 * (1 - 0.1875), rel=1e-3)


@pytest.mark.long
def test_convex_functions_with_mu_0_descend_as_certified():
    """The certificate is about the gradient, as the check is, and not about f - f*."""
    flat = FLAT
    for method, sent in ((TwoSteps(0.1), None), (DIANA(0.1, 0.5), compressor("rand-k:1"))):
        found = check(method, flat, sent)
        (verdict,) = (one for one in found.sound if one.check == "descent along a run")
        assert verdict.holds


def test_too_little_noise_is_seen():
    assert not noisy_run("sgd", Quieter()).holds


def test_a_step_that_is_too_large_is_seen():
    functions, sent, card = (
        problem("breast-cancer@9:nonconvex"),
        compressor("rand-k:2"),
        CARDS["marina"],
    )
    method = card.at(Setting.of(card.method, functions, sent), "nonconvex")
    larger = Experiment.of(replace(method, gamma=3 * method.gamma), functions, sent)
    assert not steps_along_a_run(card.about("squared_gradient")[0], larger).holds


class Faulty(EF21):
    """EF21 that adds its message twice."""

    def communicate(self, s, problem, channel):
        after = super().communicate(s, problem, channel)
        return replace(after, g=2 * after.g - s.g, g_mean=2 * after.g_mean - s.g_mean)


@pytest.mark.long
def test_check_sees_a_message_that_is_added_twice():
    functions, sent = problem("breast-cancer@9:nonconvex"), compressor("top-k:2")
    card = CARDS["ef21"]
    gamma = card.at(Setting.of(card.method, functions, sent), "nonconvex").gamma
    good, bad = (check(one, functions, sent, card=card) for one in (EF21(gamma), Faulty(gamma)))
    found = [
        next(v for v in one.verdicts if v.check == "descent along a run") for one in (good, bad)
    ]
    assert [verdict.holds for verdict in found] == [True, False]
