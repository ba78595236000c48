"""The exact one-step expectation: against full enumeration, and against the promised factor."""

import numpy as np
import pytest

from certibit import METHODS, Experiment, Quadratic, Refusal, Setting, compressor, one_step
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.state import each
from certibit.theory.potential import value
from certibit.theory.worlds.fixed_points import fixed_point
from certibit.theory.worlds.linear_maps import LinearChannel
from certibit.theory.worlds.outcomes import outcomes
from certibit.theory.worlds.probing import _coefficients

ENUMERABLE = {"unbiased": ["rand-k:1", "rand-k:1@shared"], "contractive": ["scaled(rand-k:1)"]}


def deviate(x, rng):
    return x if x.dtype == bool else x + rng.standard_normal(x.shape)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("name", "selector"),
    [
        (name, selector)
        for name, card in METHODS.items()
        if card.about("potential")
        for selector in ENUMERABLE.get(card.method.needs.compressor, ["identity"])
    ],
)
def test_equals_enumeration(name, selector, seed):
    """At random states of tiny quadratics, all outcomes one by one give the same mean."""
    problem = Quadratic.random(2, 3, mu=1.0, L=20.0, seed=seed)
    chosen = compressor(selector)
    method, theorem = METHODS[name].parameters(problem, chosen), METHODS[name].theorems[0]
    experiment = Experiment.of(method, problem, chosen)
    view, setting = experiment.problem, Setting.at(experiment)
    rng = np.random.default_rng(seed)
    star = fixed_point(method, view)
    state = each(lambda x: deviate(x, rng), star)
    oracle = Oracle(view, np.arange(1), Ledger(1))

    def psi_at(s):
        return value(theorem.lyapunov(method, s, star, setting, oracle), view).item()

    def psi(channel):
        after, _ = advance(method, state, oracle, channel)
        return psi_at(after)

    pairs = list(outcomes(psi, lambda script: LinearChannel(2, 3, chosen, script)))
    enumerated = sum(probability * after for probability, after in pairs)
    step = one_step(experiment, theorem, state)
    if step.exact:
        assert step.expected == pytest.approx(enumerated, rel=1e-9)
    else:
        assert step.expected >= enumerated * (1 - 1e-12)
    assert step.now == pytest.approx(psi_at(state))


def test_a_message_that_depends_on_another_is_refused():
    problem = Quadratic.random(2, 3, seed=0)
    chosen = compressor("rand-k:1")
    method = METHODS["diana"].parameters(problem, chosen)

    class Twice(type(method)):
        def communicate(self, s, problem, channel):
            return super().communicate(super().communicate(s, problem, channel), problem, channel)

    twice = Twice(**vars(method))
    with pytest.raises(Refusal, match="depends on another message"):
        one_step(
            Experiment.of(twice, problem, chosen),
            METHODS["diana"].theorems[0],
            fixed_point(method, problem),
        )


@pytest.mark.parametrize(("apart", "linear"), [(1.4e-12, True), (1e-9, False)])
def test_rounding_of_large_vectors_is_no_error_of_a_message(apart, linear):
    """What a kernel of a BLAS leaves of entries of 1000 is 1e-15 of them, and of no degree."""
    vectors, drawn = np.array([[[1e3, 1e3 + apart, 1e3]]]), np.array([True])
    if linear:
        assert _coefficients(vectors, drawn) == pytest.approx(0.0, abs=1e-20)
        return
    with pytest.raises(Refusal, match="not linear in the errors"):
        _coefficients(vectors, drawn)
