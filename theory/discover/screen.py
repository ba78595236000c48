"""All outcomes of one step on quadratics of one dimension, as the runs of one batch.

The method is run once on the solution and on all unit deviations from it, for every choice of
curvatures and every outcome of the compressors; each outcome is a linear map of the deviation. The
spectral radius of the resulting map of second moments is a lower bound on every certified factor,
so methods with 1 or more are discarded. This takes a millisecond, a certificate a second.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.solvers.method import Method, WithProbability
from certibit.solvers.state import each
from certibit.theory.discover.grammar import Kind
from certibit.theory.discover.quadratic_batch import Matrix, QuadraticBatch
from certibit.theory.discover.second_moment_map import Steps

AT_REST = 1e-9
"""How far a step may move the solution, which is of size 1."""


@dataclass(frozen=True)
class Draw:
    """The possible factors of messages.

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
        """The marks by which messages are distinguished: nothing where all outcomes are drawn."""
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
        draws = product(curvatures, _draws(*up, len(curvatures[0])), _draws(*down, 1))
        for own, above, below in draws:
            clients = tuple(sorted(zip(own, above.tags, strict=True)))
            outcomes = [
                (a, b, p * q)
                for a, p in zip(above.factors, above.odds, strict=True)
                for b, q in zip(below.factors, below.odds, strict=True)
            ]
            found.setdefault((clients, above.odds, below), (own, outcomes))
        most = max(len(outcomes) for _, outcomes in found.values())
        cases = [
            (own, [*outcomes, *[(*outcomes[0][:2], 0.0)] * (most - len(outcomes))])
            for own, outcomes in found.values()
        ]
        curvature = np.array([[own] * most for own, _ in cases])
        ups = np.array([[outcome[0] for outcome in outcomes] for _, outcomes in cases])
        downs = np.array([[outcome[1] for outcome in outcomes] for _, outcomes in cases])
        odds = np.array([[outcome[2] for outcome in outcomes] for _, outcomes in cases])
        curvature, ups, downs = (np.moveaxis(x, 2, 0) for x in (curvature, ups, downs))
        return cls(curvature, ups, downs, odds)

    @classmethod
    def extreme(
        cls, n: int, kappa: float, up: tuple[Kind | None, float], down: tuple[Kind | None, float]
    ) -> "Screen":
        """Return the cases where every curvature is 1 or kappa."""
        return cls.of([*product((1.0, kappa), repeat=n)], up, down)

    def steps(self, method: Method) -> Steps | None:
        """Return the linear maps of one step; None if a step leaves the solution."""
        _, cases, outcomes = self.curvature.shape
        star = method.fixed_point(self._world(1))
        size = _size(star)
        world: Any = self._world(cases * outcomes, size + 1)
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
        curvature, up, down = (
            np.repeat(x.reshape(len(x), 1, -1)[..., :first], times, axis=2)
            for x in (self.curvature, self.up, self.down)
        )
        grad_star = np.linspace(-1.0, 1.0, n)[:, None, None] if n > 1 else np.zeros((1, 1, 1))
        return QuadraticBatch(curvature, up, down, grad_star)

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
        world: Any = self._world(1)
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


def _draws(kind: Kind | None, error: float, count: int) -> list[Draw]:
    """Return the laws that so many messages are tried with.

    Unbiased messages are multiplied by 1 + e or 1 - e at random, e being the relative error.
    Contractive messages are multiplied so, too, or always by one of these factors, or arrive
    unchanged with some probability and otherwise not at all.
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
    """Return the solution and the solution plus each unit vector, repeated."""
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
