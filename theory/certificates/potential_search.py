"""The search for a potential: the quadratic form of the state with the best certified decrease.

The form is an unknown of the programme. Dinkelbach's iteration: the next form is the one with the
largest margin at the decrease of the present form. Finally the form is made sparse, with short
decimals.
"""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.potential_family import Family, Weights
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import QuadraticPotential

GIVEN_UP = 9e-7
"""Part of the decrease that is given up for a form that can be read."""

MOST_FIELDS = 4
"""Up to so many parts of a state have their own unit at the start."""

MOST_CLASSES = 4
"""Clients of more classes have the same weights: the forms grow with the square of their number."""

DIGITS = (2, 3, 4, 6, 8, 12)
"""Of the decimals that are tried."""

ORDERED = 4
"""Digits by which coefficients are ordered: of those that are as large, the first is first."""

ACCURACY = 1e-9
"""Relative gain in the decrease at which the search ends."""

MOST_STEPS = 30
"""How often a form is improved at most."""

SLOW = 0.3
"""Ratio of two gains above which the next ones are taken to be a geometric series."""


def searched_potential(
    method: Method, functions: FunctionClass, above: float = -np.inf, *, proved: bool = False
) -> tuple[float, QuadraticPotential]:
    """Search the quadratic form of a state, with f - f* and gradients, whose decrease is the best.

    It is returned with this decrease: by the solver's word or, which takes longer, as ``proved`` at
    every step of the search for the same form for all clients.

    It is one of :meth:`Family.largest`, and at least ``SMALLEST`` of where it is largest in all
    directions but that of the model, which its gradient bounds: one that forgets a slow direction
    would decrease by more than the method.

    Raises
    ------
    Refusal
        If no such form can be certified, or none is found to decrease by more than ``above``.
    """
    if proved:
        family = Family.largest(method, functions)
        decrease, best = _improved(family, family.unit, family.proved_decrease)
        return decrease, family.potential(best)
    decrease, family, best = _alike_and_by_classes(method, functions)
    if decrease <= above:
        raise Refusal(f"no potential is found that decreases by more than {above:g} of it")
    return decrease, _readable(family, best)


def _alike_and_by_classes(
    method: Method, functions: FunctionClass
) -> tuple[float, Family, Weights]:
    """Return the best decrease and its form: the same for all clients, then one for each class."""
    several = 1 < len(functions.kinds) <= MOST_CLASSES
    if several and max(functions.counts) == 1:  # what is the same for all has no room of its own
        family = Family.largest(method, functions, functions.counts)
        decrease, best = _best(family)
        return decrease, family, best
    family = Family.largest(method, functions)
    decrease, best = _best(family)
    if several:
        with suppress(Refusal):  # the solver fails with so many parts
            classes = Family.largest(method, functions, functions.counts)
            alike = family.potential(best).of_classes(functions.counts)
            better, weights = _improved(classes, classes.weights_of(alike))
            if better > decrease:
                return better, classes, weights
    return decrease, family, best


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


def _best(family: Family) -> tuple[float, Weights]:
    """Return the largest decrease and its form, from the unit or the best of a few starts."""
    found: list[tuple[float, Weights]] = []
    reason: Refusal | None = None
    starts: tuple[Callable[[], Weights], ...] = (
        lambda: family.unit,
        lambda: best_start(family)[1],
    )
    for start in starts:
        try:
            found.append(_improved(family, start()))
        except Refusal as refusal:  # the solver fails from this start
            reason = reason or refusal
        if found and max(found)[0] > 0:
            break
    if not found:
        raise reason or Refusal("the method has no state to make a potential of")
    return max(found)


def _improved(
    family: Family, best: Weights, measure: Callable[..., float] | None = None
) -> tuple[float, Weights]:
    """Return the largest decrease of a form, and the form (Dinkelbach).

    The form with the most room at the decrease of the one before has a larger decrease, and is what
    room is measured in next. The decrease that is aimed at may be another: 0 at first, and where
    gains shrink like a geometric series, its limit; if that is too far, it is not tried next.
    """
    measure = measure or family.decrease
    low, last = measure(best), 0.0
    aim = max(low, 0.0)
    for _ in range(MOST_STEPS):
        value, weights, unit = -np.inf, best, family.definite(best)
        with suppress(Refusal):  # the solver gives up
            weights = family.roomier(unit, aim)
            value = measure(weights, unit)
        gain, straight = value - low, aim == low
        if gain > 0:
            low, best = value, weights
        if straight and gain <= ACCURACY * abs(low):
            break
        ratio = gain / last if straight and last > 0 else 0.0
        aim = low + gain * ratio / (1 - ratio) if SLOW < ratio < 1 else low
        last = gain if straight else 0.0
    return low, best


def _starts(family: Family, values: float) -> Iterator[Weights]:
    """Yield sums of squares of the parts, each in the unit of the points or of the gradients."""
    rows, *apart = family.units
    L, free = family.step.method.gradient, min(len(rows), MOST_FIELDS)
    for units in product((1.0, 1 / L), repeat=free):
        for deviations in (1.0, 1 / L):
            own = np.array([*units, *(1.0,) * (len(rows) - free)])
            mean = own / np.abs(rows).max(axis=1)
            others = [deviations / np.abs(own).max(axis=1, initial=0.0) for own in apart]
            yield family.weights(values, [np.diag(one**2) for one in (mean, *others)])


def _readable(family: Family, best: Weights) -> QuadraticPotential:
    """Return a sparse form with short decimals, which gives up little of the decrease."""
    found, unit = family.potential(best), family.definite(best)
    try:
        least = family.decrease(best, unit)
    except Refusal:
        return found
    least -= GIVEN_UP * abs(least)

    def good(tried: QuadraticPotential) -> bool:
        with suppress(Refusal):
            return family.decrease(family.weights_of(tried), unit) >= least
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
    """Yield all f - f*, then weights and coefficients by size in natural units, the least first."""
    if found.values:
        yield "values", ()
    for k, weight in enumerate(found.gap_weights):
        if weight:
            yield "gap_weights", (k,)
    sizes: list[tuple[float, str, tuple[int, ...]]] = []
    for name, units in (("mean", family.start.mean_rows), ("apart", family.start.apart_rows)):
        unit = np.abs(units).sum(axis=0)
        weights, rows = getattr(found, f"{name}_weights"), getattr(found, f"{name}_rows")
        for k, (weight, row) in enumerate(zip(weights, rows, strict=True)):
            natural = weight * (row / np.where(unit > 0, unit, 1.0)) ** 2
            lead = int(np.flatnonzero(row)[0])
            natural = [float(f"{size:.{ORDERED}g}") for size in natural]
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

    options: Any = {
        "values": float(short(found.values)[0]),
        "gap_weights": tuple(short(found.gap_weights).tolist()),
    }
    for name in ("mean", "apart"):
        weights = short(getattr(found, f"{name}_weights"))
        rows = getattr(found, f"{name}_rows")
        options[f"{name}_weights"] = tuple(weights[weights > 0].tolist())
        options[f"{name}_rows"] = short(rows).reshape(rows.shape)[weights > 0]
    return replace(found, **options)
