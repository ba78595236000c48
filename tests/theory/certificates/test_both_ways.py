"""Theorem, certificate, exact steps and worst case with compression both ways."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import DIANA, METHODS, Constants, Quadratic, Refusal, Setting, certify, one_step
from certibit.solvers.authoring import Needs, mean
from certibit.solvers.compressors.base import Identity
from certibit.solvers.compressors.composition import TwoWay
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.ef21p_diana import EF21PDIANA, State
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.certificates.worst_instance import divergence, worst_instance
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import value
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.linear_maps import LinearChannel
from certibit.theory.worlds.outcomes import outcomes
from certibit.theory.worlds.worst_states import WorstContraction

CARD = METHODS["ef21p-diana"]
THEOREM = CARD.theorems[0]


def test_the_broadcast_costs_nothing_only_without_compression():
    """The certificate with alpha = 1 is that of DIANA's potential, and falls with alpha."""
    method, where = EF21PDIANA(0.01, 0.3), FunctionClass(3, 1.0, 10.0, omega=1.0)
    rates = [
        certify(method, replace(where, alpha_down=alpha), weights="free").factor
        for alpha in (0.2, 0.5, 0.9, 1.0)
    ]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == pytest.approx(
        certify(DIANA(0.01, 0.3), where, weights="free").factor, rel=1e-6
    )


@pytest.mark.parametrize("down", ["top-k:1", "scaled(rand-k:1)", "identity"])
def test_an_exact_step_is_the_mean_of_all_outcomes(down):
    problem = Quadratic.random(2, 3, mu=1.0, L=20.0, seed=1)
    sent = compressor(f"two-way(rand-k:1;{down})")
    experiment = Experiment.of(CARD.parameters(problem, sent), problem, sent)
    star, rng = fixed_point(experiment.method, problem), np.random.default_rng(0)
    state = each(lambda x: x + rng.standard_normal(x.shape), star)
    step = one_step(experiment, THEOREM, state)
    oracle, where = Oracle(problem, np.arange(1), Ledger(1)), Setting.at(experiment)

    def psi(channel):
        after, _ = advance(experiment.method, state, oracle, channel)
        return value(THEOREM.lyapunov(experiment.method, after, star, where, oracle), problem)

    class Outcomes(LinearChannel):
        """Outcomes of the clients; top-k has one, which is not linear."""

        def downlink(self, v):
            chosen = compressor(down)
            return chosen.compress(v, v[:, :0]) if "top" in down else super().downlink(v)

    linear = compressor("rand-k:1") if "top" in down else sent
    pairs = outcomes(psi, lambda script: Outcomes(2, 3, linear, script))
    assert step.exact
    assert step.expected == pytest.approx(sum(p * x.item() for p, x in pairs), rel=1e-12)


def test_outcomes_that_cannot_be_listed_are_refused():
    problem = Quadratic.random(2, 3, mu=1.0, L=20.0, seed=1)
    experiment = Experiment.of(
        EF21PDIANA(0.01, 0.3), problem, compressor("two-way(rand-k:1;scaled(natural))")
    )
    with pytest.raises(Refusal, match="not linear"):
        one_step(experiment, THEOREM, fixed_point(experiment.method, problem))


def test_a_run_that_diverges_is_found_without_compression_of_the_broadcast():
    functions = FunctionClass(2, 1.0, 20.0, omega=1.0, alpha_down=0.5)
    assert divergence(EF21PDIANA(0.3, 0.3), functions, THEOREM).growth > 1e6


WORST = [
    ("locodl-both-ways", "two-way(rand-k:1;rand-k:1)", 3),
    ("locodl-both-ways", "two-way(rand-k:2;natural)", 4),
    ("ef21p-diana", "two-way(rand-k:1;scaled(rand-k:1))", 3),
    ("ef21p-diana", "two-way(natural;top-k:2)", 4),
]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("kappa", [5.0, 50.0])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize(("name", "selector", "d"), WORST)
def test_one_step_attains_the_certificate(name, selector, d, n, kappa):
    """With a compressor of the class both ways: rand-k, or the contraction of the dual."""
    card, sent = METHODS[name], compressor(selector)
    where = Setting(Constants(1.0, np.full(n, kappa), kappa), n, d, sent)
    method, functions = card.at(where), FunctionClass.of(where)
    instance, proved = worst_instance(method, functions), certify(method, functions)
    down, size = instance.compressor.down, instance.problem.d
    if functions.omega_down and card.method.needs.downlink == "unbiased":
        assert down.omega(size) == pytest.approx(functions.omega_down)
    else:
        assert down.alpha(size) >= functions.alpha_down * (1 - 1e-12)
    step = instance.step()
    assert step.exact
    assert 1 - step.factor >= proved.decrease * (1 - 1e-7)
    assert 1 - step.factor == pytest.approx(proved.decrease, rel=1e-5)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("name", "selector", "d"), WORST)
def test_a_worst_case_with_a_better_broadcast_is_not_attained(name, selector, d):
    """With steps so long that the server's error matters to EF21-P."""
    where = Setting(Constants(1.0, np.full(3, 9.0), 9.0), 3, d, compressor(selector))
    method = METHODS[name].at(where)
    method = replace(method, gamma=method.gamma * (10 if name == "ef21p-diana" else 1))
    instance = worst_instance(method, FunctionClass.of(where))
    assert instance.step().factor == pytest.approx(instance.predicted, rel=1e-6)
    better = replace(instance, compressor=TwoWay(instance.compressor.up, Identity()))
    assert 1 - better.step().factor > 1.01 * (1 - instance.predicted)


@pytest.mark.parametrize("v", [[3.0, 4.0], [0.0, 0.0]])
def test_the_contraction_of_a_dual_is_one(v):
    worst = WorstContraction(np.array(v), np.array([0.0, 0.5]) * bool(any(v)))
    x = np.random.default_rng(0).standard_normal((5, 2, 4))
    assert (worst.variance(x) <= (1 - worst.alpha(2)) * np.sum(x**2, axis=1) * (1 + 1e-12)).all()
    there = np.array(v)[None, :, None]
    np.testing.assert_allclose(worst.compress(there, there[:, :0])[0, :, 0], v + worst.e)


UNBIASED = compressor("two-way(rand-k:1;rand-k:1)")


@dataclass(frozen=True)
class Damped(EF21PDIANA):
    """DIANA whose model is broadcast by an unbiased compressor: w <- w + eta C(x - w)."""

    eta: float = 1.0
    name, needs = "damped", Needs(compressor="unbiased", downlink="unbiased")

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.w) - s.h)
        x = s.x - self.gamma * (s.h_mean + mean(m))
        w = s.w + self.eta * channel.downlink(x - s.w)
        return State(x, w, s.h + self.beta * m, s.h_mean + self.beta * mean(m))


DAMPED = Damped(0.02, 0.3, 0.8)


@pytest.mark.long
def test_an_unbiased_broadcast_costs_nothing_only_without_compression():
    """With a memory it costs little; without compression no potential is better than what is found.

    What is attained on quadratics of one dimension, any potential has to allow.
    """
    functions = FunctionClass(3, 1.0, 10.0, omega=1.0)
    plain = Damped(0.03, 0.3)
    free, some, more = (
        certify(plain, replace(functions, omega_down=omega), potential="search")
        for omega in (0.0, 0.1, 0.5)
    )
    for proved in (free, some, more):
        attained = 1 - slowest_decrease(plain, proved.functions)
        assert proved.verify()
        assert attained <= proved.factor
    assert free.factor + 1e-5 < some.factor < more.factor - 5e-4
    for method in (plain, DIANA(0.03, 0.3)):
        found = certify(method, functions, potential="search").factor
        assert found == pytest.approx(1 - slowest_decrease(method, functions), abs=1e-6)


def test_a_biased_broadcast_is_refused_where_it_must_not_be():
    problem = Quadratic.random(2, 3, 1.0, 10.0)
    with pytest.raises(Refusal, match=r"top-k:1 is biased and .* needs an unbiased compressor"):
        Experiment.of(DAMPED, problem, compressor("two-way(rand-k:1;top-k:1)"))
    with pytest.raises(Refusal, match="omega_down = -1 must be at least 0"):
        FunctionClass(2, 1.0, 2.0, omega_down=-1.0)
