"""Random numbers by named purpose and run seed, independent of the other runs of the batch.

Every pair (run seed, purpose) has its own Philox generator, seeded by
``SeedSequence(seed, spawn_key=(crc32(purpose),))``. A run consumes numbers of its own streams only,
so it sees the same numbers alone, in a batch, before or after others. Philox is counter-based: the
number of draws so far is all that is needed to continue a stream. Four words belong to each value
of the counter, which starts at 1; so any number is computed on any device without those before it.
Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, Parallel random numbers: as easy as 1, 2, 3, 2011.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any
from zlib import crc32

import numpy as np
from array_api_compat import device, is_cupy_array
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal
from certibit.solvers.libraries import host
from certibit.solvers.method import require_probability
from certibit.solvers.registry import on_device
from certibit.solvers.simulation.ledger import Runs, Turn

WORDS = 4
"""Numbers for each value of the counter."""

_FACTORS = 0xD2E7470EE14C6C93 - 2**64, 0xCA5A826395121157 - 2**64
_STEPS = 0x9E3779B97F4A7C15 - 2**64, 0xBB67AE8584CAA73B - 2**64
"""As signed numbers: torch has no arithmetic of unsigned ones."""
_ROUNDS = 10
_LOW = 0xFFFFFFFF

KERNEL = """
unsigned long long a = place / 4 + 1, b = 0, c = 0, d = 0, k = first, l = second;
for (int round = 0; round < 10; ++round) {
    unsigned long long high = __umul64hi(0xD2E7470EE14C6C93ULL, a);
    unsigned long long other = __umul64hi(0xCA5A826395121157ULL, c);
    unsigned long long low = 0xD2E7470EE14C6C93ULL * a;
    a = other ^ b ^ k;
    b = 0xCA5A826395121157ULL * c;
    c = high ^ d ^ l;
    d = low;
    k += 0x9E3779B97F4A7C15ULL;
    l += 0xBB67AE8584CAA73BULL;
}
unsigned long long word = place % 4 == 0 ? a : place % 4 == 1 ? b : place % 4 == 2 ? c : d;
number = (double)(word >> 11) * (1.0 / 9007199254740992.0);
"""
"""The same in C, for cupy: compared on the host as C, and on a GPU."""


def uniform_numbers(first: Array, second: Array, place: Array) -> Array:
    """Return the uniform numbers of [0, 1) that ``Generator(Philox(key)).random`` has at places.

    Parameters
    ----------
    first, second : (R,) uint64
        The two words of the key of every run.
    place : (q, R) uint64
        Which numbers of its stream, counted from 0.
    """
    if is_cupy_array(place):
        return _kernel()(place, first, second)
    xp, there = array_namespace(place), device(place)
    first, second, place = (xp.astype(x, xp.int64) for x in (first, second, place))
    keys = xp.stack((first, second))[:, None, :]
    factors, steps = (
        xp.stack([xp.full((1, 1), x, dtype=xp.int64, device=there) for x in numbers])
        for numbers in (_FACTORS, _STEPS)
    )
    even, odd = xp.stack((place // WORDS + 1, 0 * place)), 0 * keys  # of the four words
    for _ in range(_ROUNDS):
        high, low = _product(factors, even)
        even, odd = xp.flip(high, axis=0) ^ odd ^ keys, xp.flip(low, axis=0)
        keys = keys + steps
    turn = place % WORDS
    word = xp.where(
        turn % 2 == 0,
        xp.where(turn == 0, even[0, ...], even[1, ...]),
        xp.where(turn == 1, odd[0, ...], odd[1, ...]),
    )
    return xp.astype(_shifted(word, 11), xp.float64) * 2.0**-53


def _product(x: Array, y: Array) -> tuple[Array, Array]:
    """Return the two halves, 64 bits each, of the products of numbers."""
    x_high, x_low, y_high, y_low = _shifted(x, 32), x & _LOW, _shifted(y, 32), y & _LOW
    middle = x_high * y_low + _shifted(x_low * y_low, 32)
    carried = x_low * y_high + (middle & _LOW)
    return x_high * y_high + _shifted(middle, 32) + _shifted(carried, 32), x * y


def _shifted(x: Array, bits: int) -> Array:
    """Shift 64 bits to the right, zeros after them, whatever the sign is."""
    return (x >> bits) & ((1 << (64 - bits)) - 1)


@cache
def _kernel() -> Any:
    import cupy  # noqa: PLC0415  (an optional extra)

    return cupy.ElementwiseKernel(
        "uint64 place, uint64 first, uint64 second", "float64 number", KERNEL, "certibit_philox"
    )


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
    return np.random.Philox(np.random.SeedSequence(seed, spawn_key=(_number(purpose),)))


def _number(purpose: str) -> int:
    return crc32(purpose.encode())


OF_CHANNEL = "coin", "client coins", "cohort", "ownership", "compressor", "downlink", "round"
"""The purposes of a channel; any other one is the noise of a slot, which a method names."""


def require_own_numbers(purpose: str, others: Iterable[str]) -> None:
    """Refuse a purpose whose generators are those of another one."""
    for other in {*others, *OF_CHANNEL} - {purpose}:
        if _number(other) == _number(purpose):
            raise Refusal(
                f"{purpose!r} has the random numbers of {other!r}; give the slot another name"
            )


def _stream_width(count: int) -> int:
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
        width = _stream_width(count)
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
            require_own_numbers(purpose, self._streams)
            self._streams[purpose] = Stream(self._seeds, purpose)
        return self._streams[purpose]


def streams_of(seeds: Sequence[int], template: Array) -> Streams:
    """Return the streams of runs with their seeds, on the device of an array."""
    if is_numpy(template):
        return Streams(seeds)
    streams: Streams = on_device().DeviceStreams(seeds, template)
    return streams
