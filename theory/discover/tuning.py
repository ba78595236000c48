"""Constants of a sentence: the best on quadratics first, then the best certified ones.

Both are found by the simplex method of Nelder and Mead on a logarithmic scale.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.potential_family import Family
from bitbound.theory.certificates.potential_search import best_start
from bitbound.theory.discover.grammar import Sentence
from bitbound.theory.discover.method_file import method_class
from bitbound.theory.discover.task import Task

Vector = NDArray[np.float64]

DRAWS, STARTS = 24, 2
"""Constants that are drawn for a sentence, and how many of them are improved."""

MOST_SCREENED = 60
"""Evaluations on quadratics for each free constant and start."""

NOT_CONVERGENT = 100.0
"""The logarithm of the cost from where on a method does not converge."""

SWEEPS, ENOUGH = 12, 1e-3
"""How often a potential is improved at most, and the relative gain at which this ends."""

RETREATS = 8
"""How often the step size is halved until there is a certificate."""


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
        1 - factor: on quadratics a bound from above, or certified.
    cost : float
        Bits per digit at this decrease.
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
    """Return the best constants on quadratics; None if the method converges with none drawn."""
    screen = task.screen(one)

    def cost(x: Vector) -> float:
        values = _values(one, x)
        method = made(one, values, task.kappa)
        with np.errstate(all="ignore"):
            steps = screen.steps(method)
            factor = math.inf if steps is None else steps.factor()
        if factor >= 1:
            return NOT_CONVERGENT + min(math.log(factor), NOT_CONVERGENT)
        return math.log(task.cost(one, method, 1 - factor))

    drawn = [_drawn(one, rng, task.kappa) for _ in range(DRAWS)]
    if screen.steps(made(one, _values(one, drawn[0]), task.kappa)) is None:
        return None
    starts = sorted((cost(x), tuple(x)) for x in drawn)[:STARTS]
    if starts[0][0] >= NOT_CONVERGENT:
        return None
    most = MOST_SCREENED * len(drawn[0])
    x = min((_simplex(cost, np.array(x), most) for _, x in starts), key=cost)
    values = _values(one, x)
    steps = screen.steps(made(one, values, task.kappa))
    if steps is None:
        return None
    decrease = 1 - steps.factor()
    found = task.cost(one, made(one, values, task.kappa), decrease)
    return Candidate(one, tuple(values.tolist()), decrease, found)


def tuned(start: Candidate, task: Task, certificates: int) -> Candidate | None:
    """Return the best certified constants near given ones, by so many certificates at most.

    The solver's word is taken for them; None if nothing is certified.
    """
    one, left = start.sentence, certificates
    weights: tuple[float, ...] | None = None
    best: tuple[float, float, Vector] | None = None

    def cost(x: Vector) -> float:
        nonlocal left, weights, best
        values = _values(one, x)
        if left == 0:
            return NOT_CONVERGENT
        left -= 1
        method = made(one, values, task.kappa)
        decrease, found = certified_decrease(one, method, task, weights)
        if not decrease > 0:
            return NOT_CONVERGENT
        value = math.log(task.cost(one, method, decrease))
        if best is None or value < best[0]:
            best, weights = (value, decrease, values), found
        if best[0] <= math.log(start.cost) + ENOUGH:  # no certificate can promise more
            left = 0
        return value

    x = np.log(np.array(start.values))
    for _ in range(RETREATS):
        if cost(x) < NOT_CONVERGENT or not left:
            break
        x[0] -= math.log(2)
    if best is None:
        return None
    if left:
        _simplex(cost, x, left)
    value, decrease, values = best
    return Candidate(one, tuple(values.tolist()), decrease, math.exp(value))


def certified_decrease(
    one: Sentence, method: Method, task: Task, weights: tuple[float, ...] | None = None
) -> tuple[float, tuple[float, ...] | None]:
    """Return the decrease of the best quadratic potential by the solver's word, and its weights.

    From weights of a potential, those of a neighbour, this takes a few programmes.
    """
    noisy = "unbiased" in (one.up, one.down)
    try:
        family = Family.of(method, task.functions(one), gradients=not (noisy or one.local))
    except Refusal:
        return -math.inf, None
    try:
        low, best = (family.decrease(weights), weights) if weights else best_start(family)
    except Refusal:
        return -math.inf, None
    family = replace(family, unit=best)
    for _ in range(SWEEPS):
        before = low
        with suppress(Refusal):
            better = family.roomier(best, max(low, 0.0))
            value = family.decrease(better)
            if value > low:
                low, best = value, better
        if low - before <= ENOUGH * abs(low):
            break
    return low, best


def _simplex(cost: Callable[[Vector], float], x: Vector, most: int) -> Vector:
    simplex = x + 0.25 * np.eye(len(x) + 1, len(x), k=-1)
    options = {"maxfev": most, "xatol": 1e-3, "fatol": 1e-4, "initial_simplex": simplex}
    found: Vector = scipy.optimize.minimize(cost, x, method="Nelder-Mead", options=options).x
    return found


def _drawn(one: Sentence, rng: np.random.Generator, kappa: float) -> Vector:
    """Draw logarithms of constants, log-uniformly."""
    wide = {"gamma": (0.02, 2.0), "p": (0.5 / kappa**0.5, 1.0)}
    spans = [wide.get(name, (0.05, 1.0)) for name in one.constants]
    return np.array([rng.uniform(*np.log(span)) for span in spans])


def _values(one: Sentence, x: Vector) -> Vector:
    most = [1.0 if name in {"p", "eta"} else math.inf for name in one.constants]
    values: Vector = np.minimum(np.exp(np.clip(x, -30.0, 30.0)), most)
    return values
