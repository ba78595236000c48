"""The random numbers of a few clients out of many, without those of the others."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.cohorts.crowd import Clients
from certibit.solvers.simulation.philox import uniform_numbers
from certibit.solvers.simulation.randomness import Streams, key


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
        drawn = super().drawn
        for purpose, count in self._passed.items():
            drawn[purpose] = np.maximum(drawn.get(purpose, 0), np.array([count]))
        return drawn

    def resume(self, drawn: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue after the given numbers of draws of each purpose."""
        self._passed = {purpose: int(count[0]) for purpose, count in drawn.items()}
        super().resume(drawn)

    def of_clients(self, purpose: str, clients: Clients, n: int, count: int) -> NDArray[np.float64]:
        """Draw ``count`` uniform numbers for each of n clients; those of some, (m, count, 1)."""
        start = self._passed.get(purpose, 0)
        self._passed[purpose] = start + n * count
        places = start + clients[:, None] * count + np.arange(count)
        first, second = key(self._seed, purpose)[:, None]
        numbers = uniform_numbers(first, second, places.reshape(-1, 1).astype(np.uint64))
        return np.asarray(numbers).reshape(len(clients), count, 1)
