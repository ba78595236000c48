"""The best descent of one step as one linear programme over semidefinite matrices.

For a given method the constant c, the multipliers and, if they are free, the weights of the terms
of Psi enter linearly in

    Psi - E[Psi+] - c M + e sigma^2 + e' zeta^2 - sum_k y_k I_k - sum_l u_l E_l >= 0   and
    Psi - sum_k z_k I_k >= 0,

with what is known of functions, compressors and noise, I_k >= 0 and E_l = 0, and y, z >= 0. The
noise of stochastic gradients is bounded with sigma^2 in an I_k, so that e >= 0, and what clients
differ with zeta^2. Where functions have a solution, Psi at a start is at most |x - x*|^2, by
multipliers of the same kind.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
import scipy
from flint import fmpq, fmpq_mat
from numpy.typing import NDArray

from certibit.theory.cones.cone_programme import Number, upper
from certibit.theory.proofs.proof import Descent, Start, movement
from certibit.theory.proofs.rational_algebra import (
    ZERO,
    Rationals,
    flat,
    floats,
    solutions,
    spanning_rows,
)
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational, rationals
from certibit.theory.worlds.symbolic.kernels import exact_kernel

LARGEST = 10**12
"""No c below minus this is looked for, and no e above this divided by L."""


@dataclass(frozen=True, eq=False)
class DescentCoordinates:
    """All multipliers, weights and constants with which E[Psi+] <= Psi - c M is tried.

    Attributes
    ----------
    step : RationalStep
        With the terms of Psi, and the measure.
    weights : sequence of rational
        The weights of the terms, those of free ones being what they begin with.
    free : sequence of int
        The terms whose weights are looked for; they may have any sign.
    most : sequence of rational
        Weights of a form that the squares of Psi do not exceed; without them there is no limit.
    start : Start, optional
        The state at a start, at which Psi is at most |x - x*|^2.
    quiet : bool
        Whether inequalities with sigma^2 or zeta^2 are left out, so that e and e' are 0.
    positive : bool
        Whether Psi is to be at least 0.
    """

    step: RationalStep
    weights: Sequence[Rational]
    free: Sequence[int] = ()
    most: Sequence[Rational] = ()
    start: Start | None = None
    quiet: bool = False
    positive: bool = True

    @cached_property
    def used(self) -> list[str]:
        """The inequalities that a descent may use.

        Psi - E[Psi+] has as many values of f with a plus as with a minus, unless Psi may grow. If
        no inequality but those that bound f from below has not, these are of no use.
        """
        count = len(self.step.symbols.evaluations)
        known = [
            (name, form)
            for name, form in self.step.inequalities.items()
            if not (self.quiet and any(form.values[count:]))
        ]
        sums = {name: sum(form.values[:count], ZERO) for name, form in known}
        measured = any(sum(form.values, ZERO) for form in self.step.measured)
        pairs = zip(self.step.now, self.step.after, strict=True)
        measured |= any(
            sum(a.values[:count], ZERO) != sum(b.values[:count], ZERO) for a, b in pairs
        )
        balanced = min(sums.values(), default=ZERO) >= 0 and not measured
        return [name for name, total in sums.items() if not (balanced and total)]

    @cached_property
    def bounding(self) -> list[str]:
        """The inequalities about the function values that Psi has, and no others."""
        return self._about(self.step.now) if self.positive else []

    @cached_property
    def starting(self) -> list[str]:
        """The inequalities about the function values of Psi at a start and of M, and no others."""
        return self._about([*self.start.terms, *self.step.measured]) if self.start else []

    def _about(self, forms: Sequence[RationalForm]) -> list[str]:
        places = {j for form in forms for j, value in enumerate(form.values) if value}
        return [
            name
            for name, form in self.step.inequalities.items()
            if any(form.values) and all(j in places for j, x in enumerate(form.values) if x)
        ]

    @cached_property
    def counts(self) -> list[int]:
        """How many unknowns there are of each kind, in their order."""
        step = self.step
        parts = self.used, self.bounding, self.starting, step.equalities, self.free, step.scalars
        return [*map(len, parts), 1]

    @cached_property
    def forms(self) -> list[list[RationalForm]]:
        """What is fixed, and what each unknown adds to the descent and to Psi >= 0.

        Perhaps also to what Psi at a start is less than |x - x*|^2, and to Psi <= most. The
        unknowns are the multipliers, those of equalities, the free weights, e if gradients are
        stochastic, e' if clients differ by zeta, and c.
        """
        step = self.step
        now, after = step.psi(self.weights)
        nothing = combination([ZERO], step.now[:1])

        def less(form: RationalForm) -> RationalForm:
            return combination([fmpq(-1)], [form])

        def row(fixed: RationalForm, parts: Mapping[int, list[RationalForm]]) -> list[RationalForm]:
            own = [parts.get(j, [nothing] * count) for j, count in enumerate(self.counts)]
            return [fixed, *(form for part in own for form in part)]

        def added(names: Sequence[str]) -> list[RationalForm]:
            return [less(step.inequalities[name]) for name in names]

        terms = [step.now[j] for j in self.free]
        changes = [step.now[j].plus(fmpq(-1), step.after[j]) for j in self.free]
        measure = less(combination([fmpq(1)] * len(step.measured), step.measured))
        moments = [less(one) for one in step.equalities.values()]
        noise = list(step.scalars.values())
        descent = {0: added(self.used), 3: moments, 4: changes, 5: noise, 6: [measure]}
        rows = [row(now.plus(fmpq(-1), after), descent)]
        if self.positive:
            rows.append(row(now, {1: added(self.bounding), 4: terms}))
        if self.start:
            own = self.start.terms
            left = self.start.distance.plus(fmpq(-1), combination(self.weights, own))
            changes = [less(own[j]) for j in self.free]
            rows.append(row(left, {2: added(self.starting), 4: changes}))
        if self.most:
            above = combination(self.most, step.now).plus(fmpq(-1), now)
            rows.append(row(above, {4: list(map(less, terms))}))
        return rows

    @property
    def decreasing(self) -> list[list[RationalForm]]:
        """The forms of which what is proved of the descent is a sum."""
        return self.forms[:1]

    @cached_property
    def table(self) -> fmpq_mat:
        """What maps 1 and the coordinates to 1 and the unknowns.

        No function value is left, and no equality is used along a vector along which all else is
        flat, as when all points move: it could add nothing that is at least 0.

        Raises
        ------
        Refusal
            If no multipliers cancel all function values.
        """
        exact = self.forms[:-1] if self.most else self.forms
        values = [np.array([form.values for form in own], dtype=object).T for own in exact]
        rows = np.concatenate(values)
        first = 1 + sum(self.counts[:3])
        moments = slice(first, first + len(self.step.equalities))
        without = np.delete(np.arange(rows.shape[1]), moments)
        table, descent = solutions(rows[:, without]), self.forms[0]
        equations = [rows]
        for place in range(len(descent[0].blocks) if self.step.equalities else 0):
            matrices = [form.blocks[place] for form in descent]
            seen = np.concatenate(
                [
                    column
                    for own in self.decreasing
                    for column in columns_of([own[j].blocks[place] for j in without], table)
                ]
            )
            kernel = exact_kernel(seen, np.ones(len(matrices[0]), dtype=bool))
            for vector in kernel.T:
                along = np.full((len(vector), rows.shape[1]), ZERO, dtype=object)
                along[:, moments] = np.array([one @ vector for one in matrices[moments]]).T
                equations.append(along)
        table = solutions(np.concatenate(equations))
        while self.start and (more := self._forced(table)):
            equations += more
            table = solutions(np.concatenate(equations))
        return self._independent(table)

    def _forced(self, table: fmpq_mat) -> list[Rationals]:
        """Return equations for what is at least 0 and is 0 wherever everything is at least 0.

        Multipliers are, and forms along a vector, where a sum of some of them is 0 or less for all
        coordinates. Where the proof cannot hold strictly along such a vector, it holds without it.
        """
        equations, signs = self._tested
        rows = np.array((signs * table).tolist(), dtype=object)
        found = [equations[j] for j in _vanishing(rows)]
        return [one for one in found if any((fmpq_mat(one.tolist()) * table).entries())]

    @cached_property
    def _tested(self) -> tuple[list[Rationals], fmpq_mat]:
        """Equations that may be forced, and what is at least 0 and is 0 if they hold.

        They map 1 and the unknowns: to a multiplier, or to a form times a vector.
        """
        count, size = sum(self.counts[:3]), len(self.forms[0])
        equations = [*rationals(np.eye(count, size, 1))[:, None]]
        signs = [*equations]
        for own in self.forms:
            for place in range(len(own[0].blocks)):
                matrices = np.array([form.blocks[place] for form in own], dtype=object)
                for vector in self._directions[place]:
                    seen = np.flatnonzero(vector)
                    along = (matrices[:, :, seen] @ vector[seen]).T
                    equations.append(along)
                    signs.append((vector[seen] @ along[seen])[None])
        return equations, fmpq_mat(np.concatenate(signs).tolist())

    @cached_property
    def _directions(self) -> list[list[Rationals]]:
        """Vectors along which forms may be forced to be 0, by block: units, and a movement."""
        found = []
        for place, block in enumerate(self.step.now[0].blocks):
            units = [*rationals(np.eye(len(block)))]
            found.append([*units, movement(self.step.symbols, place)] if units else [])
        return found

    def _independent(self, table: fmpq_mat) -> fmpq_mat:
        """Leave out coordinates that change nothing that others do not change."""
        changed = [
            np.concatenate([column.ravel() for column in row])
            for row in zip(
                *(
                    columns_of([form.blocks[place] for form in own], table)
                    for own in self.forms
                    for place in range(len(own[0].blocks))
                ),
                strict=True,
            )
        ]
        count = sum(self.counts[:3])
        rows = table.transpose().tolist()
        seen = [
            [*row, *own[1 : 1 + count], own[-1]] for row, own in zip(changed, rows, strict=True)
        ]
        reduced, rank = fmpq_mat(seen[1:]).transpose().rref()
        kept = [next(j for j in range(reduced.ncols()) if reduced[i, j]) for i in range(rank)]
        return fmpq_mat([rows[0], *(rows[1 + j] for j in kept)]).transpose()

    @cached_property
    def sums(self) -> list[fmpq_mat]:
        """What maps 1 and the coordinates to the triangles of what is at least 0."""
        found = []
        for own in self.forms:
            for place in range(len(own[0].blocks)):
                columns = columns_of([form.blocks[place] for form in own], self.table)
                rows = spanning_rows(columns)
                if rows:
                    found.append(flat([upper(column, rows) for column in columns]))
        return found

    @cached_property
    def signs(self) -> list[list[Rational]]:
        """What maps 1 and the coordinates to the multipliers, which are at least 0.

        Those that are 0 for all coordinates are left out.
        """
        count = sum(self.counts[:3])
        return [row for row in self.table.tolist()[1 : 1 + count] if any(row)]

    @property
    def samples(self) -> bool:
        """Whether there is noise, or clients differ, so that some e or e' is needed."""
        return any(self.spent)

    @property
    def lines(self) -> list[Sequence[Rational]]:
        """The rows that are at least 0: the multipliers, and what is left below the largest e."""
        return [*self.signs, *self.room]

    @property
    def room(self) -> list[list[Rational]]:
        """What is left below the largest e and e' that are looked for."""
        limit = fmpq(LARGEST) / rational(self.step.symbols.functions.L)
        return [[limit - e[0], *(-x for x in e[1:])] for e in self._scalars.values()]

    @property
    def _scalars(self) -> dict[str, list[Rational]]:
        """The rows of e and e'."""
        names = self.step.scalars
        rows = self.table.tolist()
        return dict(zip(names, rows[len(rows) - 1 - len(names) : -1], strict=True))

    @property
    def spent(self) -> list[Rational]:
        """The row of e + zeta^2 e'."""
        zeta = rational(self.step.symbols.functions.zeta)
        weights = {"sigma^2": fmpq(1), "zeta^2": zeta**2}
        rows = [[weights[name] * x for x in row] for name, row in self._scalars.items()]
        return [sum(column, ZERO) for column in zip(*rows, strict=True)]

    def at(self, numbers: Sequence[Number], bound: float = float("inf")) -> Descent:
        """Return what coordinates stand for."""
        column = fmpq_mat([[fmpq(1)], *([fmpq(x)] for x in numbers)])
        _, *unknowns, c = (self.table * column).entries()
        scalars = {name: unknowns.pop() for name in reversed(self.step.scalars)}
        e, dissimilarity = (scalars.get(name, ZERO) for name in ("sigma^2", "zeta^2"))
        parts = [self.used, self.bounding, self.starting, self.step.equalities, self.free]
        entries = iter(unknowns)
        own: list[Any] = [
            dict(zip(names, islice(entries, len(names)), strict=True)) for names in parts
        ]
        multipliers, below, starting, moments, changes = own
        weights = [w + changes.get(j, ZERO) for j, w in enumerate(self.weights)]
        proof = Descent(c, tuple(weights), multipliers, below, moments, starting, e)
        return replace(proof, dissimilarity=dissimilarity, bound=bound, positive=self.positive)


def columns_of(matrices: list[Rationals], table: fmpq_mat) -> list[Rationals]:
    """Return the matrices that 1 and each coordinate add."""
    k = len(matrices[0])
    sums = (flat(matrices) * table).transpose().tolist()
    return [np.array(column, dtype=object).reshape(k, k) for column in sums]


_COUNTED = 1e-9
"""Part of the largest weight in a sum above which a form belongs to it."""

_SCALINGS = 4
"""How often rows and columns are divided by their largest entries."""


def _vanishing(rows: Rationals) -> list[int]:
    """Return places of forms a_0 + a.z that are 0 for all z for which all forms are at least 0.

    A sum of them with positive weights is 0 for all z; it is found in floats, and proved exactly.

    Parameters
    ----------
    rows : (m, 1 + k)
        Each a form, a_0 first, in rational numbers.
    """
    found = np.flatnonzero(~rows.any(axis=1)).tolist()
    left, rounded = np.flatnonzero(rows.any(axis=1)), floats(rows)
    while left.size:
        places = left[_sum_that_is_0(rounded[left])]
        if not places.size or not _cancels(rows[places]):
            break
        found += places.tolist()
        left = np.setdiff1d(left, places)
    return sorted(found)


def _sum_that_is_0(rows: NDArray[np.float64]) -> list[int]:
    """Return the places of forms of which a sum with positive weights seems to be 0."""
    for _ in range(_SCALINGS):
        rows = rows / (np.abs(rows).max(axis=0) + (~rows.any(axis=0)))
        rows /= np.abs(rows).max(axis=1)[:, None]
    found = scipy.optimize.linprog(
        np.zeros(len(rows)),
        A_eq=np.vstack([rows.T, np.ones(len(rows))]),
        b_eq=np.append(np.zeros(rows.shape[1]), 1.0),
        method="highs-ds",
    )
    if not found.success or found.x is None:
        return []
    return np.flatnonzero(found.x > _COUNTED * found.x.max()).tolist()


def _cancels(rows: Rationals) -> bool:
    """Whether a sum of all rows with positive weights is 0."""
    reduced, rank = fmpq_mat(rows.T.tolist()).rref()
    last = len(rows) - 1
    return rank == last and all(reduced[i, i] == 1 and reduced[i, last] < 0 for i in range(rank))
