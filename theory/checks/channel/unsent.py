"""Checks that the server uses only vectors that were sent to it."""

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.solvers.backend import masked
from certibit.solvers.method import Every
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.solvers.state import each
from certibit.theory.checks.channel.walk import (
    EXACT,
    RUNS,
    STEPS,
    Wrapped,
    difference,
    distance,
    size,
    walk,
    with_pace,
)
from certibit.theory.verdict import Verdict


def unsent(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that nothing passes from a client to the others or the server without a message.

    The gradients of the last client, and of its state what its messages do not tell, are changed
    while all messages that the server receives stay as they were: neither what the server and
    another client send nor what they hold may change. The server may also hold vectors that follow
    from the messages, such as shifts. None for a single client.
    """
    view = experiment.problem
    if view.n == 1:
        return None
    *_, (state, _, _) = walk(experiment, seed)
    generator = np.random.default_rng(seed)
    last = np.arange(view.n)[:, None, None] == view.n - 1
    noise, other = generator.standard_normal((2, view.n, view.d, RUNS)) * last
    known, earlier = _known_from_messages(experiment, other, seed)
    changed = replace(
        state,
        **{
            field.name: getattr(state, field.name) + noise
            for field in fields(state)
            if field.name not in known and getattr(state, field.name).shape[0] > 1
        },
    )
    tape = _Tape()
    after = []
    for start, secret in ((state, 0 * noise), (changed, other)):
        channel, oracle = simulated_world(experiment, range(seed, seed + RUNS))
        server = _Replay(with_pace(channel, Every()), tape.rewound())
        client = _Secret(oracle, secret)
        after.append(advance(experiment.method, start, client, server, STEPS + 1)[0])
    others = [each(lambda x: x if x.shape[0] == 1 else x[:-1], s) for s in after]
    worst = max(difference(*others), tape.difference, earlier)
    advice = (
        f"What the server or another client sends or holds changes by {worst:.3g} when only what "
        "one client did not send changes: look for a mean or total of something that went through "
        "no uplink or send."
    )
    return Verdict(
        "the server uses only what was sent", worst / (1 + size(state)), EXACT, advice=advice
    )


def _known_from_messages(
    experiment: ConvexExperiment, secret: Array, seed: int
) -> tuple[set[str], float]:
    """Return the fields of a client that stay as they were while its gradients are others.

    And what messages of others change by, from the start on.

    The messages that the server receives stay as they were too: what is the same then follows from
    them. This includes bool fields, which are not changed.
    """
    method, tape, states = experiment.method, _Tape(), []
    for added in (0 * secret, secret):
        channel, oracle = simulated_world(experiment, range(seed, seed + RUNS))
        server = _Replay(with_pace(channel, Every()), tape.rewound())
        client = _Secret(oracle, added)
        state = method.start(channel.template, client, server)
        for iteration in range(1, 4):
            state, _ = advance(method, state, client, server, iteration)
        states.append(state)
    first, second = states
    known = {
        field.name
        for field in fields(first)
        if (x := getattr(first, field.name)).dtype == bool
        or distance(x, getattr(second, field.name)) <= EXACT * (1 + size(first))
    }
    return known, tape.difference


class _Tape:
    """The messages of the server in a first pass, and the difference of the second from them."""

    def __init__(self) -> None:
        self.arrays: list[Array] = []
        self.difference = 0.0
        self.noted: Iterator[Array] | None = None
        self.passes = 0

    def rewound(self) -> "_Tape":
        """Begin the next pass."""
        self.noted = iter(self.arrays) if self.passes else None
        self.passes += 1
        return self

    def first(self, x: Array) -> Array:
        """Return x, or what stood here in the first pass."""
        if self.noted is not None:
            return next(self.noted)
        self.arrays.append(x)
        return x


class _Replay(Wrapped):
    """A channel with a tape: in the second pass what the server receives is that of the first."""

    def __init__(self, inner: Channel, tape: _Tape) -> None:
        super().__init__(inner)
        self.tape = tape

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        self._same((v if cohort is None else masked(cohort, v))[:-1])
        return self.tape.first(self.inner.uplink(v, cohort))

    def send(self, v: Array, mask: Array | None = None) -> Array:
        self._same((v if mask is None else masked(mask, v))[:-1])
        return self.tape.first(self.inner.send(v, mask))

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        return self._same(self.inner.broadcast(v, mask))

    def downlink(self, v: Array) -> Array:
        return self._same(self.inner.downlink(v))

    def _same(self, sent: Array) -> Array:
        """Note how far what others than the last client send is from that of the first pass."""
        kept = self.tape.first(sent)
        self.tape.difference = max(self.tape.difference, distance(sent, kept))
        return kept


class _Secret(Wrapped):
    """Gradients with something added."""

    def __init__(self, inner: Any, added: Array) -> None:
        super().__init__(inner)
        self.added = added

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        return self.inner.grad(x, active=active, sample=sample) + self.added
