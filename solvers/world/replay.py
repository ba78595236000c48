"""Iterations that are replayed: what one does is found once, and done without asking again.

Where vectors are small, an iteration costs what its calls cost: who pays, which library, which form
a message has. A method is let do one with :class:`Unknown` arrays, which only write down what is to
be done with them; the same operations on the same numbers, in the same order, are the iteration.
"""

from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from bitbound.solvers.backend import total, where
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.lazy_gradient import LARGE
from bitbound.solvers.method import Every, Method
from bitbound.solvers.state import S, number_of_runs
from bitbound.solvers.world.channel import Channel, Ledger, Oracle
from bitbound.solvers.world.local_steps import LocalSteps
from bitbound.solvers.world.randomness import Streams


class Unknown(NDArrayOperatorsMixin):
    """An array of an iteration that has not been done: its shape, and its place among all arrays.

    What needs its numbers, such as a condition, is refused.
    """

    __bool__: ClassVar[None] = None

    def __init__(self, steps: "_Steps", place: int, shape: tuple[int, ...]) -> None:
        self.place, self.shape, self._steps = place, shape, steps

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return self._steps

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> "Unknown":
        if method != "__call__" or options or ufunc.nout != 1:
            raise TypeError("only operators are written down")
        return self._steps.do(ufunc, *inputs)

    def __array_function__(self, *arguments: Any) -> Any:
        raise TypeError("only operators are written down")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        raise TypeError("it has no numbers yet")


class _Steps:
    """What is done in an iteration, written down; to a method, the namespace of its arrays."""

    __name__ = "replay"

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.operations: list[tuple[Callable[..., Any], tuple[int, ...], int]] = []
        self.draws: list[tuple[str, slice, tuple[int, ...], int]] = []
        self.drawn: Counter[str] = Counter()

    def unknown(self, *shape: int) -> Unknown:
        """Return an array that nothing is known of yet."""
        self.values.append(None)
        return Unknown(self, len(self.values) - 1, shape)

    def do(
        self, function: Callable[..., Any], *inputs: Any, shape: tuple[int, ...] | None = None
    ) -> Unknown:
        """Write down a function of arrays; without a shape its arguments are stretched."""
        shapes = (getattr(x, "shape", ()) for x in inputs)
        result = self.unknown(*(shape or np.broadcast_shapes(*shapes)))
        self.operations.append((function, tuple(map(self._place, inputs)), result.place))
        return result

    def _place(self, x: Any) -> int:
        if isinstance(x, Unknown):
            return x.place
        self.values.append(x)
        return len(self.values) - 1

    def same_as(self, other: "_Steps") -> bool:
        """Say whether the same is done in two iterations, with the same numbers of the method."""
        one, two = (
            [(getattr(f, "__func__", f), getattr(f, "__self__", None), *places)
             for f, *places in steps.operations]
            for steps in (self, other)
        )  # fmt: skip
        if one != two or self.draws != other.draws:
            return False
        numbers = zip(self.values, other.values, strict=True)
        return all(x is y or np.array_equal(x, y) for x, y in numbers)

    def share_places(self, kept: Collection[int]) -> None:
        """Let a result lie where one lay that is not read any more, so that few are in memory."""
        last = {i: at for at, (_, inputs, _) in enumerate(self.operations) for i in inputs}
        moved: dict[int, int] = {}
        free: list[int] = []
        operations = []
        for at, (function, inputs, place) in enumerate(self.operations):
            read = tuple(moved.get(i, i) for i in inputs)
            free += [moved[i] for i in set(inputs) if i in moved and last[i] == at]
            if place not in kept:
                moved[place] = free.pop() if free else place
            operations.append((function, read, moved.get(place, place)))
        self.operations = operations

    def uniform(self, purpose: str, runs: NDArray[np.intp], shape: tuple[int, int]) -> Unknown:
        """Write down a draw, as of :class:`~bitbound.solvers.world.randomness.Streams`."""
        numbers, first = self.unknown(*shape, len(runs)), self.drawn[purpose]
        self.drawn[purpose] += shape[0] * shape[1]
        numbers_of_it = slice(first, self.drawn[purpose])
        self.draws.append((purpose, numbers_of_it, numbers.shape, numbers.place))
        return numbers

    def where(self, mask: Unknown, yes: Unknown, no: Unknown) -> Unknown:
        """Write down a choice."""
        return self.do(where, mask, yes, no)

    def sum(self, x: Unknown, *, axis: int, keepdims: bool) -> Unknown:
        """Write down a sum over the clients."""
        if axis != 0 or not keepdims:
            raise TypeError("only sums over the clients are written down")
        return self.do(total, x, shape=(1, *x.shape[1:]))


@dataclass(frozen=True)
class _Channel(Channel):
    """The network as a method sees it that does an iteration with unknown arrays."""

    def _compressed(self, v: Any, compressor: Compressor, purpose: str) -> tuple[Any, int]:
        d, senders = v.shape[1], 1 if compressor.shared else v.shape[0]
        uniforms = self.streams.uniform(purpose, self.runs, (senders, compressor.uniforms(d)))
        steps: Any = self.streams
        return steps.do(compressor.compress, v, uniforms, shape=v.shape), compressor.bits(d)


@dataclass(frozen=True)
class _Oracle(Oracle):
    """The gradients, as such a method sees them; those of some clients count when they are done."""

    counted: Oracle | None = None
    perhaps: list[int] = field(default_factory=list)

    def grad(self, x: Any, active: Any = None, sample: Any = None) -> Any:
        shape = (self.n, *x.shape[1:])
        if isinstance(active, Unknown) and self.counted:
            self.perhaps.append(self.n)
            return active.__array_namespace__().do(self.counted.grad, x, active, shape=shape)
        self.count(self.n if active is None else active)
        return x.__array_namespace__().do(self.problem.grad, x, shape=shape)


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
    """

    ahead: ClassVar[int] = 64
    together: ClassVar[bool] = True
    gradients: ClassVar[int] = 0
    """As local steps: how many are done at once, by all runs, and what is to be paid for each."""

    steps: _Steps
    start: dict[str, int]
    end: dict[str, int]
    spent: dict[str, int]
    most: dict[str, int]
    streams: Streams
    ledger: Ledger
    runs: NDArray[np.intp]
    with_rounds: bool

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
            first, _, first_end, _ = _written_down(step, state, oracle, channel, scratch)
            once = scratch.spent  # what waits then waits always
            steps, start, end, perhaps = _written_down(step, state, oracle, channel, scratch)
        except Exception:  # whatever a step says to unknown arrays
            return None
        if end != first_end or not steps.same_as(first):
            return None
        steps.share_places(end.values())
        run = channel.runs[0]
        spent = {name: int(scratch.spent[name][run] - once[name][run]) for name in _PAID}
        most = spent | {"gradients": spent["gradients"] + perhaps}
        return cls(steps, start, end, spent, most, streams, ledger, channel.runs, with_rounds)

    def after(self, iterations: NDArray[np.int64], state: S) -> S:
        """Return the state after so many local steps, the same number in every run, (R,)."""
        return self.done(int(iterations[0]), state)

    def done(self, iterations: int, state: S) -> S:
        """Return the state after so many iterations, and pay them."""
        values, operations = self.steps.values, self.steps.operations
        for name, place in self.start.items():
            values[place] = getattr(state, name)
        changed = [(self.start[name], place) for name, place in self.end.items()]
        for iteration in range(iterations):
            if iteration % _DRAWN == 0:
                numbers = self._drawn(min(_DRAWN, iterations - iteration))
            for purpose, part, shape, place in self.steps.draws:
                values[place] = numbers[purpose][iteration % _DRAWN, part].reshape(shape)
            for function, inputs, place in operations:
                values[place] = function(*[values[i] for i in inputs])
            new = [values[place] for _, place in changed]
            for (place, _), x in zip(changed, new, strict=True):
                values[place] = x
        self.ledger.repeat(self.runs, self.spent, iterations)
        return replace(state, **{name: values[place] for name, place in self.start.items()})

    def _drawn(self, iterations: int) -> dict[str, NDArray[np.float64]]:
        """Draw the random numbers of so many iterations: (iterations, count, R) of each purpose."""
        draw, runs = self.streams.uniform, self.runs
        return {
            purpose: np.ascontiguousarray(draw(purpose, runs, (iterations, count)))
            for purpose, count in self.steps.drawn.items()
        }


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


_DRAWN = 16
"""Iterations whose random numbers are drawn together."""
_KINDS = (np.float64, np.bool_)
_PAID = ("uplink_bits", "downlink_bits", "gradients", "synchronisations")


def _written_down(
    step: Callable[..., Any], state: Any, oracle: Oracle, channel: Channel, ledger: Ledger
) -> tuple[_Steps, dict[str, int], dict[str, int], int]:
    """Let a method do an iteration with unknown arrays, paid from a ledger."""
    steps = _Steps()
    before = {name: steps.unknown(*x.shape) for name, x in vars(state).items()}
    unknown: Any = steps
    world = _Oracle(oracle.problem, oracle.runs, ledger, counted=oracle)
    network = _Channel(
        channel.n, channel.compressor, channel.runs, unknown, ledger, channel.template
    )
    after = vars(step(replace(state, **before), world, network))
    start, end = ({name: x.place for name, x in some.items()} for some in (before, after))
    return steps, start, end, sum(world.perhaps)
