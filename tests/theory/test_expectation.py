"""The exact one-step expectation: against full enumeration, and against the promised factor."""

import numpy as np
import pytest
from worlds import CASES, Case, fitted, world

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.fit import fitting_view
from bitbound.solvers.runs.engine import value
from bitbound.solvers.state import each
from bitbound.solvers.world.channel import Ledger, Oracle
from bitbound.theory.theorem import Setting
from bitbound.theory.theorems.catalogue import METHODS
from bitbound.theory.worlds.linear_maps import LinearChannel
from bitbound.theory.worlds.outcomes import iteration, outcomes
from bitbound.theory.worlds.probing import one_step

ENUMERABLE = {"unbiased": ["rand-k:1", "rand-k:1@shared"], "contractive": ["scaled(rand-k:1)"]}


def deviate(x, rng):
    return x if x.dtype == bool else x + rng.standard_normal(x.shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "selector"),
    [
        (name, selector)
        for name, entry in METHODS.items()
        for selector in ENUMERABLE.get(entry.method.needs.compressor, ["identity"])
    ],
)
def test_equals_enumeration(name, selector, seed):
    """At random states of tiny quadratics, all outcomes one by one give the same mean."""
    problem = Quadratic.random(2, 3, mu=1.0, L=20.0, seed=seed)
    chosen = compressor(selector)
    method = METHODS[name].parameters(problem, chosen)
    view = fitting_view(method, problem)
    rng = np.random.default_rng(seed)
    star = method.fixed_point(view)
    state = each(lambda x: deviate(x, rng), star)

    def psi(channel):
        oracle = Oracle(view, np.arange(1), Ledger(1))
        after = iteration(method, state, oracle, channel)
        return value(method.lyapunov(after, star, oracle), view).item()

    pairs = list(outcomes(psi, lambda script: LinearChannel(2, 3, chosen, script)))
    enumerated = sum(probability * after for probability, after in pairs)
    step = one_step(method, problem, chosen, state)
    if step.exact:
        assert step.expected == pytest.approx(enumerated, rel=1e-9)
    else:
        assert step.expected >= enumerated * (1 - 1e-12)
    assert step.now == pytest.approx(value(method.lyapunov(state, star, view), view).item())


@pytest.mark.parametrize("rule", [0, -1], ids=["first rule", "last rule"])
@pytest.mark.parametrize("case", [case for case in CASES if case.problem == "logistic"], ids=str)
def test_promised_factor_along_runs(case: Case, rule):
    """At states of real runs on logistic regression, E[Psi+] <= tau Psi for every theorem met."""
    entry = METHODS[case.method]
    try:
        method, problem, chosen = fitted(case, list(entry.rules)[rule])
    except Refusal:
        assert rule == -1, "the default rule must serve every compressor"
        return
    setting = Setting.of(method, problem, chosen)
    rates = [
        theorem.rate(method, setting)
        for theorem in entry.theorems
        if all(condition.holds for condition in theorem.conditions(method, setting))
    ]
    if not rates:
        assert rule == -1, "the default rule must satisfy a theorem"
        return
    w = world(method, problem, chosen, seeds=(5,))
    state = method.start(w.channel.template, w.oracle, w.channel)
    first = one_step(method, problem, chosen, state).now
    for iterations in (0, 1, 3, 40, 200):
        state = w.iterate(state, iterations)
        step = one_step(method, problem, chosen, state)
        if step.now < 1e-16 * first:  # what is left is rounding
            break
        assert step.factor <= min(rates) * (1 + 1e-9)


def test_a_message_that_depends_on_another_is_refused():
    problem = Quadratic.random(2, 3, seed=0)
    chosen = compressor("rand-k:1")
    method = METHODS["diana"].parameters(problem, chosen)

    class Twice(type(method)):
        def communicate(self, s, problem, channel):
            return super().communicate(super().communicate(s, problem, channel), problem, channel)

    twice = Twice(**vars(method))
    with pytest.raises(Refusal, match="depends on another message"):
        one_step(twice, problem, chosen, method.fixed_point(problem))
