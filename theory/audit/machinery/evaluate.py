"""Points of a space: sampled, evaluated in any arithmetic, improved, simplified."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.numbers import DIGITS, Array, Kind, array, number
from certibit.theory.audit.machinery.step import Cell, ProofStep, Space, Values, Variable

Point = dict[str, Any]
"""Values of the variables: arrays (*shape, points)."""


def evaluate(
    space: Space, cell: Cell, point: Point, constants: Mapping[str, Fraction], kind: Kind
) -> Values:
    """Return all values that the sides of a step on this space read."""
    v = SimpleNamespace(**dict(cell), **point, kind=kind)
    v.number = lambda value: number(Fraction(value), kind)
    v.k = SimpleNamespace(**{name: number(value, kind) for name, value in constants.items()})
    with np.errstate(all="ignore"):
        space.derive(v)
    return v


def admissible(space: Space, v: Values, points: int) -> Array:
    """Return which points satisfy the hypotheses: (points,)."""
    out = np.ones(points, dtype=bool)
    for hypothesis in space.hypotheses:
        out &= np.broadcast_to(np.asarray(hypothesis.holds(v), dtype=bool), (points,))
    return out


@dataclass(frozen=True)
class _Excess:
    """By how much a step is violated at each point: (points,) arrays.

    Attributes
    ----------
    relative : (points,)
        (left - right)/max(|left|, |right|), its largest over all instances of the inequality at a
        point; -inf where the hypotheses fail.
    left, right : (points,)
        The sides of that instance.
    """

    relative: Array
    left: Array
    right: Array


def sides(step: ProofStep, v: Values, points: int) -> tuple[Array, Array]:
    """Evaluate the sides of a step, all instances of the inequality: (instances, points)."""
    with np.errstate(all="ignore"):
        left, right = np.asarray(step.left(v)), np.asarray(step.right(v))
    shape = np.broadcast_shapes(left.shape, right.shape, (points,))
    return (
        np.broadcast_to(left, shape).reshape(-1, points),
        np.broadcast_to(right, shape).reshape(-1, points),
    )


def excess(
    step: ProofStep, v: Values, points: int, rounded: tuple[Array, Array] | None = None
) -> _Excess:
    """Return by how much a step is violated.

    ``rounded`` are the sides evaluated with fewer digits: an instance where left - right is not
    the same to a hundredth is taken for left = right, since the difference is rounding.
    """
    left, right = sides(step, v, points)
    with np.errstate(all="ignore"):
        difference = left - right
        if rounded is not None:
            change = abs(difference - (rounded[0] - rounded[1]))
            difference = np.where(change * 100 <= abs(difference), difference, 0 * difference)
        difference = abs(difference) if step.equality else difference
        scale = np.maximum(abs(left), abs(right))
        nothing = 0 if step.equality else -1  # 0 <= 0 tells nothing about the margin
        relative = np.where(scale > 0, difference / np.where(scale > 0, scale, 1), nothing)
    # The order of instances needs no more than a float.
    relative = relative.astype(np.float64)
    relative = np.where(np.isnan(relative), -np.inf, relative)
    worst = np.argmax(relative, axis=0)[None]

    def take(x: Array) -> Array:
        return np.asarray(np.take_along_axis(x, worst, axis=0)[0])

    usable = admissible(step.space, v, points)
    return _Excess(np.where(usable, take(relative), -np.inf), take(left), take(right))


def exact(
    step: ProofStep, cell: Cell, point: Point, constants: Mapping[str, Fraction]
) -> tuple[_Excess, Values]:
    """Evaluate a step at rational points, in fractions or in decimals.

    Decimals are taken with 50 and with 100 digits: what differs between the two is rounding.
    """
    points = next(iter(point.values())).shape[-1]
    if step.space.method != "decimal":
        arrays = {name: array(x, "fraction") for name, x in point.items()}
        v = evaluate(step.space, cell, arrays, constants, "fraction")
        return excess(step, v, points), v
    rounded = None
    for digits in (DIGITS, 2 * DIGITS):
        with localcontext(prec=digits):
            arrays = {name: array(x, "decimal") for name, x in point.items()}
            v = evaluate(step.space, cell, arrays, constants, "decimal")
            found = excess(step, v, points, rounded)
            rounded = sides(step, v, points)
    return found, v


def draw_point(space: Space, generator: np.random.Generator) -> Point:
    """Draw points: (*shape, count) arrays of floats."""
    return {u.name: _draw(u, space.count, generator) for u in space.variables}


def _draw(u: Variable, count: int, generator: np.random.Generator) -> Array:
    low, high = float(u.low), float(u.high)
    uniform = generator.random((*u.shape, count))
    values = low * (high / low) ** uniform if u.logarithmic else low + (high - low) * uniform
    often = [float(x) for x in u.often if u.low <= x <= u.high]
    if often:
        chosen = generator.choice(np.array(often), size=values.shape)
        values = np.where(generator.random(values.shape) < 0.3, chosen, values)
    return values


def near(
    space: Space, point: Point, scale: float, points: int, generator: np.random.Generator
) -> Point:
    """Draw points near one point, the first of them that point itself."""
    out = {}
    for u in space.variables:
        center = np.asarray(point[u.name])[..., None]
        step = scale * generator.standard_normal((*u.shape, points))
        step *= generator.random(step.shape) < 0.5
        step[..., 0] = 0
        moved = center * np.exp(step) if u.logarithmic else center + step * float(u.high - u.low)
        out[u.name] = np.clip(moved, float(u.low), float(u.high))
    return out


def simple(value: float, u: Variable) -> list[Fraction]:
    """Return rational numbers that may stand for a value, simplest first, itself last."""
    own = Fraction(value)
    candidates = [Fraction(x) for x in (*u.often, 0, 1, -1, 2, Fraction(1, 2))]
    if value:
        tens = Fraction(10) ** int(np.floor(np.log10(abs(value))))
        candidates += [round(own / tens) * tens, tens if value > 0 else -tens]
    candidates += [own.limit_denominator(d) for d in (1, 2, 3, 4, 5, 10, 20, 100, 1000, 10**5)]
    candidates.append(own)
    return [c for c in dict.fromkeys(candidates) if u.low <= c <= u.high] or [own]


def rationalised(
    step: ProofStep, cell: Cell, point: Point, constants: Mapping[str, Fraction]
) -> dict[str, Any]:
    """Return a point with simple rational numbers where a step is still violated.

    One variable after the other takes the simplest number that keeps a tenth of the excess.
    """
    exact = {u.name: fractions(point[u.name]) for u in step.space.variables}
    wanted = max(_excess_of(step, cell, exact, constants) / 10, 1e-7)
    for u in (u for u in step.space.variables if u.belongs(cell)):
        for index in np.ndindex(u.shape):
            choices = simple(float(exact[u.name][index]), u)
            trial = {
                name: np.repeat(np.asarray(x, dtype=object)[..., None], len(choices), axis=-1)
                for name, x in exact.items()
            }
            trial[u.name][index] = np.array(choices, dtype=object)
            floats = {name: array(x, "float") for name, x in trial.items()}
            v = evaluate(step.space, cell, floats, constants, "float")
            good = np.flatnonzero(excess(step, v, len(choices)).relative >= wanted)
            if good.size:
                exact[u.name][index] = choices[good[0]]
    return exact


def fractions(values: Any) -> Any:
    """Return floats as the fractions that they are, in an array of the same shape."""
    values = np.asarray(values)
    out = np.empty(values.shape, dtype=object)
    for index in np.ndindex(values.shape):
        out[index] = Fraction(float(values[index]))
    return out


def _excess_of(
    step: ProofStep, cell: Cell, exact: dict[str, Any], constants: Mapping[str, Fraction]
) -> float:
    floats = {name: array(x, "float")[..., None] for name, x in exact.items()}
    v = evaluate(step.space, cell, floats, constants, "float")
    return float(excess(step, v, 1).relative[0])
