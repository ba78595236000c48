"""Random numbers by named purpose and run seed, independent of the other runs of the batch.

Every pair (run seed, purpose) has its own Philox generator, seeded by
``SeedSequence(seed, spawn_key=(crc32(purpose),))``. A run consumes numbers of its own streams only,
so it sees the same numbers alone, in a batch, before or after others. Philox is counter-based: the
number of draws so far is all that is needed to continue a stream.
"""

from collections.abc import Mapping, Sequence
from zlib import crc32

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_numpy
from certibit.solvers.libraries import host
from certibit.solvers.method import require_probability
from certibit.solvers.registry import on_device
from certibit.solvers.simulation.ledger import Runs, Turn
from certibit.solvers.simulation.philox import WORDS

_BLOCK = 4096


def generator(seed: int, purpose: str, drawn: int = 0) -> np.random.Generator:
    """Make the generator of one run seed and one purpose, such as ``"compressor"``.

    It continues after the given number of uniform numbers.
    """
    counts, numbers = divmod(drawn, WORDS)
    continued = np.random.Generator(_philox(seed, purpose).advance(counts))
    continued.random(numbers)
    return continued


def key(seed: int, purpose: str) -> NDArray[np.uint64]:
    """Return the two words from which the numbers of a run seed and a purpose are made."""
    words: NDArray[np.uint64] = _philox(seed, purpose).state["state"]["key"]
    return words


def _philox(seed: int, purpose: str) -> np.random.Philox:
    sequence = np.random.SeedSequence(seed, spawn_key=(crc32(purpose.encode()),))
    return np.random.Philox(sequence)


def stream_width(count: int) -> int:
    """Return how many numbers are drawn at once for draws of so many."""
    return max(_BLOCK, 16 * count)


class Stream:
    """The uniform numbers of one purpose for R runs, drawn in blocks.

    Cutting a stream into draws of other lengths does not change its numbers. With ``drawn``, (R,),
    it goes on where each run has drawn so many.
    """

    def __init__(
        self, seeds: Sequence[int], purpose: str, drawn: NDArray[np.int64] | None = None
    ) -> None:
        self._passed = np.zeros(len(seeds), dtype=np.int64) if drawn is None else drawn.copy()
        self._generators = [
            generator(seed, purpose, int(passed))
            for seed, passed in zip(seeds, self._passed, strict=True)
        ]
        self._block = np.empty((len(seeds), 0))
        self._used = np.zeros(len(seeds), dtype=np.intp)
        self._windows: dict[int, NDArray[np.float64]] = {}  # views of the block, slow to make

    @property
    def drawn(self) -> NDArray[np.int64]:
        """How many numbers each run has drawn, (R,)."""
        return self._passed + self._used

    def draw(self, runs: NDArray[np.intp], count: int) -> NDArray[np.float64]:
        """Draw the next ``count`` uniform numbers of [0, 1) of each run: (count, R)."""
        used = self._used[runs]
        if count > self._block.shape[1] - used.max(initial=0):
            self._refill(runs, count)
            used = self._used[runs]
        if count not in self._windows:
            self._windows[count] = sliding_window_view(self._block, count, axis=1)
        numbers: NDArray[np.float64] = self._windows[count][runs, used]
        self._used[runs] += count
        return numbers.T

    def _refill(self, runs: NDArray[np.intp], count: int) -> None:
        """Move the unused numbers of each short run to the front of its block and draw the rest."""
        width = stream_width(count)
        if self._block.shape[1] < width:
            runs = np.arange(len(self._generators))
            block = np.empty((len(runs), width))
            self._windows.clear()
        else:
            block, width = self._block, self._block.shape[1]
        for run in runs:
            left = self._block[run, self._used[run] :].copy()
            block[run, : left.size] = left
            self._generators[run].random(out=block[run, left.size :])
        self._block = block
        self._passed[runs] += self._used[runs]
        self._used[runs] = 0


class Streams:
    """All streams of a batch of runs, made when their purpose is first named."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self._seeds = tuple(seeds)
        self._streams: dict[str, Stream] = {}

    def __len__(self) -> int:
        return len(self._seeds)

    @property
    def everyone(self) -> Runs:
        """All runs: their positions, (R,)."""
        return np.arange(len(self))

    @property
    def drawn(self) -> dict[str, NDArray[np.int64]]:
        """How many numbers of each purpose each run has drawn, (R,)."""
        return {purpose: stream.drawn for purpose, stream in self._streams.items()}

    def resume(self, drawn: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue the streams after the given numbers of draws of each purpose and run."""
        self._streams = {
            purpose: Stream(self._seeds, purpose, counts) for purpose, counts in drawn.items()
        }

    def uniform(self, purpose: str, runs: Runs, shape: tuple[int, int]) -> Array:
        """Draw uniform numbers of [0, 1) of a purpose for some runs: (*shape, R)."""
        rows, columns = shape
        return self._of(purpose).draw(runs, rows * columns).reshape(rows, columns, len(runs))

    def turn(self, p: Array | float, runs: Runs) -> NDArray[np.bool_] | Turn:
        """Toss the coins of the schedule, with probability p or (1, 1, R): whose turn it is."""
        p = host(p) if hasattr(p, "shape") else p
        require_probability("the probability of a round", p)
        return np.ravel(self.uniform("round", runs, (1, 1))[0, 0] < p)

    def _of(self, purpose: str) -> Stream:
        if purpose not in self._streams:
            self._streams[purpose] = Stream(self._seeds, purpose)
        return self._streams[purpose]


def streams_of(seeds: Sequence[int], template: Array) -> Streams:
    """Return the streams of runs with their seeds, on the device of an array."""
    if is_numpy(template):
        return Streams(seeds)
    streams: Streams = on_device().DeviceStreams(seeds, template)
    return streams
