"""Checks that the ledger counts the bits sent, and that the bytes decode to what is received."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array, is_common
from certibit.data.mini_batch import MiniBatch
from certibit.solvers.compressors.composition import downward
from certibit.solvers.compressors.wire import encode_positions
from certibit.solvers.method import Every
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.solvers.simulation.oracle import Oracle
from certibit.theory.checks.channel.walk import EXACT, RUNS, Wrapped, difference, size, with_pace
from certibit.theory.verdict import Verdict, worst_of

_PACE = Every(5)
"""Local steps between the rounds that are weighed."""
_LONG = 60
"""Rounds, one at every step, in which a method may begin to choose what it sends by gradients."""


def accounts(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check the ledger against the bytes of the messages, and that the server answers.

    Sent on the wire, the run must agree with the simulation within 32-bit rounding, and clients
    outside the cohort that was drawn send nothing. Where the server has received the same, what
    is sent next must have the same shape and the same masks, whatever the gradients are: what
    depends on them has to be in a message. Gradients of clients that were not asked for theirs may
    not be used, and local steps send nothing. The value is the number of bits and gradients by
    which the ledger is wrong, plus the number of other errors.
    """
    channel, oracle = simulated_world(experiment, [seed])
    calls: list[_Call] = []
    scales, counter = _Scales(with_pace(channel, _PACE), calls), _Counter(oracle)
    ledger, spent, between = channel.ledger, 0, 0
    for state, over in _iterations(experiment, counter, scales):  # noqa: B007
        before, spent = spent, int(ledger.uplink_bits[0] + ledger.downlink_bits[0])
        between += 0 if over else spent - before
        if over:  # what a start sends is no part of a round
            scales.senders = np.zeros_like(scales.senders)
    up, gradients = int(ledger.uplink_bits[0]), int(ledger.gradients[0])
    off = max(0, scales.least - up, up - scales.most)
    down, silent = int(ledger.downlink_bits[0]), scales.down == 0
    wired, wired_oracle = simulated_world(experiment, [seed], wire=True)
    *_, (received, _) = _iterations(experiment, wired_oracle, with_pace(wired, _PACE))
    agrees = difference(received, state) <= 1e-4 * (1 + size(state))
    agrees = agrees and np.array_equal(wired.ledger.uplink_bits, ledger.uplink_bits)
    told = [_depends_on_data(experiment, seed, calls, change) for change in _CHANGES]
    told += _depends_later(experiment, seed)
    found = [
        (off, f"{up} bits up are counted, and the messages have {scales.least} to {scales.most}"),
        (abs(down - scales.down), f"{down} bits down are counted, and {scales.down} are broadcast"),
        (abs(gradients - counter.counted),
         f"{gradients} gradients are counted, and {counter.counted} are asked for"),
        (between, f"{between} bits are sent in local steps, which may compute and toss coins only"),
        (scales.strangers, f"{scales.strangers} messages come from outside the cohort"),
        (scales.unpaid, f"{scales.unpaid} broadcasts are to fewer clients than took part before"),
        (silent, "the server answers nothing: communicate must broadcast what the clients use"),
        (sum(map(bool, told)), f"{next(filter(None, told), '')} depends on gradients that were not "
         "sent, and so tells the receiver of them for nothing"),
        (not agrees, "a run whose messages are sent as bytes ends in another state"),
        (_uses_others(experiment, seed),
         "gradients are used of more clients than are counted and take part in the round"),
    ]  # fmt: skip
    _, what = worst_of(found)
    advice = f"In some rounds {what}: look at what communicate sends, at masks and cohorts."
    return Verdict("bits counted are bits sent", float(sum(x for x, _ in found)), 0.0, "", advice)


def _iterations(
    experiment: ConvexExperiment, oracle: Any, channel: Any, last: int = 3 * _PACE.iterations
) -> Iterator[tuple[Any, bool]]:
    """Yield the states of three rounds, or until the last step, and whether a round is over."""
    method = experiment.method
    state = method.start(channel.template, oracle, channel)
    yield state, True
    for iteration in range(1, last + 1):
        state, talking = advance(method, state, oracle, channel, iteration)
        yield state, bool(talking.any())


def _uses_others(experiment: ConvexExperiment, seed: int) -> bool:
    """Whether a state depends on gradients of clients that were not asked for theirs.

    Where a method says how many clients evaluate gradients, they are those of the cohort.
    """
    ends, taking_part = [], list[Array]()
    for changed in (False, True):
        channel, oracle = simulated_world(experiment, range(seed, seed + RUNS))
        cohorts = _Cohorts(with_pace(channel, _PACE))
        counted = _OfSome(oracle, iter(taking_part) if changed else None)
        for end, over in _iterations(experiment, counted, cohorts):  # noqa: B007
            if over and not changed:
                if counted.fewest < cohorts.least:
                    return True
                taking_part += [cohorts.drawn] * counted.calls
                cohorts.drawn, counted.calls = np.zeros((experiment.n, 1, 1), dtype=bool), 0
                cohorts.least, counted.fewest = 0, experiment.n
        ends.append(end)
    return difference(*ends) > EXACT * (1 + size(ends[0]))


_CHANGES: tuple[Callable[[Array], Array], ...] = (
    lambda g: -g,
    lambda g: 0.0 * g,
    lambda g: 1e6 * g,
    lambda g: g[:, ::-1, :] + np.sqrt(np.mean(g * g)) * np.cos(np.arange(g.size)).reshape(g.shape),
)
"""Other gradients."""


@dataclass
class _Call:
    """What a receiver knows of a call of the channel beforehand, and what it receives."""

    name: str
    known: Any
    received: Any


class _UnlikeError(Exception):
    """A call whose receiver would have to know more."""


def _depends_later(experiment: ConvexExperiment, seed: int) -> list[str]:
    """Return which call of many rounds is another one with other gradients; see below."""
    calls: list[_Call] = []
    channel, oracle = simulated_world(experiment, [seed])
    scales = _Scales(with_pace(channel, Every(1)), calls)
    for _ in _iterations(experiment, oracle, scales, _LONG):
        pass
    sizes = _CHANGES[1:3]
    return [_depends_on_data(experiment, seed, calls, one, Every(1), _LONG) for one in sizes]


def _depends_on_data(
    experiment: ConvexExperiment,
    seed: int,
    calls: list[_Call],
    change: Callable[[Array], Array],
    pace: Every = _PACE,
    last: int = 3 * _PACE.iterations,
) -> str:
    """Return which call is another one with other gradients but the same messages; "" if none."""
    channel, oracle = simulated_world(experiment, [seed])
    replay = iter(calls)
    scales = _Scales(with_pace(channel, pace), [], replay)
    with np.errstate(all="ignore"), suppress(Exception):  # a method may refuse such gradients
        try:
            for _ in _iterations(experiment, _Changed(oracle, change), scales, last):
                pass
        except _UnlikeError as unlike:
            return str(unlike)
        return f"whether there is a {left.name}" if (left := next(replay, None)) else ""
    return ""


class _Changed(Wrapped):
    """Other gradients."""

    def __init__(self, inner: Any, change: Callable[[Array], Array]) -> None:
        super().__init__(inner)
        self.change = change

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        return self.change(self.inner.grad(x, active=active, sample=sample))


class _Scales(Wrapped):
    """A channel of one run that weighs what is sent by itself: bits from the lengths in bytes.

    Calls are noted, or compared with those of another run, whose messages are then received.
    """

    inner: Channel

    def __init__(
        self, inner: Channel, calls: list[_Call], replay: Iterator[_Call] | None = None
    ) -> None:
        super().__init__(inner)
        self.calls, self.replay = calls, replay
        self.least = self.most = self.down = self.strangers = self.unpaid = 0
        self.senders = np.zeros((inner.n, 1, 1), dtype=bool)
        self.members: Array = True

    def _called(self, name: str, x: Any, received: Array, mask: Any = None) -> Array:
        """Note a call with what its receiver knows of it, or compare it; return what arrives."""
        common = mask is None or is_common(mask)
        shown = np.asarray(mask).tobytes() if common else "data"
        known = (getattr(x, "shape", repr(x)), getattr(mask, "shape", None), shown)
        if self.replay is None:
            self.calls.append(_Call(name, known, received))
            return received
        call = next(self.replay, None)
        if call is None or call.name != name:
            raise _UnlikeError(f"whether there is a {name}")
        if call.known != known:
            raise _UnlikeError(f"the argument, the shape or the mask of a {name}")
        return call.received

    def coin(self, p: Any) -> Array:
        return self._called("coin", np.asarray(p).tolist(), self.inner.coin(p))

    def client_coins(self, q: Any) -> Array:
        return self._called("coin", np.asarray(q).tolist(), self.inner.client_coins(q))

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        return self._called("choice of owners", s, self.inner.ownership(s, cohort), cohort)

    def cohort(self, m: int) -> Array:
        self.members = self._called("cohort", m, self.inner.cohort(m))
        return self.members

    def _admit(self, senders: Array) -> None:
        """Count who sends without being in the cohort."""
        self.strangers += int((senders & ~np.asarray(self.members)).sum())
        self.senders = self.senders | np.any(senders, axis=1, keepdims=True)

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        compressor, (n, d, runs) = self.inner.compressor, v.shape
        uniforms = np.zeros((1 if compressor.shared else n, compressor.uniforms(d), runs))
        payload = compressor.layout(d).encode(compressor.message(v, uniforms))
        senders = np.broadcast_to(True if cohort is None else cohort, (n, 1, runs))
        self._admit(senders)
        self.most += int(senders.sum()) * 8 * payload.shape[1]
        self.least += int(senders.sum()) * max(0, 8 * payload.shape[1] - 7)
        self._positions(cohort, n)
        return self._called("message", v, self.inner.uplink(v, cohort), cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        entries = np.broadcast_to(True if mask is None else mask, v.shape)
        self._admit(entries)
        bits = 32 * int(entries.sum())
        self.most, self.least = self.most + bits, self.least + bits
        self._positions(mask, v.shape[0])
        return self._called("message", v, self.inner.send(v, mask), mask)

    def _positions(self, mask: Array | None, senders: int) -> None:
        """Weigh the positions of a mask that depends on data, from every sender."""
        if mask is not None and not is_common(mask):
            for row in np.broadcast_to(mask, (senders, *mask.shape[1:])):
                size = encode_positions(row[:, 0]).size
                self.most, self.least = self.most + 8 * size, self.least + 8 * size - 7

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        shape = (self.inner.n, *v.shape[1:])
        served = np.broadcast_to(True if mask is None else mask, shape)
        self.down += 32 * int(served.sum())
        self.unpaid += int(served.any(axis=1).sum() < self.senders.sum())
        self.senders = np.zeros((shape[0], 1, 1), dtype=bool)
        if mask is not None:
            each = self.inner.positions(mask)
            self.down += int(np.broadcast_to(each, (self.inner.n, 1)).sum())
        return self._called("broadcast", v, self.inner.broadcast(v, mask), mask)

    def downlink(self, v: Array) -> Array:
        compressor, d = downward(self.inner.compressor), v.shape[1]
        layout, uniforms = compressor.layout(d), np.zeros((1, compressor.uniforms(d), 1))
        layout.encode(compressor.message(v, uniforms))
        self.down += self.inner.n * layout.bits
        return self._called("broadcast", v, self.inner.downlink(v))


class _Cohorts(Wrapped):
    """A channel of which it is known who takes part in a round."""

    def __init__(self, inner: Channel) -> None:
        super().__init__(inner)
        self.drawn, self.least = np.zeros((inner.n, 1, 1), dtype=bool), 0

    def cohort(self, m: int) -> Array:
        mask = self.inner.cohort(m)
        self.drawn, self.least = self.drawn | mask, min(m, self.least or m)
        return mask


class _OfSome(Wrapped):
    """Gradients of some clients; those of the others may be changed."""

    def __init__(self, inner: Oracle, taking_part: Iterator[Array] | None) -> None:
        super().__init__(inner)
        self.calls, self.taking_part, self.fewest = 0, taking_part, inner.n

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        g = self.inner.grad(x, active=active, sample=sample)
        if isinstance(active, int) and active < self.inner.n:
            self.calls, self.fewest = self.calls + 1, min(active, self.fewest)
            active = None if self.taking_part is None else next(self.taking_part)
        if self.taking_part is None or active is None or isinstance(active, int):
            return g
        return np.where(active, g, g + 1 + np.abs(g))


class _Counter(Wrapped):
    """Gradients of one run, counted by themselves."""

    inner: Oracle

    def __init__(self, inner: Oracle) -> None:
        super().__init__(inner)
        self.counted = 0

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        solved: Any = self.inner.problem
        rows = 1
        if hasattr(solved.noise, "b"):  # of rows, or of examples of a network
            own = solved.rows.shape[1] if isinstance(solved.noise, MiniBatch) else solved.m
            exact = sample is None and not self.inner.always_new
            rows = own if exact else solved.noise.b
        if not isinstance(active, int):
            mask = np.broadcast_to(True if active is None else active, (solved.n, 1, 1))
            active = int(mask.sum())
        self.counted += rows * active
        return self.inner.grad(x, active=active, sample=sample)
