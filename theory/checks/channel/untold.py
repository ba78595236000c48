"""Checks that a client uses only its own data and vectors that it received from the server."""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.method import Every
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.iteration import advance, simulated_world
from certibit.theory.checks.channel.walk import Wrapped, with_pace
from certibit.theory.verdict import Verdict, worst_of

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
    moved = [_Events(experiment, seed, place).values for place in range(len(right.moves))]
    changes = np.array(moved).T - np.array(right.values)[:, None]
    alike = {name: np.array(right.names) == name for name in right.names}
    for same in alike.values():
        rounding = _ROUNDING * np.max(np.abs(np.array(right.values)[same]))
        changes[same] = np.where(np.abs(changes[same]) <= rounding, 0.0, changes[same])
    sizes = np.linalg.norm(changes := changes / np.array(right.moves), axis=1)
    largest = {name: max(sizes[same]) for name, same in alike.items()}
    found, told = [(0.0, "")], np.zeros((0, len(right.moves)))
    for what, change, size in zip(right.names, changes, sizes, strict=True):
        if what and size:
            found.append((_beside(change / largest[what], told), what))
        elif size:
            told = np.concatenate([told, change[None] / size])
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
