"""Runs of several batches: every one has the random numbers of its own seed."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.method import Every, Method, Needs
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.randomness import generator
from certibit.theory.verdict import Verdict

_CLIENTS = (1 << 21) + 1
"""More than half of the numbers of a batch: every run is one."""
_SEEDS, _TOSSES = (7, 3, 5), 40


@dataclass(frozen=True)
class _Heads:
    x: Any


@dataclass(frozen=True)
class Tosses(Method):
    """A method that writes down the coins that it tosses, as the bits of a number."""

    name: ClassVar[str] = "tosses"
    needs: ClassVar[Needs] = Needs(strongly_convex=False)
    schedule: ClassVar[Every] = Every(_TOSSES)

    def start(self, x: Any, problem: Any, channel: Any) -> _Heads:
        return _Heads(0 * x)

    def local_step(self, s: _Heads, problem: Any, channel: Any) -> _Heads:
        return _Heads(2 * s.x + channel.coin(0.5))

    def communicate(self, s: _Heads, problem: Any, channel: Any) -> _Heads:
        return s

    def model(self, s: _Heads) -> Any:
        return s.x


def seeds_of_batches() -> Verdict:
    """Check that runs which do not fit into one batch toss the coins of their own seeds."""
    ones = np.ones((_CLIENTS, 1, 1))
    problem = Quadratic.from_arrays(ones, ones[:, :, 0], name="large", seed=0)
    trace = simulate(
        Experiment.of(Tosses(), problem), seeds=_SEEDS, budget=Budget(iterations=_TOSSES),
        keep_model=True,
    )  # fmt: skip
    assert trace.x is not None
    found = [f"{int(number):b}".zfill(_TOSSES) for number in trace.x[0, 0]]
    right = []
    for seed in _SEEDS:
        coins = generator(seed, "coin").random(_TOSSES) < 0.5
        right.append("".join("01"[int(coin)] for coin in coins))
    wrong = [seed for seed, one, other in zip(_SEEDS, found, right, strict=True) if one != other]
    advice = (
        f"In batches of one run each, the seeds {wrong} have other coins than alone: look at how "
        "seeds and runs are divided into batches."
    )
    return Verdict("seeds of batches", len(wrong), 0.0, f"{len(_SEEDS)} batches", advice)
