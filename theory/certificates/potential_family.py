"""All quadratic forms of the state of a method, as combinations of the squares of one step.

One step is run on symbols once, with a square for every part of the state and for every pair of
parts, so that a form, of any signs, is as much an unknown of the programme as the multipliers are.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.certificates.form_programme import CLOSE, FormProgramme
from certibit.theory.certificates.near_forms import NearForms
from certibit.theory.cones.cone_programme import rational_of
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.symbolic_step import SymbolicStep, symbolic_step
from certibit.theory.quadratic_potential import QuadraticPotential, squares_of, with_pairs
from certibit.theory.worlds.independent import independent
from certibit.theory.worlds.orbits import first_state
from certibit.theory.worlds.symbolic.exact_numbers import (
    Rational,
    fraction,
    rational,
    rationals,
)
from certibit.theory.worlds.symbolic.frames import Matrix
from certibit.theory.worlds.symbolic.step_outcomes import outcomes_of

SMALLEST = 1e-5
"""How small the form may be in any direction, against where it is largest."""

MOST_UNKNOWNS = 24
"""With more unknowns in a step, f - f* or gradients are left out: a search would take minutes."""

Weights = tuple[float, ...]
"""A form: the weights of the terms of a family."""

INDEPENDENT = 1e-7
"""Relative length of what is left of a part that does not follow from others."""


@dataclass(frozen=True, eq=False)
class Family:
    """All quadratic forms of the parts of a state, in units of a start.

    Attributes
    ----------
    start : QuadraticPotential
        Whose rows are the units; it has f - f*, too, if forms may.
    step : SymbolicStep
        One step, with the terms: f - f*, or 0, then squares of parts and of sums of two parts, and
        f - f* at other points of the state.
    model : (parts,)
        The model as a combination of the units, where gradients at it are parts.
    """

    start: QuadraticPotential
    step: SymbolicStep
    model: Matrix
    functions: FunctionClass
    """The class, in its own units."""

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        gradients: bool,
        values: bool = True,
        counts: tuple[int, ...] = (),
    ) -> "Family":
        """Run a step with all parts that do not follow from others; ``counts`` are of classes."""
        parts = _parts(method, functions, gradients, values, counts)
        start = _independent(method, functions, parts)
        step = symbolic_step(method, functions, start.spread(), trusted=True)
        now, after = (
            tuple(form * weight for form, weight in zip(forms, step.weights, strict=True))
            for forms in (step.now, step.after)
        )
        if not values:
            now, after = ((forms[0] * 0.0, *forms) for forms in (now, after))
        step = replace(step, now=now, after=after, weights=(1.0,) * len(now))
        if not gradients:
            return cls(start, step, np.zeros(len(start.mean_rows)), functions)
        place = int(np.flatnonzero(now[0].values)[0])
        point = step.evaluations[place].point[0]
        kinds = len(counts) or 1
        model = [
            point[first + kind] / step.method.sizes[name[1]]
            for name, first in step.basis.names.items()
            if name[0] == "state"
            for kind in range(kinds if step.basis.every_client[first] else 1)
        ]
        row = np.array([*model, *(0.0,) * kinds])
        return cls(start, step, row @ np.linalg.pinv(start.mean_rows), functions)

    @classmethod
    def largest(
        cls, method: Method, functions: FunctionClass, counts: tuple[int, ...] = ()
    ) -> "Family":
        """Return the forms with all that a step allows; ``counts`` are those of classes.

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
                if family.step.basis.used <= MOST_UNKNOWNS:
                    return family
        return cls.of(method, functions, gradients=False, values=False, counts=counts)

    def without_points(self) -> "Family":
        """Return the forms without f - f* at other points than the model."""
        count = len(self.step.now) - len(self.start.points)
        step = replace(
            self.step,
            now=self.step.now[:count],
            after=self.step.after[:count],
            weights=self.step.weights[:count],
        )
        return replace(self, start=replace(self.start, points=(), gap_weights=()), step=step)

    @cached_property
    def matrices(self) -> tuple[Matrix, ...]:
        """What each term adds to the matrices of means, and of deviations of each class.

        Each is (terms, k, k).
        """
        count = len(self.step.now)
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
        """The rows that the matrices are in."""
        return self.start.mean_rows, *self.start.apart_by_kind

    def weights(
        self, values: float, forms: Sequence[Matrix], gaps: Sequence[float] = ()
    ) -> Weights:
        """Return the weights of the terms that make matrices; without gaps, theirs are 0."""
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

    @cached_property
    def exact(self) -> RationalStep:
        """The step in rational numbers, with terms of their own weights."""
        return RationalStep.of(
            self.step.method.inner, self.functions, self.start.spread(), trusted=True
        ).weighted

    def best(
        self, close: float = CLOSE, above: float = -np.inf
    ) -> tuple[float, Weights, NearForms]:
        """Return the largest decrease of a form, proved, a sparse one, and what is near that.

        It is at least 0, and with multiples of what is known of its gradients at least
        ``SMALLEST`` of the unit, when the sum of its sizes is 1; in the direction of the model, if
        its gradient counts, that of the model's shortest gradients.

        Raises
        ------
        Refusal
            If no finite factor is proved of the unit, or no decrease ``above`` a given one.
        """
        programme = FormProgramme(
            self.exact,
            [rationals(own[self.unused :].astype(object)) for own in self.matrices],
            self.rational(self.unit),
            self.rational([SMALLEST * x for x in self._floor()]),
        )
        t, free = programme.best(close, least=above)
        decrease = float(fraction(t))
        if decrease <= above:
            raise Refusal(f"no potential is found that decreases by more than {above:g} of it")
        near = NearForms.of(programme, t, free)
        weights = programme.weights(list(map(rational_of, near.there.numbers[1:])))
        found = (*(0.0,) * self.unused, *map(float, map(fraction, weights)))
        return decrease, found, near

    @property
    def unused(self) -> int:
        """The number of leading terms that are 0: 1 without f - f*."""
        return len(self.step.now) - len(self.exact.now)

    def rational(self, weights: Sequence[float]) -> list[Rational]:
        """Return the weights of the terms that are not 0 as rational numbers."""
        return list(map(rational, weights[self.unused :]))

    def _floor(self) -> Weights:
        """Return the unit, as small along the model as gradients there may be."""
        mean, *apart = self.forms(self.unit)
        if self.start.gradients:
            functions = self.step.functions
            along = mean @ self.model
            part = 1 - (functions.mu / functions.L) ** 2
            mean = mean - part * np.outer(along, along) / float(self.model @ along)
        return self.weights(0.0, [mean, *apart])

    def forms(self, weights: Weights) -> tuple[Matrix, ...]:
        """Return the matrices of means and of deviations."""
        terms = np.array(weights)
        return tuple(np.tensordot(terms, m, axes=1) for m in self.matrices)

    def without_small(self, weights: Weights, small: float) -> Weights:
        """Return a form without entries that are small beside the diagonal ones of both parts."""
        forms = []
        for form in self.forms(weights):
            size = np.sqrt(np.abs(np.diag(form)))
            size = np.where(size > small * size.max(initial=0.0), size, 0.0)
            forms.append(np.where(np.abs(form) > small * np.outer(size, size), form, 0.0))
        gaps = weights[len(weights) - len(self.start.points) :]
        return self.weights(weights[0], forms, list(gaps))

    def without_small_parts(self, weights: Weights, small: float) -> Weights:
        """Return a form without f - f*, and without parts, whose weights are relatively small."""
        forms = self.forms(weights)
        largest = max(float(np.abs(form).max(initial=0.0)) for form in forms)
        kept = [np.abs(np.diag(form)) > small * largest for form in forms]
        values = weights[0] if abs(weights[0]) > small * largest else 0.0
        pairs = zip(forms, kept, strict=True)
        return self.weights(values, [form * np.outer(own, own) for form, own in pairs])

    def potential(self, weights: Weights, *, signed: bool = False) -> QuadraticPotential:
        """Return a form as a sum of squares, some of which may be negative if ``signed``."""
        pairs = zip(self.forms(weights), self.units, strict=True)
        forms = [units.T @ form @ units for form, units in pairs]
        values = weights[0] * self.start.values
        extra = weights[len(weights) - len(self.start.points) :]
        gaps = [a * b for a, b in zip(extra, self.start.gap_weights, strict=True)]
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
        """Return a sum of squares as a form."""
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
    """Return the sum of the squares of all parts of a state, in natural units, perhaps f - f*."""
    n, L = functions.n, functions.L
    arrays = vars(first_state(method, n))
    names = [(name, x.shape[0] == n > 1) for name, x in arrays.items() if x.dtype != bool]
    natural = zip(arrays, outcomes_of(method, functions).natural.sizes, strict=True)
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
    """Leave out the parts that follow from others, such as a mean that the server keeps.

    Added is f - f* at the other points of the state at which f is evaluated. Deviations are looked
    at in a class of several clients; without one, all of them stay.
    """
    step = symbolic_step(method, functions, start)
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
            own = [_vector(form.blocks[block]) @ step.kernels[block] for form in forms]
            vectors = np.array(own)
            vectors[np.linalg.norm(vectors, axis=1) < INDEPENDENT] = 0.0  # in natural units
            kept.append(rows[independent(vectors, INDEPENDENT)])
    points = _points(method, step, start) if start.values else ()
    return replace(
        start,
        mean_rows=kept[0],
        apart_rows=np.concatenate(kept[1:]),
        points=points,
        gap_weights=(start.values,) * len(points),
    )


def _points(method: Method, step: SymbolicStep, start: QuadraticPotential) -> tuple[str, ...]:
    """Return the shared fields, but for the model, at which clients evaluate their gradients.

    What is one client's own is not taken for shared: f - f* there adds points, and proves no more.
    """
    shared = {name for name, own in start.names if not own}
    if step.functions.n == 1:
        with suppress(Refusal, ValueError, IndexError):  # parameters may be those of one client
            shared = {name for name, x in vars(first_state(method, 2)).items() if x.shape[0] == 1}
    numbers = (number for name, number in step.basis.names.items() if name[0] == "state")
    found = []
    for (name, _), number in zip(start.names, numbers, strict=False):
        there = [
            place
            for place, one in enumerate(step.evaluations)
            if one.kind == 0 and np.flatnonzero(one.point[0]).tolist() == [number]
        ]
        if name in shared and there and not step.now[0].values[there].any():
            found.append(name)
    return tuple(found)


def _vector(form: Matrix) -> Matrix:
    """Return the vector v of a form v v'."""
    place = int(np.argmax(np.diag(form)))
    vector: Matrix = form[place] / np.sqrt(form[place, place] or 1.0)
    return vector
