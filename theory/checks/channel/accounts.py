"""Checks that the ledger counts the bits sent, and that the bytes decode to what is received."""

from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.mini_batch import MiniBatch
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.method import Every
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.checks.channel.walk import Wrapped, difference, size, with_pace
from certibit.theory.verdict import Verdict, worst_of

_PACE = Every(5)
"""Local steps between the rounds that are weighed."""


def accounts(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check the ledger against the bytes of the messages, and that the server answers.

    Sent on the wire, the run must agree with the simulation within 32-bit rounding, and clients
    outside the cohort that was drawn send nothing. The value is the number of bits and gradients by
    which the ledger is wrong, plus the number of other errors.
    """
    channel, oracle = simulated_world(experiment, [seed])
    scales, counter = _Scales(with_pace(channel, _PACE)), _Counter(oracle)
    state = _rounds(experiment, counter, scales)
    ledger = channel.ledger
    up, gradients = int(ledger.uplink_bits[0]), int(ledger.gradients[0])
    off = max(0, scales.least - up, up - scales.most)
    down, silent = int(ledger.downlink_bits[0]), scales.down == 0
    wired, wired_oracle = simulated_world(experiment, [seed], wire=True)
    received = _rounds(experiment, wired_oracle, with_pace(wired, _PACE))
    agrees = difference(received, state) <= 1e-4 * (1 + size(state))
    agrees = agrees and np.array_equal(wired.ledger.uplink_bits, ledger.uplink_bits)
    found = [
        (off, f"{up} bits up are counted, and the messages have {scales.least} to {scales.most}"),
        (abs(down - scales.down), f"{down} bits down are counted, and {scales.down} are broadcast"),
        (abs(gradients - counter.counted),
         f"{gradients} gradients are counted, and {counter.counted} are asked for"),
        (scales.strangers, f"{scales.strangers} messages come from outside the cohort"),
        (silent, "the server answers nothing: communicate must broadcast what the clients use"),
        (not agrees, "a run whose messages are sent as bytes ends in another state"),
    ]  # fmt: skip
    _, what = worst_of(found)
    advice = f"In three rounds {what}: look at what communicate sends, at masks and cohorts."
    return Verdict("bits counted are bits sent", float(sum(x for x, _ in found)), 0.0, "", advice)


def _rounds(experiment: ConvexExperiment, oracle: Any, channel: Any) -> Any:
    """Return the state after three rounds."""
    method = experiment.method
    state = method.start(channel.template, oracle, channel)
    for iteration in range(1, 3 * _PACE.iterations + 1):
        state, _ = advance(method, state, oracle, channel, iteration)
    return state


class _Scales(Wrapped):
    """A channel of one run that weighs what is sent by itself: bits from the lengths in bytes."""

    inner: Channel

    def __init__(self, inner: Channel) -> None:
        super().__init__(inner)
        self.least = self.most = self.down = self.strangers = 0
        self.members: Array = True

    def cohort(self, m: int) -> Array:
        self.members = self.inner.cohort(m)
        return self.members

    def _admit(self, senders: Array) -> None:
        """Count who sends without being in the cohort."""
        self.strangers += int((senders & ~np.asarray(self.members)).sum())

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        compressor, (n, d, runs) = self.inner.compressor, v.shape
        uniforms = np.zeros((1 if compressor.shared else n, compressor.uniforms(d), runs))
        payload = compressor.layout(d).encode(compressor.message(v, uniforms))
        senders = np.broadcast_to(True if cohort is None else cohort, (n, 1, runs))
        self._admit(senders)
        self.most += int(senders.sum()) * 8 * payload.shape[1]
        self.least += int(senders.sum()) * max(0, 8 * payload.shape[1] - 7)
        return self.inner.uplink(v, cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        entries = np.broadcast_to(True if mask is None else mask, v.shape)
        self._admit(entries)
        bits = 32 * int(entries.sum())
        self.most, self.least = self.most + bits, self.least + bits
        return self.inner.send(v, mask)

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        shape = (self.inner.n, *v.shape[1:])
        self.down += 32 * int(np.broadcast_to(True if mask is None else mask, shape).sum())
        return self.inner.broadcast(v, mask)

    def downlink(self, v: Array) -> Array:
        compressor, d = downward(self.inner.compressor), v.shape[1]
        layout, uniforms = compressor.layout(d), np.zeros((1, compressor.uniforms(d), 1))
        layout.encode(compressor.message(v, uniforms))
        self.down += self.inner.n * layout.bits
        return self.inner.downlink(v)


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
