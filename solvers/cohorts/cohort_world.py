"""The world of a run with cohorts: channel and gradients of the clients that take part."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.problem import Problem, require_vectors
from certibit.solvers.cohorts.client_streams import ClientStreams, Draw
from certibit.solvers.cohorts.cohort_array import CohortArray
from certibit.solvers.cohorts.cohort_parts import CohortParts
from certibit.solvers.cohorts.crowd import Crowd
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.method import Sample, Schedule, Slot, require_probability, slot_of
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.ownership import (
    check_cohort,
    is_large,
    members_drawn,
    ownership_rows,
)

_EVERYONE = np.arange(1)
NUMBER_BITS = 32
"""Bits of a number that is not compressed."""
_NO_NUMBERS = np.empty(0)


@dataclass
class CohortChannel:
    """The network of one run; the clients outside of the cohort neither send nor compute.

    The numbers of every client are those that it has where all are computed.

    Parameters
    ----------
    whole : Channel
        That of all clients, with the same streams.
    streams : ClientStreams
    crowd : Crowd
        The cohort of the round.
    """

    whole: Channel
    streams: ClientStreams
    crowd: Crowd

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.whole.n

    @property
    def ledger(self) -> Ledger:
        """What was spent."""
        assert isinstance(self.whole.ledger, Ledger)
        return self.whole.ledger

    @property
    def template(self) -> CohortArray:
        """The point x_0, (1, d, 1)."""
        return CohortArray.shared(self.crowd, self.whole.template)

    def uplink(self, v: CohortArray, cohort: CohortArray | None = None) -> CohortArray:
        """Send C_i(v_i) from every client of the cohort; what is received."""
        compressor, d = self.whole.compressor, v.shape[1]
        count = compressor.uniforms(d)
        if compressor.shared:
            shared = self.streams.uniform("compressor", _EVERYONE, (1, count))
            numbers: Draw = lambda clients: shared  # noqa: E731
        else:
            numbers = self.streams.of_clients("compressor", self.n, count)
        bits = self.whole.message_bits(compressor, d)
        self.ledger.up(_EVERYONE, self._counted(cohort) * bits, self.n * bits)
        return self._arrived(self._sent(v, compressor, numbers), cohort)

    def send(self, v: CohortArray, mask: CohortArray | None = None) -> CohortArray:
        """Send v_i from every client, 32 bits a number; what is received."""
        d = v.shape[1]
        bits = self._counted(mask, d) * NUMBER_BITS
        self.ledger.up(_EVERYONE, bits, self.n * d * NUMBER_BITS)
        return self._arrived(self._sent(v, Identity(), lambda clients: _NO_NUMBERS), mask)

    def broadcast(self, v: CohortArray, mask: CohortArray | None = None) -> CohortArray:
        """Send v, (1, d, 1), to all clients or to those of a mask, 32 bits a number."""
        mask = self.whole.reached(v.rows, mask)
        self.ledger.down(_EVERYONE, self._counted(mask, v.shape[1], down=True) * NUMBER_BITS)
        rows = self._received(v.rows, Identity(), _NO_NUMBERS)
        received = CohortArray.shared(self.crowd, rows)
        self.whole.note_heard(rows)
        return received

    def downlink(self, v: CohortArray) -> CohortArray:
        """Send C(v), (1, d, 1), to all clients by the compressor of the server."""
        d, compressor = v.shape[1], downward(self.whole.compressor)
        numbers = (1, compressor.uniforms(d))
        uniforms = self.streams.uniform("downlink", _EVERYONE, numbers)
        self.ledger.down(_EVERYONE, self.n * self.whole.message_bits(compressor, d))
        return CohortArray.shared(self.crowd, self._received(v.rows, compressor, uniforms))

    def talking(self, schedule: Schedule, iteration: int) -> bool:
        """Say whether the run communicates after an iteration."""
        return bool(np.asarray(self.whole.talking(schedule, iteration))[0])

    def coin(self, p: float) -> CohortArray:
        """Toss one coin; (1, 1, 1) bool."""
        return CohortArray.shared(self.crowd, self.whole.coin(p)).drawn()

    def client_coins(self, q: Sequence[float]) -> CohortArray:
        """Toss a coin on every client, true with probability q_i; (n, 1, 1) bool."""
        chances = np.asarray(q)[:, None, None]
        require_probability("the probability of a client's coin", chances)
        numbers = self.streams.of_clients("client coins", self.n, 1)
        rows = numbers(self.crowd.clients) < chances[self.crowd.clients]
        return CohortArray(self.crowd, rows, None, True).drawn()

    def cohort(self, m: int) -> CohortArray:
        """Draw a uniformly random set of m clients, unless it is drawn already; (n, 1, 1) bool.

        Raises
        ------
        Refusal
            If it is the second one that a method draws in a round.
        """
        if self.crowd.asked and m < self.n:
            raise Refusal(
                f"a second cohort of {m} clients is drawn in a round; with by_cohort there is one, "
                "so run this method without it"
            )
        self.draw(m)
        self.crowd.asked = True
        inside, outside = np.ones((1, 1, 1), bool), np.zeros((1, 1, 1), bool)
        return CohortArray(self.crowd, inside, outside, True).drawn()

    def draw(self, m: int) -> None:
        """Draw the m clients of the round, unless they are drawn already."""
        check_cohort(m, self.n)
        if self.crowd.is_drawn:
            if self.crowd.size != m:
                raise Refusal(
                    f"a round with {self.crowd.size} clients draws a cohort of {m}; with "
                    "by_cohort both are the same, and the cohort is drawn before vectors of the "
                    "clients are used"
                )
            return
        if m == self.n:
            self.streams.of_clients("cohort", self.n, 1)  # as many numbers as elsewhere
            self.crowd.gather(np.arange(self.n))
        elif is_large(self.n):
            uniforms = self.streams.uniform("cohort", _EVERYONE, (m, 1))
            self.crowd.gather(members_drawn(uniforms[:, 0, :], self.n)[:, 0])
        else:
            mask = self.whole.cohort(m)
            self.crowd.gather(np.flatnonzero(mask[:, 0, 0]))

    def ownership(self, s: int, cohort: CohortArray | None = None) -> CohortArray:
        """Draw s owners in the cohort for every entry; (n, d, 1) bool."""
        crowd, d = self.crowd, self.whole.template.shape[1]
        order = self.streams.of_clients("ownership", self.n, 1)(crowd.clients)[:, 0, 0]
        template = ownership_rows(d, crowd.size, s, crowd.size)
        place = np.argsort(np.argsort(order))
        rows = template[place, :, None]
        return CohortArray(crowd, rows, np.zeros((1, d, 1), bool), True).drawn()

    def _sent(self, v: CohortArray, compressor: Compressor, numbers: Draw) -> Any:
        """Return what is received from every client."""
        if isinstance(compressor, Identity) and not self.whole.wire:
            return v.rows
        clients = self.crowd.clients
        rows = np.broadcast_to(v.rows, (len(clients), v.shape[1], 1))
        return self._received(rows, compressor, numbers(clients))

    def _received(
        self, rows: NDArray[Any], compressor: Compressor, uniforms: NDArray[np.float64]
    ) -> NDArray[Any]:
        d, message = rows.shape[1], compressor.message(rows, uniforms)
        if self.whole.wire:
            message = compressor.layout(d).transmit(message)
        return np.asarray(compressor.vector(message, d))

    def _arrived(self, rows: Any, mask: CohortArray | None) -> CohortArray:
        """Return what has arrived, which is 0 where nothing was sent."""
        if mask is not None:
            rows = np.where(mask.rows, rows, 0 * rows)
        nothing = np.zeros((1, *rows.shape[1:]), rows.dtype)
        return CohortArray(self.crowd, rows, nothing, True)

    def _counted(self, mask: CohortArray | None, d: int = 1, down: bool = False) -> int:
        """Count the clients, or their d entries, that a mask lets through."""
        if mask is None:
            if not down and self.crowd.size != self.n:
                raise Refusal(
                    f"all {self.n} clients send, and a cohort of {self.crowd.size} takes part; run "
                    "this method without by_cohort"
                )
            return self.n * d
        if not mask.common:
            raise Refusal(
                "a mask that depends on data is sent; with by_cohort only masks that were drawn "
                "are counted: run this method without by_cohort"
            )
        times, outside = d // mask.shape[1], self.n - self.crowd.size
        return times * (int(self.crowd.total(mask.rows).sum()) + outside * entries_outside(mask))


def entries_outside(mask: CohortArray) -> int:
    """Return how many entries of a client outside the cohort a mask lets through."""
    return int(mask.others.sum()) if isinstance(mask.others, np.ndarray) else 0


@dataclass(frozen=True, eq=False)
class CohortSample(Sample):
    """A sample as the uniform numbers that it is made from; None for no noise."""

    numbers: Draw | None


@dataclass
class CohortOracle:
    """The gradients of the clients of the cohort; with streams of noise, stochastic ones.

    The method names its samples of the noise, or every gradient is of a new one.
    """

    problem: Problem
    parts: CohortParts
    channel: CohortChannel
    noise: ClientStreams | None = None
    named: bool = True

    @property
    def n(self) -> int:
        """Number of clients."""
        return self.problem.n

    @property
    def d(self) -> int:
        """Number of features."""
        return self.problem.d

    def grad(
        self,
        x: CohortArray,
        active: CohortArray | int | None = None,
        sample: Slot | None = None,
    ) -> CohortArray:
        """Evaluate the gradient of f_i at x_i on the clients of the cohort; (n, d, 1).

        A number of clients that are active is the size of the cohort, which is then drawn. With
        ``sample`` the gradients are stochastic, if there is any noise; so are all of a method that
        names no samples.
        """
        require_vectors(x, (self.n, 1), self.d, 1)
        crowd, law, drawn = self.channel.crowd, self.problem.noise, self._drawn(sample)
        if isinstance(active, CohortArray):
            if not active.of_clients:
                self._gather(self.n)
            count = int(crowd.total(active.rows).sum())
        else:
            count = self.n if active is None else active
            self._gather(count)
        each = 1 if law is None else law.counted(self.problem, sampled=drawn is not None)
        self.channel.ledger.evaluate(_EVERYONE, each * count, each * self.n)

        part = self.parts.of(crowd.clients)
        if law is None or drawn is None:
            rows = np.asarray(part.grad(x.rows))
        else:
            rows = np.asarray(law.gradient(part, x.rows, drawn(crowd.clients), part.grad))
        return CohortArray(crowd, rows, None, True)

    def grad_g(self, y: CohortArray) -> CohortArray:
        """Evaluate the gradient of g; (1, d, 1). Not counted: g is a known quadratic."""
        return self.problem.grad_g(y)

    @property
    def always_new(self) -> bool:
        """Whether every gradient is of a new sample."""
        return self.noise is not None and not self.named

    def sample(self, slot: int | str) -> CohortSample:
        """Draw the next sample of a slot on every client."""
        return CohortSample(self._drawn(slot))

    def _drawn(self, sample: Slot | None) -> Draw | None:
        """Return the uniform numbers of a sample; None where gradients are exact."""
        slot = slot_of(sample, self.named)
        if isinstance(slot, CohortSample):
            return slot.numbers
        law = self.problem.noise
        if slot is None or law is None or self.noise is None:
            return None
        return self.noise.of_clients(f"noise {slot}", self.n, law.numbers(self.problem))

    def _gather(self, count: int) -> None:
        crowd = self.channel.crowd
        if count < self.n:
            self.channel.draw(count)
        elif crowd.size < self.n:
            raise Refusal(
                f"the gradients of all {self.n} clients are evaluated in a round with a cohort of "
                f"{crowd.size}; run this method without by_cohort"
            )
