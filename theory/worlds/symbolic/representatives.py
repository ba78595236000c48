"""One outcome on numbers for any n, with a few representative clients in each cell.

Cohorts and masks leave the clients in a few cells. The first and the second of each cell, and one
that stands for all others, are on functions of their own; sums count it as often as these are.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.solvers.backend import mean
from certibit.solvers.method import ExactGradients, Method, Slot
from certibit.solvers.simulation.iteration import theorem_step
from certibit.solvers.state import each
from certibit.theory.worlds.generic import FEATURES
from certibit.theory.worlds.linearity import OneStepSolves
from certibit.theory.worlds.opaque.clients import ClientArray, ClientRows, rows_of
from certibit.theory.worlds.opaque.letters import FEATURES as UNKNOWN
from certibit.theory.worlds.orbits import Orbit, OrbitChannel, cells_of_kinds

OUTCOMES = 4
"""How many outcomes are tried, spread over all."""


@dataclass(frozen=True, eq=False)
class Representatives:
    """Unlike functions with grad f_i(x) = L (v_i + B_i (x - x*)), and the messages of one outcome.

    Parameters
    ----------
    method : Method
        What is run.
    orbit : Orbit
        The outcome.
    counts : tuple of int
        How many clients there are of each kind.
    L : float
        The size of gradients.
    """

    method: Method
    orbit: Orbit
    counts: tuple[int, ...]
    L: float = 1.0

    @classmethod
    def some(
        cls, method: Method, found: Sequence[Orbit], counts: Sequence[int], L: float = 1.0
    ) -> Iterator[Self]:
        """Yield the worlds of a few outcomes."""
        apart = max(1, -(-len(found) // OUTCOMES))
        return (cls(method, orbit, tuple(counts), L) for orbit in found[::apart])

    @cached_property
    def layout(self) -> ClientRows:
        """Which client each row stands for."""
        return ClientRows.of(self.orbit.cells, cells_of_kinds(self.counts))

    @cached_property
    def problem(self) -> "_Functions":
        """The functions."""
        rows, rng = len(self.layout.counts), np.random.default_rng(1)
        v = rng.standard_normal((rows, FEATURES, 1)) * (not self.method.needs.shared_minimiser)
        if not self.method.needs.composite:
            v -= np.average(v, axis=0, weights=self.layout.counts)
        B = 0.5 * np.eye(FEATURES) + rng.uniform(-0.1, 0.1, (rows, FEATURES, FEATURES))
        x_star = rng.standard_normal((1, FEATURES, 1))
        return _Functions(self.layout, self.array(x_star), self.L * v, self.L * B)

    def array(self, rows: NDArray[Any]) -> Any:
        """Return the array of all clients that has these rows."""
        return self.layout.array(rows)

    def start(self) -> Any:
        """Return the first state of a method that does not see what it calculates with."""
        first = self.array(np.ones((1, FEATURES, 1)))
        return self._rows(self.method.start(first, self.problem, self._channel(0)))

    opaque_start = start

    def step(self, s: Any) -> Any:
        """Do one step, which does not see what it calculates with."""
        return self._step(s, self._channel(0))

    opaque_step = step

    def walk(self) -> Iterator[Any]:
        """Yield the states of a run from its start, with the same outcome in every step."""
        seed, s = 0, self.start()
        while True:
            yield s
            seed += 1
            s = self._step(s, self._channel(seed), most=np.inf)

    def _step(self, s: Any, channel: "_Channel", most: float = 2) -> Any:
        solved = OneStepSolves(self.problem, most)
        return self._rows(theorem_step(self.method, each(self.array, s), solved, channel))

    def _rows(self, s: Any) -> Any:
        return each(lambda x: rows_of(x, self.layout), s)

    def _channel(self, seed: int) -> "_Channel":
        return _Channel(self, seed)


@dataclass(frozen=True, eq=False)
class _Functions(ExactGradients):
    layout: ClientRows
    x_star: ClientArray
    v: NDArray[np.float64]
    B: NDArray[np.float64]

    @property
    def n(self) -> int:
        return self.layout.n

    @property
    def d(self) -> int:
        return UNKNOWN

    @property
    def grad_star(self) -> ClientArray:
        return ClientArray(self.v, self.layout)

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> ClientArray:
        return ClientArray(self.v + self.B @ rows_of(x - self.x_star, self.layout), self.layout)

    def grad_g(self, y: Array) -> Any:
        slope = np.abs(self.B).max()
        return slope * (y - self.x_star) - mean(self.grad_star)


class _Channel(OrbitChannel):
    """The messages of one outcome, each feature multiplied by a gain of its own."""

    def __init__(self, world: Representatives, seed: int) -> None:
        n, script = world.layout.n, world.orbit.script
        super().__init__(n, script, world.counts, degree=world.orbit.degree)
        self.world = world
        self.rng = np.random.default_rng(seed)

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        gains = self._gains(len(self.world.layout.counts))
        return self.send(self._times(gains, v), cohort)

    def downlink(self, v: Array) -> Array:
        return self._times(self._gains(1), v)

    def _times(self, gains: NDArray[np.float64], v: Array) -> ClientArray:
        return ClientArray(gains * rows_of(v, self.world.layout), self.world.layout)

    def _gains(self, rows: int) -> NDArray[np.float64]:
        return self.rng.uniform(0.5, 1.5, (rows, FEATURES, 1))
