"""Iterations that are replayed: what one does is found once, and done without asking again.

Where vectors are small, an iteration costs what its calls cost: who pays, which library, which form
a message has. What an iteration does is written down (:mod:`certibit.solvers.steps.written_steps`);
the same operations on the same numbers, in the same order, are the iteration.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.compiled.compilation import can_compile
from certibit.data.problem import Problem
from certibit.data.problems.logistic import LogisticRegression
from certibit.solvers.lazy_gradient import LARGE
from certibit.solvers.method import Every, Method
from certibit.solvers.state import S, number_of_runs
from certibit.solvers.steps.local_steps import LocalSteps
from certibit.solvers.steps.program import Program
from certibit.solvers.steps.writer import NoProgramError, Writer
from certibit.solvers.steps.written_steps import WrittenSteps, written_down
from certibit.solvers.world.channel import Channel
from certibit.solvers.world.ledger import Ledger
from certibit.solvers.world.oracle import Oracle
from certibit.solvers.world.randomness import Streams


@dataclass(frozen=True, eq=False)
class Replay:
    """The iterations of some runs, any number of them at a time, up to ``ahead``.

    Parameters
    ----------
    steps
        What is done in an iteration.
    start, end : mapping
        The places of the fields of the state, before and after it.
    spent : mapping
        What a run pays in every iteration for sure.
    most : mapping
        What it pays at most.
    streams, ledger, runs
        Where these runs draw random numbers and pay.
    with_rounds : bool
        Whether each iteration is a round; else they are local steps.
    problem : Problem
        Whose gradients are evaluated.
    """

    ahead: ClassVar[int] = 64
    together: ClassVar[bool] = True
    gradients: ClassVar[int] = 0
    """As local steps: how many are done at once, by all runs, and what is to be paid for each."""

    steps: WrittenSteps
    start: dict[str, int]
    end: dict[str, int]
    spent: dict[str, int]
    most: dict[str, int]
    streams: Streams
    ledger: Ledger
    runs: NDArray[np.intp]
    with_rounds: bool
    problem: Problem

    @classmethod
    def of(cls, method: Method, state: Any, oracle: Oracle, channel: Channel) -> "Replay | None":
        """Return the iterations of a method; None where each is to be done by the method.

        They are the rounds of a method that has no others, else the local steps. None is for what
        asks for numbers or is not the same twice, for large vectors, other arrays than those of
        numpy with 64-bit floats, noise and the wire.
        """
        with_rounds = type(method).local_step is Method.local_step
        small = oracle.n * oracle.d * number_of_runs(state) < LARGE
        arrays = all(type(x) is np.ndarray and x.dtype in _KINDS for x in vars(state).values())
        streams, ledger = channel.streams, channel.ledger
        if not isinstance(streams, Streams) or not isinstance(ledger, Ledger):
            return None
        if not (small and arrays) or oracle.tape or channel.wire:
            return None
        if with_rounds and method.schedule != Every():
            return None
        step = method.communicate if with_rounds else method.local_step
        scratch = Ledger(len(streams))
        try:
            first, _, first_end, _ = written_down(step, state, oracle, channel, scratch)
            once = scratch.spent  # what waits then waits always
            steps, start, end, perhaps = written_down(step, state, oracle, channel, scratch)
        except Exception:  # whatever a step says to unknown arrays
            return None
        if end != first_end or not steps.same_as(first):
            return None
        steps.share_places(end.values())
        run = channel.runs[0]
        spent = {name: int(scratch.spent[name][run] - once[name][run]) for name in _PAID}
        most = spent | {"gradients": spent["gradients"] + perhaps}
        return cls(
            steps, start, end, spent, most, streams, ledger, channel.runs, with_rounds,
            oracle.problem,
        )  # fmt: skip

    def after(self, iterations: NDArray[np.int64], state: S) -> S:
        """Return the state after so many local steps, the same number in every run, (R,)."""
        return self.done(int(iterations[0]), state)

    def done(self, iterations: int, state: S, before: int = 0) -> S:
        """Return the state after so many iterations, and pay them.

        Where many have been done before, compiled code goes on, if there is a program.
        """
        program = self.program if before >= MANY else None
        if program is None:
            fields = self._one_by_one(iterations, state)
        else:
            program.begin(state)
            for count in _portions(iterations):
                program.repeat(self._drawn(count))
            fields = program.end(state)
            self.ledger.evaluate(self.runs, program.counted, 0)
        self.ledger.repeat(self.runs, self.spent, iterations)
        return replace(state, **fields)

    @cached_property
    def program(self) -> Program | None:
        """The iterations as a program; None where there is no compiled code for one of them."""
        steps, problem = self.steps, self.problem
        if not (can_compile() and isinstance(problem, LogisticRegression)):
            return None
        try:
            return Writer(steps, problem, len(self.runs)).program(self.start, self.end)
        except NoProgramError:
            return None

    def _one_by_one(self, iterations: int, state: Any) -> dict[str, NDArray[Any]]:
        """Do so many iterations; return the fields of the state after them."""
        values, operations = self.steps.values.copy(), self.steps.operations
        for name, place in self.start.items():
            values[place] = getattr(state, name)
        changed = [(self.start[name], place) for name, place in self.end.items()]
        for count in _portions(iterations):
            for numbers in self._drawn(count):
                for part, place in self.steps.parts:
                    values[place] = numbers[part].reshape(self.steps.shapes[place])
                for function, inputs, place in operations:
                    values[place] = function(*[values[i] for i in inputs])
                new = [values[place] for _, place in changed]
                for (place, _), x in zip(changed, new, strict=True):
                    values[place] = x
        return {name: values[place] for name, place in self.start.items()}

    def _drawn(self, iterations: int) -> NDArray[np.float64]:
        """Draw the random numbers of so many iterations, those of all purposes: (.., count, R)."""
        draw, runs = self.streams.uniform, self.runs
        counts = self.steps.drawn
        numbers = [draw(name, runs, (iterations, counts[name])) for name in counts]
        if len(numbers) == 1:
            return np.ascontiguousarray(numbers[0])
        return np.concatenate([np.empty((iterations, 0, len(runs))), *numbers], axis=1)


def _portions(iterations: int) -> Iterator[int]:
    """Yield how many iterations have their random numbers drawn together, one after the other."""
    for first in range(0, iterations, _DRAWN):
        yield min(_DRAWN, iterations - first)


def at_once(
    method: Method, state: Any, oracle: Oracle, channel: Channel
) -> tuple[LocalSteps | Replay | None, Replay | None]:
    """Return what can be done at once of the iterations of some runs: local steps, and rounds."""
    steps = LocalSteps.of(method, state, oracle)
    if steps is not None:
        return steps, None
    replay = Replay.of(method, state, oracle, channel)
    with_rounds = replay is not None and replay.with_rounds
    return (None, replay) if with_rounds else (replay, None)


MANY = 250
"""Iterations that a run has done before its others are compiled: loading that takes longer."""
_DRAWN = 16
"""Iterations whose random numbers are drawn together."""
_KINDS = (np.float64, np.bool_)
_PAID = ("uplink_bits", "downlink_bits", "gradients", "synchronisations")
