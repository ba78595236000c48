"""A world of numbers behind opaque arrays, where a step does what it does on the numbers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.solvers.method import ExactGradients, Functions, Messages, Schedule, Slot
from certibit.theory.worlds.opaque.clients import ClientRows, rows_of
from certibit.theory.worlds.opaque.letters import FEATURES


@dataclass(frozen=True)
class HiddenFunctions(ExactGradients):
    """The gradients of some functions of opaque vectors."""

    inner: Functions
    layout: ClientRows
    d: ClassVar[int] = FEATURES

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.layout.n

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Gradients of the f_i, all of which are evaluated."""
        return self.layout.array(self.inner.grad(rows_of(x, self.layout)))

    def grad_g(self, y: Array) -> Array:
        """Gradient of g."""
        return self.layout.array(self.inner.grad_g(rows_of(y, self.layout)))


@dataclass(frozen=True)
class HiddenChannel:
    """A channel for opaque vectors and masks, of the same messages and draws."""

    inner: Any
    layout: ClientRows

    def _of(self, way: Any, *arrays: Array | None) -> Array:
        return self.layout.array(way(*(rows_of(x, self.layout) for x in arrays)))

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i)."""
        return self._of(self.inner.uplink, v, cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Send v_i."""
        return self._of(self.inner.send, v, mask)

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Send v to all clients, or to those of a mask."""
        return self._of(self.inner.broadcast, v, mask)

    def downlink(self, v: Array) -> Array:
        """Send C(v) to all clients."""
        return self._of(self.inner.downlink, v)

    def talking(self, schedule: Schedule, iteration: int) -> NDArray[np.bool_]:
        """Say whether a round follows."""
        return np.asarray(self.inner.talking(schedule, iteration))

    def coin(self, p: float) -> Array:
        """Toss one coin."""
        return self.layout.array(self.inner.coin(p))

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a coin on every client."""
        return self.layout.array(self.inner.client_coins(q))

    def cohort(self, m: int) -> Array:
        """Draw m clients."""
        return self.layout.array(self.inner.cohort(m))

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        """Draw the owners of every feature."""
        return self._of(lambda members: self.inner.ownership(s, members), cohort)


def hidden(functions: Functions, channel: Messages, kinds: Sequence[range]) -> Any:
    """Return functions and channel for opaque arrays, and the layout of these."""
    n = kinds[-1].stop
    layout = ClientRows.of([range(i, i + 1) for i in range(n)], kinds)
    return HiddenFunctions(functions, layout), HiddenChannel(channel, layout), layout
