"""Checks that the server uses only vectors that were sent to it, and clients what they received."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.backend import masked
from certibit.solvers.compressors.base import Identity
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
from certibit.theory.verdict import Verdict, worst_of


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


_ITERATIONS, _MOST_CLIENTS = 4, 10
_MOVED = 1e-5
_LEFT = 1e-4
"""Largest relative change that counts as none: the perturbations are not infinitesimal."""
_ROUNDING = 1e-11


def untold(experiment: ConvexExperiment, seed: int = 0) -> Verdict | None:
    """Check that points and messages of a client depend only on vectors that it received.

    Every message of the other clients is moved a little, one at a time, on a problem of one
    feature, with messages sent whole. The changes of the first client's points and messages must be
    linear combinations of the changes of the vectors that the server sent to it until then. None
    for a single client, or too many.
    """
    n = experiment.n
    for clients in dict.fromkeys((min(n, 3), n)):
        if 1 < clients <= _MOST_CLIENTS:
            with suppress(Exception):  # such as parameters for another number of clients
                return _untold(_of_one_feature(experiment, clients), seed)
    return None


def _of_one_feature(experiment: ConvexExperiment, n: int) -> ConvexExperiment:
    """Return the method on n parabolas whose curvatures differ, with messages sent whole."""
    constants = experiment.problem.plain.constants
    curvatures = np.geomspace(constants.mu, constants.L, n).reshape(n, 1, 1)
    problem = Quadratic.from_arrays(curvatures, np.arange(1.0, n + 1).reshape(n, 1))
    view = problem.composite if experiment.method.needs.composite else problem
    return replace(experiment, problem=view, compressor=Identity())


def _untold(experiment: ConvexExperiment, seed: int) -> Verdict:
    right = _Events(experiment, seed)
    others = [_Events(experiment, seed, place).values for place in range(len(right.moves))]
    changes = np.array(others).T - np.array(right.values)[:, None]
    alike = {name: np.array(right.names) == name for name in right.names}
    for same in alike.values():
        rounding = _ROUNDING * np.max(np.abs(np.array(right.values)[same]))
        changes[same] = np.where(np.abs(changes[same]) <= rounding, 0.0, changes[same])
    sizes = np.linalg.norm(changes := changes / np.array(right.moves), axis=1)
    largest = {name: max(sizes[same]) for name, same in alike.items()}
    found, told = [(0.0, "")], np.zeros((0, len(right.moves)))
    for what, change, moved in zip(right.names, changes, sizes, strict=True):
        if what and moved:
            found.append((_beside(change / largest[what], told), what))
        elif moved:
            told = np.concatenate([told, change[None] / moved])
    worst, what = worst_of(found)
    advice = (
        f"{what} depends on messages of other clients that the server has not sent to it: look for "
        "a mean or total that goes through no broadcast or downlink."
    )
    return Verdict("clients use only what they received", worst, _LEFT, advice=advice)


def _beside(vector: NDArray[Any], rows: NDArray[Any]) -> float:
    """Return how far a vector is from the span of some rows."""
    _, sizes, basis = np.linalg.svd(rows, full_matrices=False)
    basis = basis[sizes > _LEFT * _MOVED]
    return float(np.linalg.norm(vector - basis.T @ (basis @ vector)))


class _Events:
    """A few iterations: what the first client receives, and what it computes from it."""

    def __init__(self, experiment: ConvexExperiment, seed: int, moved: int = -1) -> None:
        self.names, self.values = list[str](), list[float]()
        self.moves, self.moved = list[float](), moved
        simulated, problem = simulated_world(experiment, [seed])
        channel, oracle = _Server(with_pace(simulated, Every()), self), _Client(problem, self)
        state = experiment.method.start(simulated.template, oracle, channel)
        for iteration in range(1, _ITERATIONS + 1):
            state, _ = advance(experiment.method, state, oracle, channel, iteration)

    def note(self, name: str, x: Array, mask: Array | None = None) -> None:
        """Note the number of the first client, unless a mask leaves it out."""
        if mask is None or bool(np.asarray(mask)[0].all()):
            self.names.append(name)
            self.values.append(float(np.asarray(x)[0, 0, 0]))

    def received(self, v: Array, mask: Array | None) -> Array:
        """Return messages as they arrive: one of the others may be moved, relative to its size."""
        changed = np.zeros(v.shape)
        size = _MOVED * float(np.max(np.abs(v))) or max(self.moves, default=_MOVED)
        for client in range(1, v.shape[0]):
            changed[client] = size * (len(self.moves) == self.moved)
            self.moves.append(size)
        return v + changed * (True if mask is None else np.asarray(mask))


class _Server(Wrapped):
    """A channel that records what the first client sends and receives."""

    def __init__(self, inner: Channel, events: _Events) -> None:
        super().__init__(inner)
        self.events = events

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        self.events.note("What a client sends", v, cohort)
        return self.events.received(self.inner.uplink(v, cohort), cohort)

    def send(self, v: Array, mask: Array | None = None) -> Array:
        self.events.note("What a client sends", v, mask)
        return self.events.received(self.inner.send(v, mask), mask)

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        told = self.inner.broadcast(v, mask)
        self.events.note("", told)  # who is left out is told when it takes part again
        return told

    def downlink(self, v: Array) -> Array:
        told = self.inner.downlink(v)
        self.events.note("", told)
        return told


class _Client(Wrapped):
    """Gradients of which the points of the first client are noted."""

    def __init__(self, inner: Any, events: _Events) -> None:
        super().__init__(inner)
        self.events = events

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        mask = None if active is None or isinstance(active, int) else active
        self.events.note("Where a client evaluates its gradient", x, mask)
        return self.inner.grad(x, active=active, sample=sample)
