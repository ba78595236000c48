"""All outcomes of one step on quadratics of one dimension, as the runs of one batch.

The method is run once on the solution and on all unit deviations from it, for every choice of
curvatures and every outcome of the compressors; each outcome is a linear map of the deviation. What
it does to second moments follows, and its spectral radius is a limit of every certificate: what is
1 or more here is not worth one. It takes a millisecond, where a certificate takes a second.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.solvers.method import Method, WithProbability
from bitbound.solvers.state import each
from bitbound.theory.discover.grammar import Kind

Matrix = NDArray[np.float64]

AT_REST = 1e-9
"""How far a step may move the solution, which is of size 1."""


@dataclass(frozen=True, eq=False)
class QuadraticBatch:
    """Quadratics f_i with curvatures, and linear compressors, one of each for every run.

    Attributes
    ----------
    curvature, up : (n, 1, R)
        Of the f_i, and what the messages of the clients are multiplied by.
    down : (1, 1, R)
        What the messages of the server are multiplied by.
    grad_star : (n, 1, 1) or (n, 1, R)
        The gradients at the solution, which is 0.
    """

    curvature: Matrix
    up: Matrix
    down: Matrix
    grad_star: Matrix
    d = 1

    @property
    def n(self) -> int:
        """Number of clients."""
        return len(self.curvature)

    @property
    def x_star(self) -> Matrix:
        """The solution, (1, 1, 1)."""
        return np.zeros((1, 1, 1))

    def grad(
        self, x: Array, active: Array | int | None = None, sample: int | str | None = None
    ) -> Array:
        """Gradients of all f_i at x."""
        return self.curvature * x + self.grad_star

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Multiply what is sent."""
        return self.up * v

    def downlink(self, v: Array) -> Array:
        """Multiply what is sent."""
        return self.down * v

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Return v."""
        return v

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Return v."""
        return v


@dataclass(frozen=True)
class Draw:
    """What messages may be multiplied by.

    Attributes
    ----------
    factors : tuple of tuples
        One for each outcome, with a factor for each message.
    odds : tuple of float
        The probabilities of the outcomes.
    """

    factors: tuple[tuple[float, ...], ...]
    odds: tuple[float, ...]

    @property
    def tags(self) -> tuple[float, ...]:
        """What tells messages apart: nothing where all outcomes are drawn."""
        return self.factors[0] if len(self.factors) == 1 else (0.0,) * len(self.factors[0])


@dataclass(frozen=True, eq=False)
class Screen:
    """Cases, each a choice of curvatures and of laws of the compressors, with all outcomes.

    Attributes
    ----------
    curvature, up : (n, cases, outcomes)
        Of the clients, and the factors of their messages.
    down : (1, cases, outcomes)
        The factors of the server's messages.
    odds : (cases, outcomes)
        The probabilities.
    """

    curvature: Matrix
    up: Matrix
    down: Matrix
    odds: Matrix

    @classmethod
    def of(
        cls,
        curvatures: Sequence[Sequence[float]],
        up: tuple[Kind | None, float],
        down: tuple[Kind | None, float],
    ) -> "Screen":
        """Return the cases for given curvatures and classes of compressors.

        A class is its kind and the relative error e of a message. Of cases that differ by the order
        of the clients, one is taken.
        """
        found: dict[Hashable, tuple[Sequence[float], list[tuple[Any, ...]]]] = {}
        for own, above, below in product(
            curvatures, _draws(*up, len(curvatures[0])), _draws(*down, 1)
        ):
            key = (
                tuple(sorted(zip(own, above.tags, strict=True))),
                len(above.odds),
                above.odds,
                below,
            )
            found.setdefault(
                key,
                (
                    own,
                    [
                        (a, b, p * q)
                        for a, p in zip(above.factors, above.odds, strict=True)
                        for b, q in zip(below.factors, below.odds, strict=True)
                    ],
                ),
            )
        most = max(len(outcomes) for _, outcomes in found.values())
        cases = [
            (own, [*outcomes, *[(*outcomes[0][:2], 0.0)] * (most - len(outcomes))])
            for own, outcomes in found.values()
        ]
        curvature = np.array([[own] * most for own, _ in cases])
        ups = np.array([[outcome[0] for outcome in outcomes] for _, outcomes in cases])
        downs = np.array([[outcome[1] for outcome in outcomes] for _, outcomes in cases])
        odds = np.array([[outcome[2] for outcome in outcomes] for _, outcomes in cases])
        return cls(*(np.moveaxis(x, 2, 0) for x in (curvature, ups, downs)), odds)

    @classmethod
    def extreme(
        cls, n: int, kappa: float, up: tuple[Kind | None, float], down: tuple[Kind | None, float]
    ) -> "Screen":
        """Return the cases where every curvature is 1 or kappa."""
        return cls.of([*product((1.0, kappa), repeat=n)], up, down)

    def steps(self, method: Method) -> "Steps | None":
        """Return the linear maps of one step; None if a step leaves the solution."""
        _, cases, outcomes = self.curvature.shape
        star = method.fixed_point(self._world(1))
        size = _size(star)
        world = self._world(cases * outcomes, size + 1)
        shape = size, cases, outcomes, size + 1
        batch = _deviated(star, size, cases * outcomes)
        alone = method.local_step(batch, world, world)
        together = method.communicate(alone, world, world)
        maps = []
        for after in (alone, together):
            flat = _flat(after, cases * outcomes * (size + 1)).reshape(shape)
            if np.max(np.abs(flat[..., 0] - _flat(star, 1)[:, :, None])) > AT_REST:
                return None
            maps.append(np.moveaxis(flat[..., 1:] - flat[..., :1], 0, 2))
        schedule = method.schedule
        p = schedule.p if isinstance(schedule, WithProbability) else 1.0
        kept = method.invariants(_deviated(star, size, 1), world) or ()
        rows = [x[:, 0, 1:] - x[:, 0, :1] for x in kept]
        return Steps(maps[0][:, 0], maps[1], p, self.odds, _kernel(rows, size))

    def _world(self, first: int, times: int = 1) -> QuadraticBatch:
        """Return the first so many choices, each so many times over."""
        n = len(self.curvature)
        return QuadraticBatch(
            *(
                np.repeat(x.reshape(len(x), 1, -1)[..., :first], times, axis=2)
                for x in (self.curvature, self.up, self.down)
            ),
            np.linspace(-1.0, 1.0, n)[:, None, None] if n > 1 else np.zeros((1, 1, 1)),
        )

    def case(self, number: int) -> "Screen":
        """Narrow to one choice of curvatures and compressors."""
        one = slice(number, number + 1)
        return Screen(self.curvature[:, one], self.up[:, one], self.down[:, one], self.odds[one])

    def run(self, method: Method, x: float, iterations: int) -> Matrix | None:
        """Return mean and second moment of the model after each iteration from x, (2 iterations,).

        They are those of the first case; None if a step leaves the solution.
        """
        steps = self.steps(method)
        if steps is None:
            return None
        world = self._world(1)
        star = method.fixed_point(world)
        moved = method.model(_deviated(star, _size(star), 1))[0, 0]
        model = moved[1:] - moved[0]
        start = method.start(np.full((1, 1, 1), x), world, world)
        mean = _flat(start, 1)[:, 0] - _flat(star, 1)[:, 0]
        second, found = np.outer(mean, mean), []
        for _ in range(iterations):
            mean, second = steps.moments(mean, second)
            found += [model @ mean, model @ second @ model]
        return np.array(found)


@dataclass(frozen=True, eq=False)
class Steps:
    """The linear maps of one step in every case.

    Attributes
    ----------
    alone : (cases, N, N)
        Without a round.
    together : (cases, outcomes, N, N)
        With a round.
    p : float
        The probability of a round.
    odds : (cases, outcomes)
        Those of the outcomes.
    kernel : (N, N')
        A basis of the deviations that violate no invariant.
    """

    alone: Matrix
    together: Matrix
    p: float
    odds: Matrix
    kernel: Matrix

    def moments(self, mean: Matrix, second: Matrix) -> tuple[Matrix, Matrix]:
        """Return mean and second moments after a step, in the first case."""
        alone, together, odds = self.alone[0], self.together[0], self.odds[0]
        mixed = np.einsum("o,oab,bc,odc->ad", odds, together, second, together)
        left = 1 - self.p
        return (
            left * alone @ mean + self.p * np.tensordot(odds, together, 1) @ mean,
            left * alone @ second @ alone.T + self.p * mixed,
        )

    def second_moments(self) -> Matrix:
        """Return the map of second moments, symmetric (N', N') matrices: (cases, K, K)."""
        base = self.kernel
        alone, together = base.T @ self.alone @ base, base.T @ self.together @ base
        size = base.shape[1]
        mixed = np.einsum("ko,koab,kocd->kacbd", self.p * self.odds, together, together)
        if self.p < 1:
            mixed = mixed + (1 - self.p) * np.einsum("kab,kcd->kacbd", alone, alone)
        rows, columns = np.tril_indices(size)
        mixed = mixed[:, rows, columns]
        both = mixed[:, :, rows, columns] + mixed[:, :, columns, rows]
        return np.where(rows == columns, both / 2, both)

    def factor(self) -> float:
        """Return the spectral radius of the map of second moments in the worst case."""
        moments = self.second_moments()
        if not np.isfinite(moments).all():
            return np.inf
        return float(np.abs(np.linalg.eigvals(moments)).max())


def _draws(kind: Kind | None, error: float, count: int) -> list[Draw]:
    """Return the laws that so many messages are tried with.

    An unbiased one is too long or too short by the error, at random. A contractive one is that, or
    always the same of both, or arrives as it is and otherwise not at all.
    """
    if kind is None:
        return [Draw(((1.0,) * count,), (1.0,))]
    signs = tuple(product((1 - error, 1 + error), repeat=count))
    random = Draw(signs, (1 / len(signs),) * len(signs))
    if kind == "unbiased":
        return [random]
    kept = tuple(product((0.0, 1.0), repeat=count))
    lost = error**2
    odds = tuple(float(np.prod([1 - lost if one else lost for one in some])) for some in kept)
    return [*(Draw((some,), (1.0,)) for some in signs), random, Draw(kept, odds)]


def _size(state: Any) -> int:
    return sum(getattr(state, field.name).size for field in fields(state))


def _deviated(star: Any, size: int, times: int) -> Any:
    """Return the star and the star plus each unit vector, so many times over."""
    numbers = iter(np.split(np.eye(size, size + 1, 1), _ends(star)))

    def deviate(x: Array) -> Array:
        return np.tile(x + next(numbers)[:, None, :], times)

    return each(deviate, star)


def _ends(state: Any) -> list[int]:
    sizes = [getattr(state, field.name).size for field in fields(state)]
    return np.cumsum(sizes)[:-1].tolist()


def _flat(state: Any, runs: int) -> Matrix:
    arrays = [getattr(state, field.name) for field in fields(state)]
    return np.concatenate([np.broadcast_to(x[:, 0], (len(x), runs)) for x in arrays])


def _kernel(rows: list[Matrix], size: int) -> Matrix:
    if not rows:
        return np.eye(size)
    _, values, directions = np.linalg.svd(np.concatenate(rows))
    kernel: Matrix = directions[int(np.sum(values > AT_REST)) :].T
    return kernel
