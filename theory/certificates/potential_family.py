"""All quadratic forms of the state of a method, as combinations of the squares of one step.

One step is run on symbols once, with the square of every part of the state and of the sum of every
pair of parts as terms. Forms are the linear combinations of these terms, with weights of any sign,
so that a form is an unknown of the programme, like the multipliers.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_algebra import leading_columns
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.quadratic_potential import QuadraticPotential, squares_of, with_pairs
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational
from certibit.theory.worlds.orbits import first_state
from certibit.theory.worlds.symbolic.frames import Matrix
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of

MOST_UNKNOWNS = 24
"""With more unknowns in a step the form has no f - f* or no gradients: a search takes minutes."""

Weights = tuple[float, ...]
"""A form: the weights of the terms of a family."""


@dataclass(frozen=True, eq=False)
class Family:
    """All quadratic forms of the parts of a state, in units.

    Attributes
    ----------
    start : QuadraticPotential
        Its rows are the units; it contains f - f* if the forms may contain it.
    step : RationalStep
        One step. Its terms are f - f*, if the start has it, the squares of parts and of sums of two
        parts, and f - f* at other points of the state.
    """

    start: QuadraticPotential
    step: RationalStep
    functions: FunctionClass

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        gradients: bool,
        values: bool = True,
        counts: tuple[int, ...] = (),
    ) -> "Family":
        """Run a step with all independent parts; ``counts`` are the sizes of the client classes."""
        parts = _parts(method, functions, gradients, values, counts)
        start = _independent(method, functions, parts)
        step = RationalStep.of(method, functions, start.spread(), trusted=True).weighted
        return cls(start, step, functions)

    @classmethod
    def largest(
        cls, method: Method, functions: FunctionClass, counts: tuple[int, ...] = ()
    ) -> "Family":
        """Return the richest family that a step allows; ``counts`` are the sizes of classes.

        The gradients at the model are among the vectors of the form if the next model contains no
        compression noise of the same step (true for EF21). f - f* is a term if it does not depend
        on the clients that participate and is taken at few points.

        Raises
        ------
        Refusal
            If the step cannot be certified with any form.
        """
        for gradients, values in ((True, True), (False, True)):
            with suppress(Refusal):
                family = cls.of(method, functions, gradients, values, counts)
                if family.step.symbols.basis.used <= MOST_UNKNOWNS:
                    return family
        return cls.of(method, functions, gradients=False, values=False, counts=counts)

    def without_points(self) -> "Family":
        """Return the forms without f - f* at other points than the model."""
        count = len(self.step.now) - len(self.start.points)
        step = replace(self.step, now=self.step.now[:count], after=self.step.after[:count])
        return replace(self, start=replace(self.start, points=(), gap_weights=()), step=step)

    @cached_property
    def matrices(self) -> tuple[Matrix, ...]:
        """The matrices of each term: of the means, and of the deviations within each class.

        Each is (terms, k, k).
        """
        count = self.unused + len(self.step.now)
        place, found = 1, []
        for units in self.units:
            rows = with_pairs(np.eye(len(units)))
            squares = rows[:, :, None] * rows[:, None, :]
            own = np.zeros((count, *squares.shape[1:]))
            own[place : place + len(squares)] = squares
            place += len(squares)
            found.append(own)
        return tuple(found)

    @property
    def units(self) -> tuple[Matrix, ...]:
        """The units of the means, and of the deviations within each class."""
        return self.start.mean_rows, *self.start.apart_by_kind

    def weights(
        self, values: float, forms: Sequence[Matrix], gaps: Sequence[float] = ()
    ) -> Weights:
        """Return the weights of the form with given matrices; the gaps have weight 0 by default."""
        found = [values]
        for form in forms:
            pairs = form[np.triu_indices(len(form), 1)]
            single = np.diag(form) - (form.sum(axis=1) - np.diag(form))
            found += [*single.tolist(), *pairs.tolist()]
        return (*found, *(gaps or [0.0] * len(self.start.points)))

    @cached_property
    def unit(self) -> Weights:
        """The sum of the squares of all parts, and all f - f*."""
        forms = [np.eye(m.shape[1]) for m in self.matrices]
        return self.weights(1.0, forms, [1.0] * len(self.start.points))

    def of_weights(self, found: Sequence[Rational]) -> QuadraticPotential:
        """Return the potential whose terms have these weights."""
        weights = (*[0.0] * self.unused, *(float(fraction(w)) for w in found))
        count = len(weights) - len(self.start.points)
        psi = self.start.spread().weighted((weights[0] * self.start.values, *weights[1:count]))
        if not self.functions.has_solution:
            return psi
        units = zip(weights[count:], self.start.gap_weights, strict=True)
        return replace(
            psi, points=self.start.points, gap_weights=tuple(w * unit for w, unit in units)
        )

    @property
    def unused(self) -> int:
        """The number of leading weights without a term: 1 without f - f*."""
        return int(not self.start.values)

    def rational(self, weights: Sequence[float]) -> list[Rational]:
        """Return the weights of the terms that are not 0 as rational numbers."""
        return list(map(rational, weights[self.unused :]))

    def forms(self, weights: Weights) -> tuple[Matrix, ...]:
        """Return the matrices of means and of deviations."""
        terms = np.array(weights)
        return tuple(np.tensordot(terms, m, axes=1) for m in self.matrices)

    def without_small(self, weights: Weights, small: float) -> Weights:
        """Return a form without entries that are small relative to their diagonal entries.

        So are values of f - f*, where functions have a solution, relative to the largest entry.
        """
        forms, largest = [], 0.0
        for form in self.forms(weights):
            size = np.sqrt(np.abs(np.diag(form)))
            size = np.where(size > small * size.max(initial=0.0), size, 0.0)
            forms.append(np.where(np.abs(form) > small * np.outer(size, size), form, 0.0))
            largest = max(largest, float(size.max(initial=0.0)) ** 2)
        least = small**2 * largest if self.functions.has_solution else 0.0
        first = len(weights) - len(self.start.points)
        values, *gaps = (w if abs(w) > least else 0.0 for w in (weights[0], *weights[first:]))
        return self.weights(values, forms, gaps)

    def without_small_parts(self, weights: Weights, small: float) -> Weights:
        """Return a form without parts, or f - f*, whose weights are relatively small."""
        forms = self.forms(weights)
        largest = max(float(np.abs(form).max(initial=0.0)) for form in forms)
        kept = [np.abs(np.diag(form)) > small * largest for form in forms]
        values = weights[0] if abs(weights[0]) > small * largest else 0.0
        pairs = zip(forms, kept, strict=True)
        return self.weights(values, [form * np.outer(own, own) for form, own in pairs])

    def potential(
        self, weights: Weights, *, signed: bool = False, size: float | None = None
    ) -> QuadraticPotential:
        """Return a form as a sum of squares, some of which may be negative if ``signed``.

        It is divided by its ``size``, by default its largest number.
        """
        pairs = zip(self.forms(weights), self.units, strict=True)
        forms = [units.T @ form @ units for form, units in pairs]
        values = weights[0] * self.start.values
        extra = weights[len(weights) - len(self.start.points) :]
        gaps = [a * b for a, b in zip(extra, self.start.gap_weights, strict=True)]
        if size is None:
            size = max([values, *gaps, *(float(np.abs(form).max(initial=0.0)) for form in forms)])
        mean, *apart = (squares_of(form / size, signed=signed) for form in forms)
        return replace(
            self.start,
            mean_weights=mean[0],
            mean_rows=mean[1],
            apart_weights=tuple(chain(*(weights for weights, _ in apart))),
            apart_rows=np.concatenate([rows for _, rows in apart]),
            values=values / size,
            gap_weights=tuple(gap / size for gap in gaps),
        )

    def weights_of(self, potential: QuadraticPotential) -> Weights:
        """Return the weights of a sum of squares: the inverse of :meth:`potential`."""
        forms = []
        for units, (rows, own) in zip(self.units, potential.squares_by_kind, strict=True):
            row = rows @ np.linalg.pinv(units) if len(rows) else np.zeros((0, len(units)))
            forms.append(row.T @ (np.array(own)[:, None] * row))
        given = dict(zip(potential.points, potential.gap_weights, strict=True))
        own_gaps = zip(self.start.points, self.start.gap_weights, strict=True)
        gaps = [given.get(point, 0.0) / unit for point, unit in own_gaps]
        return self.weights(potential.values / (self.start.values or 1.0), forms, gaps)


def _parts(
    method: Method,
    functions: FunctionClass,
    gradients: bool,
    values: bool,
    counts: tuple[int, ...],
) -> QuadraticPotential:
    """Return the sum of the squares of all parts of a state in natural units, perhaps f - f*."""
    n, L = functions.n, functions.L
    outcomes = outcomes_of(method, functions)
    arrays = vars(outcomes.template)
    names = [(name, x.shape[0] == n > 1) for name, x in arrays.items() if x.dtype != bool]
    natural = zip(arrays, outcomes.natural.sizes, strict=True)
    units = {name: 1 / size for name, size in natural}
    if gradients:
        names.append(("grad f", n > 1 and functions.has_solution))
        units["grad f"] = 1 / L
    kinds = len(counts) or 1
    sizes = [units[name] for name, own in names for _ in range(kinds if own else 1)]
    clients = [units[name] for name, own in names if own] * kinds
    apart = np.diag(clients) if clients else np.zeros((0, 0))
    weight = 1 / L if values else 0.0
    return QuadraticPotential(
        np.diag(sizes), apart, gradients, weight, names=tuple(names), counts=counts
    )


def _independent(
    method: Method, functions: FunctionClass, start: QuadraticPotential
) -> QuadraticPotential:
    """Leave out parts that depend on others, such as a mean that the server keeps.

    f - f* is added at the other points of the state where f is evaluated. Whether deviations are
    independent is decided in a class of several clients; if no class has several, all stay.
    """
    step = RationalStep.of(method, functions, start)
    squares = list(step.now[int(start.values > 0) :])
    kinds = functions.kinds
    places: list[int | None]
    if start.counts:
        places = [0, *(kind if one.count > 1 else -1 for kind, one in enumerate(kinds, start=1))]
    else:
        several = (kind for kind, one in enumerate(kinds, start=1) if one.count > 1)
        places = [0, next(several, None)]
    kept = []
    for block, rows in zip(places, (start.mean_rows, *start.apart_by_kind), strict=True):
        forms, squares = squares[: len(rows)], squares[len(rows) :]
        if block is None:
            kept.append(rows[: len(forms)])
        elif block < 0 or not forms:  # one client is its mean
            kept.append(rows[:0])
        else:
            products = [form.blocks[block] for form in forms]
            vectors = [next(filter(any, vv), vv[0]) for vv in products]  # multiples of v
            kept.append(rows[leading_columns(np.transpose(vectors).tolist())])
    points = _points(method, step, start) if start.values else ()
    return replace(
        start,
        mean_rows=kept[0],
        apart_rows=np.concatenate(kept[1:]),
        points=points,
        gap_weights=(start.values,) * len(points),
    )


def _points(method: Method, step: RationalStep, start: QuadraticPotential) -> tuple[str, ...]:
    """Return the shared fields, but for the model, at which clients evaluate their gradients.

    A field of one client is not taken for a shared field, if it is one of each client for n > 1:
    f - f* there adds points, and proves no more.
    """
    shared = {name for name, own in start.names if not own}
    symbols = step.symbols
    if symbols.functions.n == 1:
        with suppress(Refusal, ValueError, IndexError):  # parameters may be those of one client
            shared = {name for name, x in vars(first_state(method, 2)).items() if x.shape[0] == 1}
    numbers = (number for name, number in symbols.basis.names.items() if name[0] == "state")
    found = []
    for (name, _), number in zip(start.names, numbers, strict=False):
        there = [
            place
            for place, one in enumerate(symbols.evaluations)
            if one.kind == 0 and np.flatnonzero(one.point[0]).tolist() == [number]
        ]
        if name in shared and there and not any(step.now[0].values[place] for place in there):
            found.append(name)
    return tuple(found)
