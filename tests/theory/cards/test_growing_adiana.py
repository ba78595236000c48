"""ADIANA with growing momentum: its potential does not grow in any step, and its rate is 1/T^2."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from by_rule import by_rule

from certibit import CARDS, Budget, Experiment, GrowingADIANA, Quadratic, Setting, compressor
from certibit.solvers.runs.engine import simulate
from certibit.solvers.state import each
from certibit.theory.cards.growing_adiana import potential_at
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.probing import one_step

CARD = CARDS["growing-adiana"]
(THEOREM,) = CARD.about("gap")


@dataclass(frozen=True)
class At:
    """Psi_t of the theorem."""

    t: int
    method: GrowingADIANA

    def lyapunov(self, m, s, star, setting, problem):
        return potential_at(self.t, self.method, s, star, setting)


def largest_ratio(n, sent, **changes):
    """Return the largest E[Psi_(t+1)]/Psi_t of steps from random states of flat quadratics."""
    rng, worst = np.random.default_rng(0), 0.0
    problem = Quadratic.random(n, 4, 1e-3, 1.0, seed=n)
    used = compressor(sent)
    method = replace(CARD.parameters(problem, used), **changes)
    star = fixed_point(method, problem)
    for t in (0, 3, 200):
        experiment = Experiment.of(method.at(t), problem, used)
        for size in (1e-2, 1.0, 1e2):
            away = each(lambda x, size=size: x + size * rng.standard_normal(x.shape), star)
            s = replace(away, h_mean=away.h.mean(axis=0, keepdims=True))
            s = replace(s, gradient=problem.grad(s.w))
            after = one_step(experiment, At(t + 1, method), s).expected
            worst = max(worst, after / one_step(experiment, At(t, method), s).now)
    return worst


@pytest.mark.parametrize(("n", "sent"), [(1, "rand-k:1"), (3, "rand-k:1"), (10, "natural")])
def test_the_potential_does_not_grow(n, sent):
    assert largest_ratio(n, sent) <= 1


def test_planted_steps_that_are_too_long_are_seen():
    assert largest_ratio(1, "rand-k:1", eta=3.0) > 1
    assert largest_ratio(3, "rand-k:1", t_0=2.0) > 1


def test_the_rule_meets_the_theorem():
    for omega, n in ((0.0, 3), (0.1, 3), (1.0, 1), (9.0, 10), (99.0, 1000)):
        assert not THEOREM.unmet(*by_rule("growing-adiana", n, 100.0, omega, "convex"))


def test_the_bound_falls_with_the_square():
    """Runs on a flat problem end below it, and gain a factor of more than T from T on."""
    problem, used = Quadratic.random(3, 4, 1e-4, 1.0), compressor("rand-k:2")
    experiment = Experiment.of(CARD.parameters(problem, used), problem, used)
    promised = THEOREM.promise(experiment.method, Setting.at(experiment))
    assert promised.bound(20_000) < promised.bound(10_000) / 3.9
    trace = simulate(experiment, seeds=3, budget=Budget(rounds=600))
    assert (trace.final("gap") < trace.columns["gap"][0] / 30).all()
