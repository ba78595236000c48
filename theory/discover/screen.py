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
from certibit.theory.worlds.fixed_points import AboutModel

AT_REST = 1e-9
"""How far a step may move the solution, which is of size 1."""


@dataclass(frozen=True, eq=False)
class Steps:
    """The linear maps of one step in every case.

    Attributes
    ----------
    alone : (cases, N, N)
        The map of an iteration without communication.
    together : (cases, outcomes, N, N)
        The maps of an iteration with communication.
    p : float
        The probability of a round.
    odds : (cases, outcomes)
        The probabilities of the outcomes.
    kernel : (cases, N, N')
        An orthonormal basis of the deviations that violate no invariant.
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
        base, back = self.kernel, np.swapaxes(self.kernel, -1, -2)
        alone = back @ self.alone @ base
        together = back[..., None, :, :] @ self.together @ base[..., None, :, :]
        size = base.shape[-1]
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

    def squares(self, start: Matrix, row: Matrix) -> Matrix:
        """Return sum_t E(row . s_t)^2 over t >= 0 from a deviation, (cases,); s_t must converge.

        Parameters
        ----------
        start : (cases, N)
            The deviation s_0, which violates no invariant.
        row : (N,)
            A linear form of deviations.
        """
        back = np.swapaxes(self.kernel, -1, -2)
        start, form = (back @ x[..., None] for x in (start, row))
        places = (..., *np.tril_indices(back.shape[-2]))
        second, weights = ((x @ np.swapaxes(x, -1, -2)) for x in (start, form))
        weights = 2 * weights - weights * np.eye(back.shape[-2])
        moments = self.second_moments()
        total = np.linalg.solve(np.eye(moments.shape[-1]) - moments, second[places][..., None])
        return np.sum(weights[places] * total[..., 0], axis=-1)


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
        The curvatures of the f_i, and the factors of the clients' messages.
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
        one = self._first_outcomes._world(cases, size + 1)
        kept = method.invariants(_deviated(star, size, cases), one) or ()
        rows = [x[:, 0].reshape(len(x), -1, size + 1) for x in kept]
        kernel = _kernel([x[..., 1:] - x[..., :1] for x in rows], size)
        return Steps(maps[0][:, 0], maps[1], p, self.odds, kernel)

    def descent(self, method: Method, steps: Steps, convex: bool = False) -> float:
        """Return the largest c of any descent on these quadratics, from a state at rest.

        A run that starts at rest about x_0 has c sum_t E|grad f(x_t)|^2 <= f(x_0) - f*; for convex
        functions c sum_t E(f(x_t) - f*) <= |x_0 - x*|^2. ``steps`` are those of the method, and
        must converge.
        """
        first = self._first_outcomes
        world: Any = first._world(len(self.odds))
        star, curvature = method.fixed_point(world), world.curvature.mean(axis=(0, 1))
        runs = len(curvature)
        rest = _flat(method.fixed_point(AboutModel(world, world.x_star + 1.0)), runs)
        size = _size(method.fixed_point(first._world(1)))
        moved = method.model(_deviated(method.fixed_point(first._world(1)), size, 1))[0, 0]
        total = steps.squares((rest - _flat(star, runs)).T, moved[1:] - moved[0])
        spent = curvature / 2 if convex else 2 * curvature
        return float(1 / np.max(spent * total))

    @property
    def _first_outcomes(self) -> "Screen":
        """The same cases with one outcome each."""
        curvature, up, down, odds = (
            x[..., :1] for x in (self.curvature, self.up, self.down, self.odds)
        )
        return Screen(curvature, up, down, odds)

    def _world(self, first: int, times: int = 1) -> QuadraticBatch:
        """Return the batch of the first choices, each repeated."""
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
    """Return the laws of the compressors that are tried for so many messages.

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
    """Return an orthonormal basis of what rows (k, cases, N) map to 0, (cases, N, N')."""
    if not rows:
        return np.eye(size)[None]
    _, values, directions = np.linalg.svd(np.moveaxis(np.concatenate(rows), 1, 0))
    kernel: Matrix = np.swapaxes(directions[:, int(np.sum(values[0] > AT_REST)) :], 1, 2)
    return kernel
