"""What an iteration does, written down: a method is let do one with :class:`Unknown` arrays."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from certibit.solvers.backend import total, where
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.world.channel import Channel
from certibit.solvers.world.ledger import Ledger
from certibit.solvers.world.oracle import Oracle


class Unknown(NDArrayOperatorsMixin):
    """An array of an iteration that has not been done: its shape, and its place among all arrays.

    What needs its numbers, such as a condition, is refused.
    """

    __bool__: ClassVar[None] = None

    def __init__(self, steps: "WrittenSteps", place: int, shape: tuple[int, ...]) -> None:
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


class WrittenSteps:
    """What is done in an iteration, written down; to a method, the namespace of its arrays.

    Attributes
    ----------
    values, shapes : lists
        Of all arrays, by their place: those that are known, else None, and the shapes of all.
    operations : list
        Functions with the places of their arguments and that of the result.
    draws : list
        Random numbers: their purpose, which of all of that purpose they are, and their place.
    drawn : Counter
        How many there are of each purpose.
    """

    __name__ = "replay"

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.shapes: list[tuple[int, ...]] = []
        self.operations: list[tuple[Callable[..., Any], tuple[int, ...], int]] = []
        self.draws: list[tuple[str, slice, int]] = []
        self.drawn: Counter[str] = Counter()

    def unknown(self, *shape: int) -> Unknown:
        """Return an array that nothing is known of yet."""
        return Unknown(self, self._added(None, shape), shape)

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
        return self._added(x, np.shape(x))

    def _added(self, value: Any, shape: tuple[int, ...]) -> int:
        self.values.append(value)
        self.shapes.append(shape)
        return len(self.values) - 1

    def same_as(self, other: "WrittenSteps") -> bool:
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
        """Let a result lie where one of its shape lay that is not read any more: few in memory."""
        last = {i: at for at, (_, inputs, _) in enumerate(self.operations) for i in inputs}
        moved: dict[int, int] = {}
        free: dict[tuple[int, ...], list[int]] = defaultdict(list)
        operations = []
        for at, (function, inputs, place) in enumerate(self.operations):
            read = tuple(moved.get(i, i) for i in inputs)
            for i in set(inputs):
                if i in moved and last[i] == at:
                    free[self.shapes[i]].append(moved[i])
            if place not in kept:
                unused = free[self.shapes[place]]
                moved[place] = unused.pop() if unused else place
            operations.append((function, read, moved.get(place, place)))
        self.operations = operations

    def uniform(self, purpose: str, runs: NDArray[np.intp], shape: tuple[int, int]) -> Unknown:
        """Write down a draw, as of :class:`~certibit.solvers.world.randomness.Streams`."""
        numbers, first = self.unknown(*shape, len(runs)), self.drawn[purpose]
        self.drawn[purpose] += shape[0] * shape[1]
        numbers_of_it = slice(first, self.drawn[purpose])
        self.draws.append((purpose, numbers_of_it, numbers.place))
        return numbers

    def where(self, mask: Unknown, yes: Unknown, no: Unknown) -> Unknown:
        """Write down a choice."""
        return self.do(where, mask, yes, no)

    def sum(self, x: Unknown, *, axis: int, keepdims: bool) -> Unknown:
        """Write down a sum over the clients."""
        if axis != 0 or not keepdims:
            raise TypeError("only sums over the clients are written down")
        return self.do(total, x, shape=(1, *x.shape[1:]))

    @cached_property
    def parts(self) -> list[tuple[slice, int]]:
        """Which of all random numbers of an iteration each draw is, and its place."""
        before = dict(zip(self.drawn, accumulate(self.drawn.values(), initial=0), strict=False))
        return [
            (slice(before[purpose] + part.start, before[purpose] + part.stop), place)
            for purpose, part, place in self.draws
        ]


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


def written_down(
    step: Callable[..., Any], state: Any, oracle: Oracle, channel: Channel, ledger: Ledger
) -> tuple[WrittenSteps, dict[str, int], dict[str, int], int]:
    """Let a method do an iteration with unknown arrays, paid from a ledger."""
    steps = WrittenSteps()
    before = {name: steps.unknown(*x.shape) for name, x in vars(state).items()}
    unknown: Any = steps
    world = _Oracle(oracle.problem, oracle.runs, ledger, counted=oracle)
    network = _Channel(
        channel.n, channel.compressor, channel.runs, unknown, ledger, channel.template
    )
    after = vars(step(replace(state, **before), world, network))
    start, end = ({name: x.place for name, x in some.items()} for some in (before, after))
    return steps, start, end, sum(world.perhaps)
