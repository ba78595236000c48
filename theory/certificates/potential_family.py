"""All quadratic forms of the state of a method, as combinations of the squares of one step.

One step is run on symbols once, with a square for every part of the state and for every pair of
parts, so that a form, of any signs, is as much an unknown of the programme as the multipliers are.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg

from bitbound.solvers.method import Method
from bitbound.theory.certificates.decrease import CENTRES, StepProgramme
from bitbound.theory.certificates.interpolation import Form
from bitbound.theory.certificates.programme import Coordinates, SolverResult, maximise, psi
from bitbound.theory.certificates.proof import margin_form
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.quadratic_potential import QuadraticPotential, squares_of, with_pairs
from bitbound.theory.worlds.orbits import Nothing, OrbitChannel
from bitbound.theory.worlds.symbolic.frames import Matrix

SMALLEST = 1e-5
"""How small the form may be in any direction, against where it is largest."""

INDEPENDENT = 1e-7
"""Relative length of what is left of a part that does not follow from others."""

MIXED = 1e-2
"""How much of the form of the start is added when coordinates are chosen."""


@dataclass(frozen=True, eq=False)
class Family:
    """All quadratic forms of the parts of a state, in units of a start.

    Attributes
    ----------
    start : QuadraticPotential
        Whose rows are the units; it has f - f*, too.
    step : SymbolicStep
        One step, with the terms: f - f*, then squares of parts and of sums of two parts.
    programme : StepProgramme
        Of that step.
    model : (parts,)
        The model as a combination of the units.
    unit : tuple of float
        The weights of a form that is of order one everywhere.
    """

    start: QuadraticPotential
    step: SymbolicStep
    programme: StepProgramme
    model: Matrix
    unit: tuple[float, ...] = ()

    @classmethod
    def of(cls, method: Method, functions: FunctionClass, gradients: bool) -> "Family":
        """Run a step with all parts that do not follow from others."""
        start = _independent(method, functions, _parts(method, functions, gradients))
        step = symbolic_step(method, functions, start.spread(), trusted=True)
        now, after = (
            tuple(form * weight for form, weight in zip(forms, step.weights, strict=True))
            for forms in (step.now, step.after)
        )
        step = replace(step, now=now, after=after, weights=(1.0,) * len(now))
        place = int(np.flatnonzero(now[0].values)[0])
        point = step.evaluations[place].point[0]
        parts = [
            point[first] / step.method.sizes[name[1]]
            for name, first in step.basis.names.items()
            if name[0] == "state"
        ]
        row = np.array([*parts, *(0.0,) * int(gradients)])
        programme = StepProgramme(step, "clarabel", CENTRES[0])
        return cls(start, step, programme, row @ np.linalg.pinv(start.mean_rows))

    @cached_property
    def matrices(self) -> tuple[Matrix, Matrix]:
        """What each term adds to the matrices of means and of deviations: (terms, k, k)."""
        count = len(self.step.now)
        sizes = len(self.start.mean_rows), len(self.start.apart_rows)
        place, found = 1, []
        for size in sizes:
            rows = with_pairs(np.eye(size))
            squares = rows[:, :, None] * rows[:, None, :]
            own = np.zeros((count, size, size))
            own[place : place + len(squares)] = squares
            place += len(squares)
            found.append(own)
        return found[0], found[1]

    def weights(self, values: float, mean: Matrix, apart: Matrix) -> tuple[float, ...]:
        """Return the weights of the terms that make matrices."""
        found = [values]
        for form in (mean, apart):
            pairs = form[np.triu_indices(len(form), 1)]
            single = np.diag(form) - (form.sum(axis=1) - np.diag(form))
            found += [*single.tolist(), *pairs.tolist()]
        return tuple(found)

    def maximise(self, fixed: Form, weights: tuple[float, ...], **options: Any) -> SolverResult:
        """Solve a programme in coordinates in which a form and that of the start are of order one.

        A form that has the gradient at the model need not have the model itself.
        """
        programme, forms = self.programme, options.pop("forms", ())
        size = MIXED * self.size(weights) if self.unit else 0.0
        both = tuple(a + size * b for a, b in zip(weights, self.unit or weights, strict=True))
        seen, _ = psi(self.step, both)
        coordinates = Coordinates.of(self.step, seen, programme.centre)
        gain, _ = psi(self.step, weights)
        everything = [*forms, *self.step.inequalities.values()]
        return maximise(fixed, gain, everything, coordinates, **options)

    def decrease(self, weights: tuple[float, ...]) -> float:
        """Return the best decrease of a form."""
        return self.maximise(margin_form(self.step, weights, 0.0), weights).value

    def size(self, weights: tuple[float, ...]) -> float:
        """Return how large a form is against the unit."""
        pairs = zip(self.forms(weights), self.forms(self.unit), strict=True)
        return max(float(np.trace(np.linalg.solve(unit, form))) for form, unit in pairs)

    def roomier(self, weights: tuple[float, ...], aim: float) -> tuple[float, ...]:
        """Return the form with the most room at a decrease, in units of the present one."""
        step, terms = self.step, len(self.step.now)
        others = np.zeros(len(step.inequalities))
        traces = sum(
            np.trace(np.linalg.solve(unit, m), axis1=1, axis2=2)
            for m, unit in zip(self.matrices, self.forms(self.unit), strict=True)
        )
        traces[0] = 1.0
        normal = traces / float(traces @ np.array(weights))
        room = self.maximise(
            step.now[0] * 0.0,
            weights,
            forms=[
                after + now * (aim - 1) for after, now in zip(step.after, step.now, strict=True)
            ],
            lower=np.concatenate([[0.0], np.full(terms - 1, -np.inf), others]),
            normal=np.concatenate([normal, others]),
            above=[
                (np.concatenate([m, np.zeros((len(others), *m.shape[1:]))]), SMALLEST * floor)
                for m, floor in zip(self.matrices, self.floors(weights), strict=True)
                if len(floor)
            ],
        )
        return tuple(room.multipliers[:terms].tolist())

    def floors(self, weights: tuple[float, ...]) -> tuple[Matrix, Matrix]:
        """Return the directions in which a form must not vanish, as large as the present one."""
        size = self.size(weights)
        mean, apart = (size * form for form in self.forms(self.unit))
        if self.start.gradients:  # mean - v v' with v' mean^-1 v = 1: the model is left free
            along = mean @ self.model
            mean = mean - np.outer(along, along) / float(self.model @ along)
        return mean, apart

    def forms(self, weights: tuple[float, ...]) -> tuple[Matrix, Matrix]:
        """Return the matrices of means and of deviations."""
        first, second = (np.tensordot(np.array(weights), m, axes=1) for m in self.matrices)
        return first, second

    def potential(self, weights: tuple[float, ...]) -> QuadraticPotential:
        """Return a form as a sum of squares."""
        rows = self.start.mean_rows, self.start.apart_rows
        pairs = zip(self.forms(weights), rows, strict=True)
        forms = [units.T @ form @ units for form, units in pairs]
        size = max(float(np.abs(form).max(initial=0.0)) for form in forms)
        mean, apart = (squares_of(form / size) for form in forms)
        return replace(
            self.start,
            mean_weights=mean[0],
            mean_rows=mean[1],
            apart_weights=apart[0],
            apart_rows=apart[1],
            values=weights[0] * self.start.values / size,
        )


def _parts(method: Method, functions: FunctionClass, gradients: bool) -> QuadraticPotential:
    """Return the sum of the squares of all parts of a state and f - f*."""
    n, L = functions.n, functions.L
    state = method.start(np.zeros((1, 1, 1)), Nothing(n), OrbitChannel(n, 1))
    arrays = {field.name: getattr(state, field.name) for field in fields(state)}
    names = [(name, x.shape[0] == n > 1) for name, x in arrays.items() if x.dtype != bool]
    own = [of_clients for _, of_clients in names]
    sizes, clients = [1.0] * len(own), [1.0] * sum(own)
    if gradients:
        sizes.append(1 / L)
        clients += [1 / L] * (n > 1)
        names.append(("grad f", n > 1))
    apart = np.diag(clients) if clients else np.zeros((0, 0))
    return QuadraticPotential(np.diag(sizes), apart, gradients, 1 / L, names=tuple(names))


def _independent(
    method: Method, functions: FunctionClass, start: QuadraticPotential
) -> QuadraticPotential:
    """Leave out the parts that follow from others, such as a mean that the server keeps."""
    step = symbolic_step(method, functions, start)
    squares = step.now[int(start.values > 0) :]
    count = len(start.mean_rows)
    kept = []
    for block, forms in enumerate((squares[:count], squares[count:])):
        vectors = [_vector(form.blocks[block]) @ step.kernels[block] for form in forms]
        kept.append(_basis(np.array(vectors)))
    return replace(start, mean_rows=start.mean_rows[kept[0]], apart_rows=start.apart_rows[kept[1]])


def _vector(form: Matrix) -> Matrix:
    """Return the vector v of a form v v'."""
    place = int(np.argmax(np.diag(form)))
    vector: Matrix = form[place] / np.sqrt(form[place, place])
    return vector


def _basis(vectors: Matrix) -> list[int]:
    """Return the places of vectors that all others are combinations of."""
    if not vectors.size:
        return []
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    _, r, order = scipy.linalg.qr(
        (vectors / np.where(lengths > 0, lengths, 1.0)).T, mode="economic", pivoting=True
    )
    rank = int(np.sum(np.abs(np.diag(r)) > INDEPENDENT))
    return sorted(order[:rank].tolist())
