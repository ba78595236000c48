"""Constants of a sentence: the best on quadratics first, then the best certified ones.

Both are found by the simplex method of Nelder and Mead on a logarithmic scale.
"""

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.discover.grammar import Sentence
from certibit.theory.discover.method_file import method_class
from certibit.theory.discover.screen import Screen
from certibit.theory.discover.task import ENOUGH, GENTLE_KAPPA, Task

Vector = NDArray[np.float64]

DRAWS, STARTS = 48, 2
"""Number of random choices of constants for a sentence, and of those that are improved."""

MOST_SCREENED = 40
"""Evaluations on quadratics for each free constant and start."""

NONE = 1 - 1e-10
"""A factor above this may be below 1 by rounding only."""

NOT_CONVERGENT = 100.0
"""A logarithm of the cost that says that a method does not converge."""

RETREATS = ((1.0, 1.0), (1.0, 0.5), (0.5, 1.0), (1.0, 0.2), (0.5, 0.5), (0.5, 0.2), (0.25, 0.25))
"""Initial multipliers of the step size and of the relaxations; the search on certificates starts
from the best of them."""

FURTHER_RETREATS = ((0.125, 1.0), (0.0625, 1.0), (0.03125, 1.0))
"""Further multipliers, if none of these is certified. The larger kappa is, the smaller are the step
sizes at which local steps and compression both ways are certified, relative to the best ones on
quadratics."""

UNRELAXED = {"gamma", "p", "tau", "beta"}
"""The constants that are no relaxations."""


@dataclass(frozen=True)
class Candidate:
    """A sentence with constants.

    Attributes
    ----------
    sentence : Sentence
        Its structure.
    values : tuple of float
        Its free constants; the step size in units of 1/L.
    decrease : float
        The decrease of an iteration, 1 - factor or c: an upper bound from quadratics, or certified.
    cost : float
        The cost at this decrease in units of the task, such as bits per digit.
    """

    sentence: Sentence
    values: tuple[float, ...]
    decrease: float
    cost: float

    def method(self, L: float) -> Method:
        """Return the method for L-smooth functions."""
        return made(self.sentence, np.array(self.values), L)


def made(one: Sentence, values: Vector, L: float) -> Method:
    """Return the method with given constants."""
    gamma, *others = (float(value) for value in values)
    return method_class(one)(gamma / L, *others)


def screened(one: Sentence, task: Task, rng: np.random.Generator) -> Candidate | None:
    """Return the best constants on quadratics; None if the method converges with none of them.

    A structure that does not converge on well-conditioned quadratics with small compression errors
    is discarded. The constants that are found there are among the starting points of the search.
    """
    gentle = _Screening(one, task, task.gentle(one), GENTLE_KAPPA)
    drawn = [_drawn(one, rng, task) for _ in range(DRAWS)]
    if gentle.seen(drawn[0])[0] is None:
        return None
    converging = gentle.best(drawn)
    if not converging:
        return None
    hard = _Screening(one, task, task.screen(one), task.smoothness)
    most = MOST_SCREENED * len(drawn[0])
    starts = hard.best([*drawn, *converging])
    if not starts:
        starts = hard.best([_simplex(hard.cost, converging[0], most // 3)])
    if not starts:
        return None
    found = min((_simplex(hard.cost, x, most) for x in starts), key=hard.cost)
    (_, decrease), cost = hard.seen(found), hard.cost(found)
    if not decrease > 0:
        return None
    return Candidate(one, tuple(_values(one, found).tolist()), decrease, math.exp(cost))


@dataclass(frozen=True, eq=False)
class _Screening:
    """The cost of a sentence on quadratics, by the logarithms of its constants."""

    sentence: Sentence
    task: Task
    screen: Screen
    L: float

    def seen(self, x: Vector) -> tuple[float | None, float]:
        """Return the factor of the second moments, and an upper bound on the decrease.

        The factor is None if the method has no fixed point; the bound is 0 if it does not converge.
        """
        method = made(self.sentence, _values(self.sentence, x), self.L)
        with np.errstate(all="ignore"):
            steps = self.screen.steps(method)
            if steps is None:
                return None, 0.0
            factor = steps.factor()
            return factor, self.task.attained(self.screen, method, steps) if factor < NONE else 0.0

    def cost(self, x: Vector) -> float:
        """Return the logarithm of the cost."""
        factor, decrease = self.seen(x)
        if not decrease > 0:
            return NOT_CONVERGENT + min(math.log(factor or math.inf), NOT_CONVERGENT)
        method = made(self.sentence, _values(self.sentence, x), self.L)
        return math.log(self.task.cost(self.sentence, method, decrease))

    def best(self, tried: Sequence[Vector]) -> list[Vector]:
        """Return the constants with the lowest costs, of those that converge."""
        costs = [(self.cost(x), place) for place, x in enumerate(tried)]
        return [tried[place] for cost, place in sorted(costs)[:STARTS] if cost < NOT_CONVERGENT]


def tuned(start: Candidate, task: Task, certificates: int) -> Candidate | None:
    """Return the best certified constants near given ones, with a limited number of certificates.

    The factors are those of the solver, not yet proved; None if nothing is certified.
    """
    one, left = start.sentence, certificates
    best: tuple[float, float, Vector] | None = None

    def cost(x: Vector) -> float:
        nonlocal left, best
        values = _values(one, x)
        if left == 0:
            return NOT_CONVERGENT
        left -= 1
        method = made(one, values, task.smoothness)
        decrease = certified_decrease(one, method, task)
        if not decrease > 0:
            return NOT_CONVERGENT
        value = math.log(task.cost(one, method, decrease))
        if best is None or value < best[0]:
            best = value, decrease, values
        if task.bounded and best[0] <= math.log(start.cost) + ENOUGH:
            left = 0  # no certificate can promise more
        return value

    relaxed = np.array([name not in UNRELAXED for name in one.constants])
    for step, relaxation in (*RETREATS, *FURTHER_RETREATS):
        if best is not None and (step, relaxation) in FURTHER_RETREATS:
            break
        x = np.log(np.array(start.values)) + math.log(relaxation) * relaxed
        x[0] += math.log(step)
        if left:
            cost(x)
    if best is None:
        return None
    if left:
        _simplex(cost, np.log(best[2]), left)
    value, decrease, values = best
    return Candidate(one, tuple(values.tolist()), decrease, math.exp(value))


def certified_decrease(one: Sentence, method: Method, task: Task) -> float:
    """Return the decrease of the best quadratic potential; minus infinity if there is none."""
    noisy = "unbiased" in (one.up, one.down)
    with suppress(Refusal):
        return task.certified(method, task.functions(one), gradients=not (noisy or one.local))
    return -math.inf


def _simplex(cost: Callable[[Vector], float], x: Vector, most: int) -> Vector:
    simplex = x + 0.25 * np.eye(len(x) + 1, len(x), k=-1)
    options: Any = {"maxfev": most, "xatol": 1e-3, "fatol": 1e-4, "initial_simplex": simplex}
    found: Vector = scipy.optimize.minimize(cost, x, method="Nelder-Mead", options=options).x
    return found


def _drawn(one: Sentence, rng: np.random.Generator, task: Task) -> Vector:
    """Draw logarithms of constants; larger errors of messages make some constants smaller."""
    wide = {"gamma": (0.02, 2.0), "p": (task.rarest, 1.0)}
    usual = (0.2 / (1 + task.error(one.up) ** 2 + task.error(one.down) ** 2), 1.0)
    return np.array([rng.uniform(*np.log(wide.get(name, usual))) for name in one.constants])


def _values(one: Sentence, x: Vector) -> Vector:
    most = [1.0 if name in {"p", "eta"} else math.inf for name in one.constants]
    values: Vector = np.minimum(np.exp(np.clip(x, -30.0, 30.0)), most)
    return values
