"""Methods whose parameters change: the method of each step is used, in order, in every world."""

from dataclasses import dataclass

import numpy as np
import pytest

import certibit
from certibit import AGD, GD, Budget, Experiment, FunctionClass, Nesterov, Quadratic, Record
from certibit.solvers.authoring import Needs, Refusal, Varying
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.iteration import advance, method_at, simulated_world, theorem_step
from certibit.theory.worlds.fixed_points import fixed_point

PROBLEM = Quadratic.random(3, 6, mu=1.0, L=50.0)
METHOD = Nesterov(gamma=0.02)


@dataclass(frozen=True)
class Shrinking(Varying):
    """Gradient descent whose steps shrink."""

    gamma: float

    name, needs = "shrinking", Needs()

    def at(self, t):
        return GD(self.gamma / (t + 1))


def by_hand(rounds):
    """Return f - f* along accelerated gradient descent with the momentum t/(t + 3)."""
    x = y = PROBLEM.x_0
    gaps = [PROBLEM.gap(x)[0]]
    for t in range(rounds):
        before, x = x, y - METHOD.gamma * PROBLEM.grad(y).mean(axis=0)
        y = x + t / (t + 3) * (x - before)
        gaps.append(PROBLEM.gap(x)[0])
    return gaps


@pytest.mark.parametrize("extensions", ["always", "never"])
def test_a_run_is_that_by_hand(extensions):
    with use_extensions(extensions):
        experiment = Experiment.of(METHOD, PROBLEM)
        trace = simulate(experiment, seeds=2, budget=Budget(rounds=30), record=Record(every=1))
    expected = by_hand(30)
    for run in range(2):
        np.testing.assert_allclose(trace.run(run)["gap"], expected, rtol=1e-9)


def test_runs_at_different_iterations_have_their_own_parameters():
    experiment = Experiment.of(METHOD, PROBLEM)
    channel, oracle = simulated_world(experiment, (0, 1, 2))
    start = METHOD.start(channel.template, oracle, channel)
    moved = type(start)(start.x + 1.0, start.y - 2.0)
    iteration = np.array([1, 5, 2])
    assert method_at(METHOD, iteration).q.shape == (1, 1, 3)
    assert method_at(METHOD, np.array([5, 5])) == AGD(0.02, 3 / 11)
    together, _ = advance(METHOD, moved, oracle, channel, iteration)
    for run, number in enumerate(iteration):
        alone, _ = advance(METHOD, moved, oracle, channel, int(number))
        np.testing.assert_allclose(together.y[..., run], alone.y[..., run], rtol=1e-12, atol=1e-13)


def test_no_step_is_taken_without_its_number():
    """What is certified of the first step is no promise about the others."""
    functions = FunctionClass(3, 0.0, 1.0)
    channel, oracle = simulated_world(Experiment.of(METHOD, PROBLEM), (0,))
    state = METHOD.start(channel.template, oracle, channel)
    for ask in (
        lambda: certibit.certify(METHOD, FunctionClass(3, 1.0, 50.0), potential="search"),
        lambda: certibit.certify(Nesterov(1.0), functions),
        lambda: certibit.certify_steps(Nesterov(1.0), functions, 3),
        lambda: theorem_step(METHOD, state, oracle, channel),
    ):
        with pytest.raises(Refusal, match="change from step to step; give the method of one step"):
            ask()
    one = theorem_step(METHOD, state, oracle, channel, 4)
    assert np.array_equal(one.y, theorem_step(METHOD.at(4), state, oracle, channel).y)


def test_an_own_method_that_varies_is_run_and_checked():
    trace = certibit.run(Shrinking(0.02), PROBLEM, seeds=1, budget=Budget(rounds=5))
    x = PROBLEM.x_0
    for t in range(5):
        x = x - 0.02 / (t + 1) * PROBLEM.grad(x).mean(axis=0)
    assert trace.final("gap")[0] == pytest.approx(PROBLEM.gap(x)[0], rel=1e-9)
    found = certibit.check(Shrinking(0.02), PROBLEM, seeds=2)
    assert found.holds
    assert "change from step to step" in found.unpromised


@pytest.mark.parametrize("base", [Shrinking, Nesterov])
@pytest.mark.parametrize("name", ["start", "local_step", "communicate", "schedule", "model"])
@pytest.mark.parametrize("inherited", [False, True])
def test_a_step_of_its_own_is_refused(base, name, inherited):
    of_gd = vars(GD).get(name) or property(lambda m: 0)
    mixed = (type("Mixin", (), {name: of_gd}), base), {}
    bases, own = mixed if inherited else ((base,), {name: of_gd})
    with pytest.raises(Refusal, match=f"has its own {name}"):
        type("Own", bases, own)


def test_what_it_rests_in_is_found():
    @dataclass(frozen=True)
    class Silent(Nesterov):
        def fixed_point(self, problem):
            return None

    found = fixed_point(Silent(0.02), PROBLEM)
    np.testing.assert_allclose(found.y, PROBLEM.x_star, rtol=1e-10)
