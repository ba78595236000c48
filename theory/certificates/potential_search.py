"""The search for a potential: the quadratic form of the state with the best certified decrease.

The form is an unknown of the programme, so the best decrease is found by bisection; then the form
is made sparse, with small fractions.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import product

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.potential_family import Family
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.quadratic_potential import ROUNDING, QuadraticPotential
from bitbound.theory.worlds.symbolic.frames import Matrix

MOST_FIELDS = 4
"""Up to so many parts of a state have their own unit at the start."""

GIVEN_UP = 1e-3
"""Part of the decrease that is given up for a form that can be read."""

DENOMINATORS = tuple(2**k for k in range(2, 21))
"""Of the fractions that are tried."""

ACCURACY = 1e-5
"""Relative accuracy of the decrease at which the bisection ends."""

MOST_SWEEPS = 5
"""Bisections at most, each from the form that the one before has found."""


def searched_potential(method: Method, functions: FunctionClass) -> QuadraticPotential:
    """Search the quadratic form of a state, with f - f* and gradients, whose decrease is the best.

    Gradients at the model are parts of the form too, where the next model has no noise of the same
    step. The form is at least ``SMALLEST`` of where it is largest in all directions but that of the
    model, which its gradient bounds: one that forgets a slow direction would decrease by more than
    the method.

    Raises
    ------
    Refusal
        If no such form can be certified; with the reason of the first.
    """
    family: Family | None = None
    with suppress(Refusal):  # the next model has noise
        family = Family.of(method, functions, gradients=True)
    family = family or Family.of(method, functions, gradients=False)
    family, weights = _best(family)
    return family.potential(_readable(family, weights))


def best_start(family: Family) -> tuple[float, tuple[float, ...]]:
    """Return the best decrease of a sum of squares of the parts, and its weights.

    It has f - f*, too, unless the solver fails with it.

    Raises
    ------
    Refusal
        If no such sum can be certified; with the reason of the first.
    """
    reason: Refusal | None = None
    for values in (1.0, 0.0):
        tried: list[tuple[float, tuple[float, ...]]] = []
        for weights in _starts(family, values):
            try:
                tried.append((family.decrease(weights), weights))
            except Refusal as refusal:
                reason = reason or refusal
        if tried:
            return max(tried, key=lambda pair: pair[0])
    raise reason or Refusal("the method has no state to make a potential of")


def _best(family: Family) -> tuple[Family, tuple[float, ...]]:
    """Return the weights of the best form, by bisection on its decrease, and the units."""
    low, best = best_start(family)
    family = replace(family, unit=best)
    for _ in range(MOST_SWEEPS):
        before = low
        low, best = _bisection(family, low, best)
        if low - before <= 10 * ACCURACY * abs(low):
            break
    return family, best


def _bisection(
    family: Family, low: float, best: tuple[float, ...]
) -> tuple[float, tuple[float, ...]]:
    """Return a better form and its decrease; the solver may fail from a bad one."""
    high: float | None = None
    while high is None or high - low > ACCURACY * abs(low):
        aim = max(2 * low, 0.0) if high is None else (low + high) / 2
        value = -np.inf
        with suppress(Refusal):  # the solver gives up
            weights = family.roomier(best, aim)
            value = family.decrease(weights)
        if value > low + ACCURACY * abs(low) / 10:
            low, best = value, weights
        if value < aim:
            high = aim
    return low, best


def _starts(family: Family, values: float) -> Iterator[tuple[float, ...]]:
    """Yield sums of squares of the parts, each in the unit of the points or of the gradients."""
    L = family.step.method.gradient
    mean, apart = (m.shape[1] for m in family.matrices)
    free = min(mean, MOST_FIELDS)
    for units in product((1.0, 1 / L), repeat=free):
        for deviations in (1.0, 1 / L):
            sizes = np.array([*units, *(1.0,) * (mean - free)])
            yield family.weights(values, np.diag(sizes**2), deviations**2 * np.eye(apart))


def _readable(family: Family, weights: tuple[float, ...]) -> tuple[float, ...]:
    """Return a sparse form with small fractions, which gives up little of the decrease.

    The fractions are those of the entries in units in which the largest is 1.
    """
    try:
        least = family.decrease(weights)
    except Refusal:
        return weights
    least -= GIVEN_UP * abs(least)
    unit = [np.sqrt(np.diag(form)) for form in family.forms(family.unit)]
    mean, apart = (
        form / np.outer(u, u) for form, u in zip(family.forms(weights), unit, strict=True)
    )
    largest = max(np.abs(mean).max(), np.abs(apart).max(initial=0.0))
    entries = [weights[0] / largest, mean / largest, apart / largest]

    def made(values: float, *forms: Matrix) -> tuple[float, ...] | None:
        """Return the weights of a form if it is positive and its decrease is large enough."""
        if any(len(form) and np.linalg.eigvalsh(form)[0] < -ROUNDING for form in forms):
            return None
        found = family.weights(
            values, *(f * np.outer(u, u) for f, u in zip(forms, unit, strict=True))
        )
        with suppress(Refusal):
            if family.decrease(found) >= least:
                return found
        return None

    for values in (0.0, entries[0]):
        if made(values, *entries[1:]):
            entries[0] = values
            break
    places = [
        (abs(form[i, j]), k, i, j)
        for k, form in enumerate(entries[1:], start=1)
        for i in range(len(form))
        for j in range(i + 1)
        if form[i, j]
    ]
    for _, k, i, j in sorted(places):
        tried = [entries[0], *(form.copy() for form in entries[1:])]
        tried[k][i, j] = tried[k][j, i] = 0.0
        if made(*tried):
            entries = tried
    for denominator in DENOMINATORS:
        rounded = made(*(np.round(entry * denominator) / denominator for entry in entries))
        if rounded:
            return rounded
    return made(*entries) or weights
