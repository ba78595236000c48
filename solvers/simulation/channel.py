"""The simulated network between clients and server.

A method gets a :class:`Channel` and an :class:`~certibit.solvers.simulation.oracle.Oracle`. ``at``
restricts both to some runs of the batch. Restricted ones share ledger and random streams with the
batch, so that the cost and the random numbers of a run are those of the run alone. On a device all
runs are computed, and a :class:`~certibit.solvers.simulation.ledger.Turn` masks those that
communicate.
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, common_if, is_common, is_numpy
from certibit.data.errors import Refusal
from certibit.data.problem import require_vectors
from certibit.solvers.backend import masked
from certibit.solvers.compressors.base import Compressor, Identity, require_true_layout
from certibit.solvers.compressors.composition import downward
from certibit.solvers.compressors.wire import (
    Layout,
    decode_positions,
    encode_positions,
    position_bits,
)
from certibit.solvers.libraries import like
from certibit.solvers.method import Every, Schedule, require_probability
from certibit.solvers.simulation.ledger import (
    Bits,
    Ledger,
    Runs,
    Turn,
    let_through,
    some_of,
    sum_and_largest,
)
from certibit.solvers.simulation.randomness import Streams
from certibit.solvers.state import copy_of


def check_cohort(m: int, n: int) -> None:
    """Refuse a number m of clients that cannot be drawn of n."""
    if not 1 <= m <= n:
        raise Refusal(f"a cohort of {m} of {n} clients; choose between 1 and {n}")


def check_owners(s: int, m: int) -> None:
    """Refuse a number s of owners per entry that m clients cannot have."""
    if not 2 <= s <= m:
        choice = f"choose s between 2 and {m}" if m >= 2 else "take at least 2 clients"
        raise Refusal(f"s = {s} owners per entry are not possible with {m} clients; {choice}")


def ownership_template(d: int, m: int, s: int) -> NDArray[np.bool_]:
    """Return the template (d, m): s ones in every row, columns as even as can be.

    If s d >= m, row k owns the s consecutive columns that start where row k - 1 stopped, wrapping
    around; the columns have floor(s d/m) or ceil(s d/m) ones. If s d < m, the first s d columns
    have a single one, row after row, and the others are empty. Permuting the columns uniformly
    makes the owners of every entry a uniformly random s-subset of the m clients.
    Source: Condat, Agarsky, Richtarik, arXiv:2210.13277, Figure 1.

    Raises
    ------
    Refusal
        Unless 2 <= s <= m.
    """
    check_owners(s, m)
    template: NDArray[np.bool_] = owned(np.arange(d)[:, None], np.arange(m)[None, :], s, d, m)
    return template


@lru_cache(maxsize=16)
def ownership_rows(d: int, m: int, s: int, n: int) -> NDArray[np.bool_]:
    """Return the columns of the template as rows, and empty ones for the others of n: (n, d)."""
    rows = np.zeros((n, d), dtype=bool)
    rows[:m] = ownership_template(d, m, s).T
    rows.setflags(write=False)
    return rows


def owned(entry: Array, place: Array, s: int, d: int, m: Array | int) -> Array:
    """Whether the template (d, m) has a one in the row of an entry, in the column of a place.

    Places from m on have none. On a device m may be an array of no dimension.
    """
    around, once = (place - s * entry) % m < s, (place < s * d) & (place % d == entry)
    chosen = (around & (s * d >= m)) | (once & (s * d < m))
    return chosen & (place < m)


_UNCOMPRESSED = Identity()
_LARGEST = 1e30
"""The largest number of a vector whose message is compared with its bytes, which round it."""
_UNKNOWN = -(1 << 40)
_REMEMBERED = 16
"""Masks on a device that are remembered."""


@dataclass(frozen=True)
class Channel:
    """The network between n clients and a server, for some runs of a batch.

    Coins, cohorts and masks come from a seed that clients and server share: they cost no bits.
    A mask is a bool array (n, 1, R) of clients or (n, d, R) of their entries; nothing is sent
    outside the mask, and 0 is received there. The positions of any mask but those drawn here and
    their combinations are sent, too, and counted: a bit of every client, or of k among d entries
    ceil(log2(d + 1)) bits and min(d, k ceil(log2 d)) more. On a device such a mask is refused.

    Parameters
    ----------
    n : int
        Number of clients.
    compressor : Compressor
        The compressor of every client, perhaps with one of the server.
    runs : (R,) int, or Turn
        The runs that are served, as positions in the whole batch.
    streams, ledger
        Random numbers and spending of the whole batch.
    template : Array
        Any array of the library and device that the run uses.
    wire : bool
        Whether every message goes through its bytes, which rounds values to 32-bit floats.
    catch_up : bool
        Whether clients that are away receive every broadcast, too, now or when they come back: a
        broadcast is counted for all clients, and once if it is of the vector that they have.
    """

    n: int
    compressor: Compressor
    runs: Runs
    streams: Streams
    ledger: Ledger
    template: Array
    wire: bool = False
    catch_up: bool = False
    _heard: list[Array] = field(default_factory=list, repr=False)
    _moved: dict[bytes, Array] = field(default_factory=dict, repr=False)
    _layouts: dict[tuple[str, int], Layout] = field(default_factory=dict, repr=False)
    _drawn: deque[Array] = field(default_factory=lambda: deque(maxlen=_REMEMBERED), repr=False)

    def at(self, runs: Runs) -> "Channel":
        """Narrow to some of the runs served, given by their positions among these."""
        return replace(self, runs=some_of(self.runs, runs))

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i) from every client of the cohort; return the received vectors, (n, d, R)."""
        received, bits = self._compressed(v, self.compressor, "compressor")
        n, _, runs = v.shape
        if cohort is None:
            self.ledger.up(self.runs, n * bits, bits)
            return received
        sent = bits * let_through(cohort, (n, 1, runs))
        cohort, told = self._told(cohort)
        self.ledger.up(self.runs, *sum_and_largest(sent + told, n), n * bits)
        return masked(cohort, received)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Send v_i from every client, 32 bits a number; what is received, (n, d, R)."""
        self._require(v, self.n, of_any_length=True)
        received, bits, busiest = self._uncompressed(v, mask)
        self.ledger.up(self.runs, bits, busiest, v.shape[0] * _UNCOMPRESSED.bits(v.shape[1]))
        return received

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Send v, (1, d, R), from the server to all clients, 32 bits a number; (1, d, R).

        With a mask, only these clients (and entries) are sent to; all of v is given back, but of
        a mask for all clients that was not drawn here only the entries that are sent.
        """
        mask = self.reached(v, mask)
        self._require(v, 1, of_any_length=True)
        received, bits, _ = self._uncompressed(v, None)
        self.note_heard(received)
        if mask is None:
            self.ledger.down(self.runs, bits * self.n)
        else:
            served = let_through(mask, (self.n, *v.shape[1:]))
            mask, told = self._told(mask)
            every, _ = sum_and_largest(served * (bits // v.shape[1]) + told, self.n)
            self.ledger.down(self.runs, every)
            if mask.shape[0] == 1 and is_numpy(mask) and not is_common(mask):
                received = masked(mask, received)
        return received

    def reached(self, v: Array, mask: Array | None) -> Array | None:
        """Return the mask of those that a broadcast is counted for; None for all clients."""
        if mask is None or not self.catch_up:
            return mask
        xp = array_namespace(v)
        known = [xp.all(v == heard, axis=(0, 1)) for heard in self._heard if v.shape == heard.shape]
        if not known:
            return None
        lacking = self._known(~known[0][None, None, :])
        return (mask | ~mask) & lacking

    def note_heard(self, v: Array) -> None:
        """Note the vector that was broadcast last."""
        self._heard[:] = [copy_of(v)] if self.catch_up else []

    def downlink(self, v: Array) -> Array:
        """Send C(v), (1, d, R), from the server to all clients by its compressor; (1, d, R)."""
        received, bits = self._compressed(v, downward(self.compressor), "downlink")
        self.ledger.down(self.runs, self.n * bits)
        return received

    def talking(
        self, schedule: Schedule, iteration: int | NDArray[np.int64]
    ) -> NDArray[np.bool_] | Turn:
        """Say which of the runs served communicate after an iteration, counted from 1: (R,)."""
        if isinstance(schedule, Every):
            return np.full(len(self.runs), iteration % schedule.iterations == 0)
        return self.streams.turn(schedule.p, self.runs)

    def coin(self, p: float) -> Array:
        """Toss one coin per run, true with probability p; (1, 1, R) bool."""
        require_probability("the probability of a coin", p)
        return self._known(self._shared("coin", 1) < p)

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a coin on every client, true with probability q_i; (n, 1, R) bool."""
        chances = np.asarray(q)[:, None, None]
        require_probability("the probability of a client's coin", chances)
        return self._known(self._shared("client coins", self.n) < self._once(chances))

    def cohort(self, m: int) -> Array:
        """Draw a uniformly random set of m clients; (n, 1, R) bool.

        Raises
        ------
        Refusal
            Unless 1 <= m <= n.
        """
        check_cohort(m, self.n)
        ranks = self._ranks("cohort", 0.0)
        return self._known((ranks < m)[:, None, :])

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        """Draw the masks of CompressedScaffnew: every entry has s owners in the cohort.

        Returns (n, d, R) bool; every column of :func:`ownership_template` goes to a random client.
        """
        xp, outside, members = array_namespace(self.template), 0.0, self.n
        if cohort is not None:
            outside = 1.0 - xp.astype(cohort[:, 0, :], xp.float64)
            members = xp.count_nonzero(cohort[:, 0, 0])
        rows = self._rows(s, members)
        ranks = self._ranks("ownership", outside)
        if is_numpy(ranks):
            chosen = rows[ranks]
            if cohort is not None:
                for run, count in enumerate(np.count_nonzero(cohort[:, 0, :], axis=0).tolist()):
                    if count != members:
                        chosen[:, run] = self._rows(s, count)[ranks[:, run]]
            return self._known(np.ascontiguousarray(np.moveaxis(chosen, 2, 1)))
        taken = xp.take(rows, xp.reshape(ranks, (-1,)), axis=0)
        return self._known(xp.permute_dims(xp.reshape(taken, (*ranks.shape, -1)), (0, 2, 1)))

    def _rows(self, s: int, members: Array | int) -> Array:
        """Return the columns of the template as rows, and empty ones for the others: (n, d)."""
        d = self.template.shape[1]
        if isinstance(members, int):
            return self._once(ownership_rows(d, members, s, self.n))
        xp, there = array_namespace(self.template), device(self.template)
        entry, place = xp.arange(d, device=there), xp.arange(self.n, device=there)
        return owned(entry[None, :], place[:, None], s, d, members)

    def _known(self, mask: Array) -> Array:
        """Return a mask that was drawn here, as one that all know."""
        if is_numpy(mask):
            return common_if((), np.asarray(mask))
        self._drawn.append(mask)
        return mask

    def positions(self, mask: Array) -> Array:
        """Return the bits of the positions of a mask, of every sender: 0 if all know it; (n, R).

        On a device, where only a mask that was drawn here or its opposite is known, those of any
        other are negative, which is refused when they are looked at.
        """
        if is_numpy(mask):
            if is_common(mask):
                return np.zeros((1, 1), dtype=np.int64)
            return position_bits(np.count_nonzero(mask, axis=1), mask.shape[1])
        xp = array_namespace(mask)
        found = xp.full((1, mask.shape[2]), _UNKNOWN, dtype=xp.int64, device=device(mask))
        for drawn in self._drawn:
            if mask is drawn:
                return xp.zeros_like(found)
            if drawn.shape == mask.shape:
                found = found * xp.astype(xp.any(mask == drawn, axis=(0, 1)), xp.int64)
        return found

    def _told(self, mask: Array) -> tuple[Array, Array]:
        """Return a mask as its receiver has it, and the bits of its positions, (n, R)."""
        each, d = self.positions(mask), mask.shape[1]
        if self.wire and is_numpy(mask) and not is_common(mask):
            columns = np.moveaxis(mask, 1, 2).reshape(-1, d)
            read = [decode_positions(encode_positions(chosen), d) for chosen in columns]
            mask = np.moveaxis(np.reshape(read, (mask.shape[0], -1, d)), 2, 1)
        return mask, each

    def _shared(self, purpose: str, count: int) -> Array:
        return self.streams.uniform(purpose, self.runs, (count, 1))

    def _ranks(self, purpose: str, first: Array | float) -> Array:
        """Return each client's place in a random order, sorted by ``first`` above all; (n, R)."""
        order = self.streams.uniform(purpose, self.runs, (self.n, 1))[:, 0, :] + first
        xp = array_namespace(order)
        return xp.argsort(xp.argsort(order, axis=0), axis=0)

    def _once(self, values: NDArray[Any]) -> Array:
        """Return a constant on the device, where it is moved the first time only."""
        if is_numpy(self.template):
            return values
        if values.tobytes() not in self._moved:
            self._moved[values.tobytes()] = like(self.template, values)
        return self._moved[values.tobytes()]

    def _require(self, v: Array, senders: int, *, of_any_length: bool = False) -> None:
        """Refuse what is not one vector of numbers of every sender and run."""
        shape: tuple[int, ...] = getattr(v, "shape", ())
        d = self.template.shape[1]
        d = shape[1] if of_any_length and len(shape) == 3 and shape[1] else d
        require_vectors(v, (senders,), d, len(self.runs))
        if not str(v.dtype).endswith(("float32", "float64")):
            raise Refusal(f"{v.dtype} is no type of a message; send float32 or float64 numbers")

    def _compressed(self, v: Array, compressor: Compressor, purpose: str) -> tuple[Array, int]:
        """Return what is received, and the bits of one sender's message."""
        senders = 1 if purpose == "downlink" else self.n
        self._require(v, senders)
        d, senders = v.shape[1], 1 if compressor.shared else senders
        uniforms = self.streams.uniform(purpose, self.runs, (senders, compressor.uniforms(d)))
        first = (lambda: v[:1, :, :1]) if is_numpy(self.template) else None
        bits = self.message_bits(compressor, d, first)
        return _apart(self._received(v, compressor, uniforms), v), bits

    def message_bits(
        self, compressor: Compressor, d: int, first: Callable[[], NDArray[Any]] | None = None
    ) -> int:
        """Return the bits of one sender's message, which the first one is compared with."""
        key = compressor.name, d
        if key not in self._layouts:
            vectors = np.empty((1, d, 0)) if first is None else first().astype(np.float64)
            exact = [x for x in vectors[0].T if np.abs(x).max() < _LARGEST]
            self._layouts[key] = require_true_layout(compressor, d, *exact)
        return self._layouts[key].bits

    def _received(self, v: Array, compressor: Compressor, uniforms: Array) -> Array:
        d, message = v.shape[1], compressor.message(v, uniforms)
        if self.wire:
            message = compressor.layout(d).transmit(message)
        return compressor.vector(message, d)

    def _uncompressed(self, v: Array, mask: Array | None) -> tuple[Array, Bits, Bits]:
        """Return what is received, and the bits of all senders and of the busiest one."""
        senders, d, _ = v.shape
        layout = _UNCOMPRESSED.layout(d)
        (received,) = layout.transmit((v,)) if self.wire else (v,)
        if mask is None:
            return _apart(received, v), senders * layout.bits, layout.bits
        entries = (layout.bits // d) * let_through(mask, v.shape)
        mask, told = self._told(mask)
        return masked(mask, received), *sum_and_largest(entries + told, senders)


def _apart(received: Array, v: Array) -> Array:
    """Return what is received, with memory of its own: writing into it changes nothing sent."""
    shared = received is v or (is_numpy(received) and np.may_share_memory(received, v))
    return copy_of(received) if shared else received
