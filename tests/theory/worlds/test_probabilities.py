"""What is no probability is refused by parameters, by channels and by certificates."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from certibit import Budget, Experiment, GradSkip, Quadratic, Scaffnew, certify, compressor
from certibit.solvers.authoring import Refusal, masked, mean
from certibit.solvers.methods.gd import GD, State
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.iteration import simulated_world
from certibit.theory.card import Role
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.orbits import OrbitChannel
from certibit.theory.worlds.outcomes import Scripted

PROBLEM = Quadratic.random(3, 4, mu=1.0, L=10.0, seed=0)
NONE = [1.05, 2, -1, -1e-9, float("nan"), float("inf")]
ADVICE = "is no probability; give a number from 0 to 1"
WITH_ONE = [
    (name, parameter)
    for name, card in METHODS.items()
    for parameter, role in card.roles.items()
    if role is Role.PROBABILITY
]


@pytest.mark.parametrize("p", [*NONE, np.array([0.5, 1.5])[None, None, :]], ids=str)
@pytest.mark.parametrize(("name", "parameter"), WITH_ONE)
def test_a_parameter(name, parameter, p):
    needs = METHODS[name].method.needs
    both = "two-way(rand-k:2;rand-k:2)" if needs.downlink else "rand-k:2"
    method = parameters(name, PROBLEM, compressor(both) if needs.compressor else None)
    assert replace(method, **{parameter: 1.0}) is not None
    with pytest.raises(Refusal, match=ADVICE):
        replace(method, **{parameter: p})


@pytest.mark.parametrize("p", NONE)
def test_what_clients_toss(p):
    with pytest.raises(Refusal, match=f"q_i of gradskip = .* {ADVICE}"):
        GradSkip(0.05, 0.5, (0.5, 0.5, p))


CHANNELS = {
    "simulation": lambda: simulated_world(Experiment.of(Scaffnew(0.05, 0.5), PROBLEM), [0])[0],
    "outcomes": lambda: Scripted(3, 4),
    "orbits": lambda: OrbitChannel(3),
}


@pytest.mark.parametrize("p", NONE)
@pytest.mark.parametrize("world", CHANNELS)
def test_a_channel(world, p):
    channel = CHANNELS[world]()
    for toss in (channel.coin, lambda p: channel.client_coins([p] * 3)):
        with pytest.raises(Refusal, match=ADVICE):
            toss(p)


@pytest.mark.parametrize("world", CHANNELS)
def test_a_channel_draws_no_cohort_or_owners_that_are_not_there(world):
    channel = CHANNELS[world]()
    for m in (0, 4):
        with pytest.raises(Refusal, match=f"a cohort of {m} of 3 clients"):
            channel.cohort(m)
    for s in (1, 4):
        with pytest.raises(Refusal, match=f"s = {s} owners"):
            channel.ownership(s)


@dataclass(frozen=True)
class Tossing(GD):
    """Gradient descent with the clients that a coin of 3/2 chooses."""

    name = "tossing"

    def communicate(self, s, problem, channel):
        return State(s.x - self.gamma * mean(masked(channel.coin(1.5), problem.grad(s.x))))


def test_a_run_and_a_certificate():
    with pytest.raises(Refusal, match=ADVICE):
        certify(Tossing(0.01), FunctionClass(3, 1.0, 10.0))
    with pytest.raises(Refusal, match=ADVICE):
        simulate(Experiment.of(Tossing(0.01), PROBLEM), seeds=(0,), budget=Budget(iterations=5))
