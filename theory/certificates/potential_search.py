"""The search for a potential: the quadratic form of the state with the best certified decrease.

The form is an unknown of the programme. The best form is then made sparse, with short decimals.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.near_forms import NearForms
from certibit.theory.certificates.potential_family import Family, Weights
from certibit.theory.function_class import FunctionClass
from certibit.theory.quadratic_potential import QuadraticPotential

GIVEN_UP = 5e-7
"""Relative loss of decrease that is accepted for a form that can be read."""

MOST_CLASSES = 4
"""With more classes all clients have the same weights, as the form grows with their square."""

DIGITS = (12, 8, 6, 4, 3, 2)
"""Numbers of significant digits that are tried, in this order."""

ORDERED = 4
"""Significant digits by which coefficients are ordered, so that last bits change no order."""


def searched_potential(
    method: Method, functions: FunctionClass, above: float = -np.inf
) -> tuple[float, tuple[QuadraticPotential, ...]]:
    """Search for the quadratic form of a state, f - f* and gradients with the largest decrease.

    The result is this decrease, which is proved, and forms: first one that can be read and loses at
    most ``GIVEN_UP`` of the decrease in floats, if there is one, then the best one, which is
    :meth:`Family.best` of :meth:`Family.largest`. Few classes of clients have weights of their own.

    Raises
    ------
    Refusal
        If no such form can be certified, or none is found to decrease by more than ``above``.
    """
    if functions.plain_values:
        raise Refusal(
            f"a potential is searched for over convex functions, and mu = {functions.mu:g}; state "
            "one, or certify a descent"
        )
    family = Family.largest(method, functions)
    if 1 < len(functions.kinds) <= MOST_CLASSES:
        family = Family.largest(method, functions, functions.counts)
    decrease, best, near = family.best(above=above)
    plain, readable = family.potential(best), _readable(family, best, near)
    return decrease, (plain,) if readable is None else (readable, plain)


def _readable(family: Family, best: Weights, near: NearForms) -> QuadraticPotential | None:
    """Return a sparse form with short decimals that loses little of the decrease, or None."""
    found = family.potential(best)
    least = near.decrease - GIVEN_UP * abs(near.decrease)

    def good(tried: QuadraticPotential) -> bool:
        with suppress(Refusal):
            return near.reach(family.rational(family.weights_of(tried)), least)
        return False

    for name, place in _numbers(family, found):
        tried = _with_number(found, name, place, 0.0)
        if np.any(getattr(found, name) != getattr(tried, name)) and good(tried):
            found = tried
    readable = None
    for digits in DIGITS:
        rounded = _rounded(found, digits)
        if not good(rounded):
            break
        readable = rounded
    return readable


def _numbers(family: Family, found: QuadraticPotential) -> list[tuple[str, tuple[int, ...]]]:
    """Return the places of all numbers of a form, ordered by their size in natural units."""
    start = family.start
    sizes: list[tuple[float, str, tuple[int, ...]]] = []
    if found.values:
        sizes.append((found.values / start.values, "values", ()))
    for k, (weight, unit) in enumerate(zip(found.gap_weights, start.gap_weights, strict=True)):
        sizes.append((weight / unit, "gap_weights", (k,)))
    for name, units in (("mean", start.mean_rows), ("apart", start.apart_rows)):
        unit = np.abs(units).sum(axis=0)
        weights, rows = getattr(found, f"{name}_weights"), getattr(found, f"{name}_rows")
        for k, (weight, row) in enumerate(zip(weights, rows, strict=True)):
            natural = weight * (row / np.where(unit > 0, unit, 1.0)) ** 2
            lead = int(np.flatnonzero(row)[0])
            sizes.append((natural[lead], f"{name}_weights", (k,)))
            others = (j for j in np.flatnonzero(row).tolist() if j != lead)
            sizes += [(natural[j], f"{name}_rows", (k, j)) for j in others]
    ordered = sorted((float(f"{size:.{ORDERED}g}"), name, place) for size, name, place in sizes)
    return [(name, place) for _, name, place in ordered]


def _with_number(
    found: QuadraticPotential, name: str, place: tuple[int, ...], value: float
) -> QuadraticPotential:
    changed = np.array(getattr(found, name), dtype=float)
    changed[place] = value
    options: Any = {name: changed if name.endswith("rows") else changed.tolist()}
    return replace(found, **options)


def _rounded(found: QuadraticPotential, digits: int) -> QuadraticPotential:
    """Return a potential rounded to so many digits, without squares of weight 0."""

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
