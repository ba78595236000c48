"""The world of a run over ranks: channel and gradients of the clients of one rank."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, is_common
from certibit.data.errors import Refusal
from certibit.data.problem import Problem, require_vectors
from certibit.solvers.backend import masked
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.compressors.wire import Float32, Layout, Message, Shared
from certibit.solvers.method import Schedule, Slot
from certibit.solvers.processes.rank_array import RankArray, Share
from certibit.solvers.processes.ranks import Ranks
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import let_through
from certibit.solvers.simulation.oracle import DrawnSample, Oracle
from certibit.solvers.simulation.turn import Runs
from certibit.solvers.state import narrow

_NUMBER = Layout(((Float32(), 1),))
_WIDTH = _NUMBER.bits


@dataclass(frozen=True)
class RankChannel:
    """The network of one rank: its clients send to rank 0, which is the server.

    Random numbers are drawn for all clients on all ranks, so that each has its own numbers of the
    run in one process. A broadcast travels once to every rank, whose clients share it, and in
    whole: masks of a broadcast are counted and not carried out.
    """

    whole: Channel
    ranks: Ranks

    @property
    def _share(self) -> Share:
        return self.ranks.share(self.whole.n)

    @property
    def template(self) -> RankArray:
        """The point x_0 of every run, (1, d, R)."""
        return self._share.array(self.whole.template)

    def at(self, runs: Runs) -> "RankChannel":
        """Narrow to some of the runs served."""
        return replace(self, whole=self.whole.at(runs))

    def uplink(self, v: Array, cohort: Array | None = None) -> RankArray:
        """Send C_i(v_i) from every client of the cohort; what is received."""
        share, compressor, (n, d, runs) = self._share, self.whole.compressor, self._shape(v)
        layout = compressor.layout(d)
        message = compressor.message(share.rows(v), share.rows(self._uniforms(compressor, n, d)))
        encoded = np.moveaxis(layout.encode(message), 2, 1)  # (own, R, bytes)
        mask = self._mask(cohort, (n, 1, runs))[:, 0, :]
        self.whole.ledger.up(self.whole.runs, layout.bits * mask.sum(axis=0), n * layout.bits)
        own = compressor.vector(layout.transmit(message), d)
        if cohort is not None:
            own = masked(mask[share.clients, None, :], own)
        sizes = [int(mask[clients].sum()) * layout.bytes for clients in self._clients]
        arrived = self.ranks.to_server(np.ravel(encoded[mask[share.clients]]), sizes)
        if arrived is None:
            return self._received(own)
        known = tuple(
            np.repeat(np.moveaxis(x[:1], 2, 0)[None, :, 0], n, axis=0)[mask][:, :, None]
            for x in _known(layout, message)
        )
        decoded = layout.decode(arrived.reshape(-1, layout.bytes, 1), known)
        received = _zeros_like(own, n)
        np.moveaxis(received, 2, 1)[mask] = compressor.vector(decoded, d)[:, :, 0]
        return self._received(received)

    def send(self, v: Array, mask: Array | None = None) -> RankArray:
        """Send v_i from every client, 32 bits a number; what is received."""
        share, shape = self._share, self._shape(v)
        n, d, _ = shape
        sent = self._mask(mask, shape)
        entries = let_through(sent, shape)
        self.whole.ledger.up(self.whole.runs, entries * _WIDTH, n * d * _WIDTH)
        (own,) = Identity().layout(d).transmit((share.rows(v),))
        if mask is not None:
            own = masked(sent[share.clients], own)
        numbers = share.rows(v)[sent[share.clients]]
        encoded = _NUMBER.encode((numbers.reshape(-1, 1, 1),))
        sizes = [int(sent[clients].sum()) * _NUMBER.bytes for clients in self._clients]
        arrived = self.ranks.to_server(np.ravel(encoded), sizes)
        if arrived is None:
            return self._received(own)
        received = _zeros_like(own, n)
        received[sent] = _NUMBER.decode(arrived.reshape(-1, _NUMBER.bytes, 1))[0].ravel()
        return self._received(received)

    def broadcast(self, v: Array, mask: Array | None = None) -> RankArray:
        """Send v, (1, d, R), from the server to every rank, 32 bits a number; (1, d, R)."""
        d, runs = v.shape[1:]
        layout = Identity().layout(d)
        entries = let_through(self._mask(mask, (self.whole.n, d, runs)), (self.whole.n, d, runs))
        self.whole.ledger.down(self.whole.runs, entries * _WIDTH)
        (received,) = self._delivered((np.asarray(v),), layout, runs, ())
        return self._received(received)

    def downlink(self, v: Array) -> RankArray:
        """Send C(v), (1, d, R), from the server to every rank by its compressor; (1, d, R)."""
        d, runs = v.shape[1:]
        compressor = downward(self.whole.compressor)
        layout = compressor.layout(d)
        uniforms = self._uniforms(compressor, 1, d, "downlink")
        vector = np.asarray(v) if self._share.serves else np.zeros((1, d, runs))
        message = compressor.message(vector, uniforms)
        self.whole.ledger.down(self.whole.runs, self.whole.n * layout.bits)
        received = self._delivered(message, layout, runs, _known(layout, message))
        return self._received(compressor.vector(received, d))

    def talking(self, schedule: Schedule, iteration: int | NDArray[np.int64]) -> Any:
        """Say which of the runs served communicate after an iteration."""
        return self.whole.talking(schedule, iteration)

    def coin(self, p: float) -> Array:
        """Toss one coin per run; (1, 1, R) bool."""
        return self.whole.coin(p)

    def client_coins(self, q: Sequence[float]) -> RankArray:
        """Toss a coin on every client."""
        return self._drawn(self.whole.client_coins(q))

    def cohort(self, m: int) -> RankArray:
        """Draw a uniformly random set of m clients."""
        return self._drawn(self.whole.cohort(m))

    def ownership(self, s: int, cohort: Array | None = None) -> RankArray:
        """Draw s owners in the cohort for every entry."""
        shape = (self.whole.n, 1, len(self.whole.runs))
        members = None if cohort is None else self._mask(cohort, shape)
        return self._drawn(self.whole.ownership(s, members))

    @property
    def _clients(self) -> list[slice]:
        return [self.ranks.share(self.whole.n, k).clients for k in range(self.ranks.size)]

    def _shape(self, v: Array) -> tuple[int, int, int]:
        return (self.whole.n, *v.shape[1:])

    def _received(self, x: NDArray[Any]) -> RankArray:
        return self._share.array(x, received=True)

    def _drawn(self, mask: NDArray[Any]) -> RankArray:
        return self._share.array(mask, received=True, common=True)

    def _uniforms(
        self, compressor: Compressor, senders: int, d: int, purpose: str = "compressor"
    ) -> NDArray[np.float64]:
        shape = (1 if compressor.shared else senders, compressor.uniforms(d))
        return np.asarray(self.whole.streams.uniform(purpose, self.whole.runs, shape))

    def _mask(self, mask: Array | None, shape: tuple[int, int, int]) -> NDArray[np.bool_]:
        """Return a mask in full; refuse one that only the clients know."""
        if mask is None:
            return np.ones(shape, dtype=bool)
        if not is_common(mask):
            raise Refusal(
                "a mask that was not drawn from the common seed; over processes the server knows "
                "only those that were: run this method in one process"
            )
        return np.broadcast_to(np.asarray(mask), shape)

    def _delivered(
        self, message: Message, layout: Layout, runs: int, known: tuple[Array, ...]
    ) -> Message:
        """Return a message of the server, one for each run, as every rank receives it."""
        size = layout.bytes * runs
        encoded = layout.encode(message) if self._share.serves else np.empty(0, np.uint8)
        arrived = self.ranks.from_server(np.ravel(encoded), size)
        return layout.decode(arrived.reshape(1, layout.bytes, runs), known)


def _zeros_like(own: NDArray[Any], n: int) -> NDArray[Any]:
    """Return zeros of n clients with the memory order of some: products depend on it."""
    order = np.argsort([-stride for stride in own.strides], kind="stable")
    shape = np.array([n, *own.shape[1:]])[order]
    return np.zeros(shape, own.dtype).transpose(np.argsort(order))


def _known(layout: Layout, message: Message) -> tuple[Array, ...]:
    """Return the arrays of a message that its receiver draws from the common seed."""
    pairs = zip(layout.fields, message, strict=True)
    return tuple(np.asarray(x) for (field, _), x in pairs if isinstance(field, Shared))


@dataclass(frozen=True)
class RankOracle:
    """The gradients of the clients of one rank.

    Those of a number of clients, or of a mask that all ranks know, are counted by rank 0; of a
    mask that only the clients know, each rank counts its own, in ``apart``.
    """

    whole: Oracle
    problem: Problem
    ranks: Ranks
    apart: NDArray[np.int64]

    @property
    def n(self) -> int:
        """Number of all clients."""
        return self.whole.n

    @property
    def d(self) -> int:
        """Number of features."""
        return self.whole.d

    def at(self, runs: Runs) -> "RankOracle":
        """Narrow to some of the runs served."""
        return replace(self, whole=self.whole.at(runs), problem=narrow(self.problem, runs))

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> RankArray:
        """Evaluate the gradient of f_i at x_i on every client of the rank."""
        sampled = self.whole.drawn(sample)
        share, runs, tape = self.ranks.share(self.n), self.whole.runs, self.whole.tape
        drawn = sampled is not None
        if active is None or isinstance(active, int):
            self.whole.count(self.n if active is None else active, drawn)
        elif len(active) in (1, self.n):
            self.whole.count(let_through(np.asarray(active), (self.n, 1, len(runs))), drawn)
        else:
            each = tape.noise.counted(self.problem, drawn) if tape else 1
            own = let_through(np.asarray(active), (share.own, 1, len(runs)))
            self.apart[runs] += each * own
        point = share.rows(x)
        require_vectors(point, (share.own, 1), self.d, len(runs))
        if isinstance(active, int) and not active:
            return share.array(0 * self.problem.grad(point))
        if tape is None or sampled is None:
            return share.array(self.problem.grad(point))
        of_rank = share.rows(sampled)
        return share.array(tape.noise.gradient(self.problem, point, of_rank, self.problem.grad))

    @property
    def always_new(self) -> bool:
        """Whether every gradient is of a new sample."""
        return self.whole.always_new

    def sample(self, slot: int | str) -> DrawnSample:
        """Draw the next sample of a slot on every client."""
        return self.whole.sample(slot)

    def count(self, gradients: Any) -> None:
        """Count gradients of all clients together in one step."""
        self.whole.count(gradients)

    def grad_g(self, y: Array) -> Array:
        """Evaluate the gradient of g."""
        return self.problem.grad_g(y)
