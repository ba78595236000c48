"""The world of one process among equals: what it sends, all others receive.

There is no server. Every process is one client and has its own row (1, d, 1) of each array
(n, d, 1). It receives the messages of all others and computes their mean, in the same order
everywhere.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.wire import Shared
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import generator

Exchange = Callable[[NDArray[np.uint8]], list[NDArray[np.uint8]]]
"""Gives the bytes of this process to all, and returns those of all processes, by their rank."""
_RUN = np.zeros(1, dtype=np.intp)


class Gathered(np.ndarray):
    """The own message as it was received, (1, d, 1), with the mean of those of all processes.

    A sum over the clients is that mean: a process has one row. What is computed from such an array
    is known of the own client only, so that its sum is refused.
    """

    mean_of_all: NDArray[np.float64] | None

    def __array_finalize__(self, origin: Any) -> None:
        self.mean_of_all = None

    def sum(self, axis: Any = None, *parts: Any, **options: Any) -> Any:
        """Return the mean over all processes, (1, d, 1)."""
        if axis != 0 or self.mean_of_all is None:
            raise Refusal(
                "the mean over the clients of vectors that were not sent; a process knows only "
                "what it has received: send them by the channel first"
            )
        return self.mean_of_all


@dataclass
class ProcessChannel:
    """The network of one process: its messages as bytes to all others.

    Parameters
    ----------
    compressor : Compressor
        Of every process.
    rank, size : int
        The place of this process, and the number of all.
    exchange : callable
        Sends bytes.
    seed : int
        Of the random numbers of compressors: those of a run with this seed.
    purpose : str
        The name of their stream.
    """

    compressor: Compressor
    rank: int
    size: int
    exchange: Exchange
    seed: int = 0
    purpose: str = "compressor"
    ledger: Ledger = field(default_factory=lambda: Ledger(1))
    bytes_sent: int = 0
    _drawn: int = 0

    def uplink(self, v: Array) -> Gathered:
        """Send C(v), (1, d, 1), to all; what was received of it, and the mean of all messages."""
        d, compressor = v.shape[1], self.compressor
        layout = compressor.layout(d)
        message = compressor.message(np.asarray(v), self._uniforms(d))
        encoded = layout.encode(message)[0, :, 0]
        payloads = np.stack(self.exchange(encoded))[:, :, None]
        self.bytes_sent += encoded.size
        self.ledger.up(_RUN, self.size * layout.bits)
        self.ledger.down(_RUN, self.size * (self.size - 1) * layout.bits)
        pairs = zip(layout.fields, message, strict=True)
        known = tuple(np.asarray(x) for (kind, _), x in pairs if isinstance(kind, Shared))
        total, own = np.zeros((1, d, 1)), np.zeros((1, d, 1))
        for rank in range(self.size):  # one after the other: d numbers at a time
            received = compressor.vector(layout.decode(payloads[rank : rank + 1], known), d)
            total += received
            own = received if rank == self.rank else own
        found = np.asarray(own).view(Gathered)
        found.mean_of_all = total / self.size
        return found

    def broadcast(self, v: Array) -> Array:
        """Return v: every process has computed it."""
        return np.asarray(v)

    def _uniforms(self, d: int) -> NDArray[np.float64]:
        """Return the numbers of this client that a simulated run would draw for it."""
        count = self.compressor.uniforms(d)
        shared = self.compressor.shared
        first = self._drawn + (0 if shared else self.rank * count)
        self._drawn += count if shared else self.size * count
        return generator(self.seed, self.purpose, first).random(count).reshape(1, count, 1)


@dataclass(frozen=True)
class OwnGradient:
    """The gradient oracle of one process: the gradient that its backward pass has left."""

    gradient: Array

    n = 1

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.gradient.shape[1])

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        """Return the gradient, (1, d, 1), wherever it is asked for."""
        return self.gradient

    def sample(self, slot: int | str) -> NoReturn:
        """Refused: a backward pass leaves the gradient at one point.

        Raises
        ------
        Refusal
            Always.
        """
        raise Refusal(
            "a sample is taken at two points, and a backward pass leaves its gradient at one; "
            "choose another method"
        )
