"""The search for a potential: the quadratic form of the state with the best certified decrease.

The form is an unknown of the programme, so the best decrease is found by bisection; then the form
is made sparse, with short decimals.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.potential_family import Family, Weights
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.quadratic_potential import QuadraticPotential

GIVEN_UP = 1e-3
"""Part of the decrease that is given up for a form that can be read."""

MOST_FIELDS = 4
"""Up to so many parts of a state have their own unit at the start."""

DIGITS = (2, 3, 4, 6, 8, 12)
"""Of the decimals that are tried."""

ACCURACY = 1e-5
"""Relative accuracy of the decrease at which the bisection ends."""

ROUND, FLATTER, MOST_STAGES = 10.0, 10.0, 8
"""The kappa at which the search begins, how it grows, and how often at most."""

LEAST_ROUND = 1e6
"""The last kappa where mu = 0."""

ROUGH = 1e-2
"""The same accuracy before the last kappa."""

MOST_SWEEPS, MOST_AIMS = 5, 40
"""Bisections for one kappa at most, and their length."""


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Search the quadratic form of a state, with f - f* and gradients, whose decrease is the best.

    It is one of :meth:`Family.largest`, and at least ``SMALLEST`` of where it is largest in all
    directions but that of the model, which its gradient bounds: one that forgets a slow direction
    would decrease by more than the method.

    Raises
    ------
    Refusal
        If no such form can be certified.
    """
    family = Family.largest(method, functions)
    return _readable(family, _best(family))


def best_start(family: Family) -> tuple[float, Weights]:
    """Return the best decrease of a sum of squares of the parts, and its weights.

    It has f - f*, too, unless the solver fails with it.

    Raises
    ------
    Refusal
        If no such sum can be certified; with the reason of the first.
    """
    reason: Refusal | None = None
    for values in (1.0, 0.0):
        tried: list[tuple[float, Weights]] = []
        for weights in _starts(family, values):
            try:
                tried.append((family.decrease(weights), weights))
            except Refusal as refusal:
                reason = reason or refusal
        if tried:
            return max(tried, key=lambda pair: pair[0])
    raise reason or Refusal("the method has no state to make a potential of")


def _best(family: Family) -> Weights:
    """Return the best form.

    It is searched for rounder functions first, up to ``ROUND``; the best form for these is the
    start for those that are less round.
    """
    functions = family.step.functions
    kappa = max(one.L / one.mu if one.mu else np.inf for one in functions.kinds)
    kappas = [kappa]
    while kappas[0] > ROUND and len(kappas) < MOST_STAGES:
        kappas.insert(0, kappas[0] / FLATTER if kappas[0] < np.inf else LEAST_ROUND)
    first = family.rounder(kappas[0])
    found: list[tuple[float, Weights]] = []
    reason: Refusal | None = None
    starts: tuple[Callable[[], Weights], ...] = (
        lambda: family.unit,
        lambda: best_start(first)[1],
        lambda: best_start(family)[1],
    )
    for start in starts:
        try:
            best = start()
            for stage in kappas if len(found) < 2 else (kappa,):
                best = _improved(family.rounder(stage), best, ACCURACY if stage == kappa else ROUGH)
            found.append((family.decrease(best), best))
        except Refusal as refusal:  # the solver fails from this start
            reason = reason or refusal
        if found and max(found)[0] > 0:
            break
    if not found:
        raise reason or Refusal("the method has no state to make a potential of")
    return max(found)[1]


def _improved(family: Family, best: Weights, accuracy: float) -> Weights:
    """Return a better form, by bisections, each from the form that the one before has found."""
    low = family.decrease(best)
    for _ in range(MOST_SWEEPS):
        before = low
        low, best = _bisection(family, low, best, accuracy)
        if low - before <= 10 * accuracy * abs(low):
            break
    return best


def _bisection(family: Family, low: float, best: Weights, accuracy: float) -> tuple[float, Weights]:
    """Return a better form and its decrease; the solver may fail from a bad one.

    It ends where an aim was not reached and what was found is hardly better.
    """
    high = np.inf
    for _ in range(MOST_AIMS):
        aim = max(2 * low, 0.0) if high == np.inf else (low + high) / 2
        value = -np.inf
        with suppress(Refusal):  # the solver gives up
            weights = family.roomier(best, aim)
            value = family.decrease(weights)
        gain = value - low
        if gain > 0:
            low, best = value, weights
        if not value >= aim:
            high = aim
        if high - low <= accuracy * abs(low) or (high < np.inf and 0 < gain <= accuracy * low):
            break
    return low, best


def _starts(family: Family, values: float) -> Iterator[Weights]:
    """Yield sums of squares of the parts, each in the unit of the points or of the gradients."""
    rows, apart = family.start.mean_rows, family.start.apart_rows
    L, free = family.step.method.gradient, min(len(rows), MOST_FIELDS)
    for units in product((1.0, 1 / L), repeat=free):
        for deviations in (1.0, 1 / L):
            own = np.array([*units, *(1.0,) * (len(rows) - free)])
            mean = own / np.abs(rows).max(axis=1)
            others = deviations / np.abs(apart).max(axis=1, initial=0.0)
            yield family.weights(values, np.diag(mean**2), np.diag(others**2))


def _readable(family: Family, best: Weights) -> QuadraticPotential:
    """Return a sparse form with short decimals, which gives up little of the decrease."""
    found = family.potential(best)
    try:
        least = family.decrease(best)
    except Refusal:
        return found
    least -= GIVEN_UP * abs(least)

    def good(tried: QuadraticPotential) -> bool:
        with suppress(Refusal):
            return family.decrease(family.weights_of(tried), best) >= least
        return False

    for name, place in _numbers(family, found):
        tried = _with_number(found, name, place, 0.0)
        if good(tried):
            found = tried
    for digits in DIGITS:
        rounded = _rounded(found, digits)
        if good(rounded):
            return rounded
    return found


def _numbers(family: Family, found: QuadraticPotential) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield f - f*, then weights and coefficients by size in natural units, the least first."""
    if found.values:
        yield "values", ()
    sizes: list[tuple[float, str, tuple[int, ...]]] = []
    for name, units in (("mean", family.start.mean_rows), ("apart", family.start.apart_rows)):
        unit = np.abs(units).sum(axis=0)
        weights, rows = getattr(found, f"{name}_weights"), getattr(found, f"{name}_rows")
        for k, (weight, row) in enumerate(zip(weights, rows, strict=True)):
            natural = weight * (row / np.where(unit > 0, unit, 1.0)) ** 2
            lead = int(np.flatnonzero(row)[0])
            sizes.append((natural[lead], f"{name}_weights", (k,)))
            others = (j for j in np.flatnonzero(row).tolist() if j != lead)
            sizes += [(natural[j], f"{name}_rows", (k, j)) for j in others]
    yield from ((name, place) for _, name, place in sorted(sizes))


def _with_number(
    found: QuadraticPotential, name: str, place: tuple[int, ...], value: float
) -> QuadraticPotential:
    changed = np.array(getattr(found, name), dtype=float)
    changed[place] = value
    options: Any = {name: changed if name.endswith("rows") else changed.tolist()}
    return replace(found, **options)


def _rounded(found: QuadraticPotential, digits: int) -> QuadraticPotential:
    """Return a potential whose numbers have so many digits, without squares of weight 0."""

    def short(numbers: Any) -> Any:
        return np.array([float(f"{x:.{digits}g}") for x in np.ravel(numbers)])

    options: Any = {"values": float(short(found.values)[0])}
    for name in ("mean", "apart"):
        weights = short(getattr(found, f"{name}_weights"))
        rows = getattr(found, f"{name}_rows")
        options[f"{name}_weights"] = tuple(weights[weights > 0].tolist())
        options[f"{name}_rows"] = short(rows).reshape(rows.shape)[weights > 0]
    return replace(found, **options)
