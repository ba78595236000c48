"""The random numbers of a few clients out of many, without those of the others."""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.cohorts.crowd import Clients
from certibit.solvers.simulation.philox import uniform_numbers
from certibit.solvers.simulation.randomness import Streams, generator, key

Draw = Callable[[Clients], NDArray[np.float64]]
"""The uniform numbers of some clients in one draw, (m,) to (m, count, 1)."""

_FIRST: Clients = np.arange(1)


class ClientStreams(Streams):
    """The streams of one run, in which every client has its own places.

    A draw of ``count`` numbers for each of n clients takes n ``count`` numbers of the stream, as in
    :class:`~certibit.solvers.simulation.randomness.Streams`; only those of some clients are made.
    """

    def __init__(self, seed: int) -> None:
        super().__init__((seed,))
        self._seed = seed
        self._passed: dict[str, int] = {}

    @property
    def drawn(self) -> dict[str, NDArray[np.int64]]:
        """How many numbers of each purpose were drawn, (1,)."""
        return {purpose: np.array([count]) for purpose, count in self._passed.items()}

    def resume(self, drawn: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue after the given numbers of draws of each purpose."""
        self._passed = {purpose: int(count[0]) for purpose, count in drawn.items()}

    def uniform(
        self, purpose: str, runs: NDArray[np.intp], shape: tuple[int, int]
    ) -> NDArray[np.float64]:
        """Draw uniform numbers of [0, 1) of a purpose that no client has alone: (*shape, 1)."""
        rows, columns = shape
        return self.of_clients(purpose, 1, rows * columns)(_FIRST).reshape(rows, columns, 1)

    def of_clients(self, purpose: str, n: int, count: int) -> Draw:
        """Draw ``count`` uniform numbers for each of n clients; return those of some on request."""
        first = self._passed.get(purpose, 0)
        self._passed[purpose] = first + n * count

        def numbers(clients: Clients) -> NDArray[np.float64]:
            m = len(clients)
            if m and clients[-1] - clients[0] == m - 1:  # one after the other
                start = first + int(clients[0]) * count
                found = generator(self._seed, purpose, start).random(m * count)
            else:
                places = first + clients[:, None] * count + np.arange(count)
                one, other = key(self._seed, purpose)[:, None]
                found = uniform_numbers(one, other, places.reshape(-1, 1).astype(np.uint64))
            return np.asarray(found).reshape(m, count, 1)

        return numbers
