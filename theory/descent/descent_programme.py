"""The best descent of one step as one linear programme over semidefinite matrices.

For a given method the constant c, the multipliers and, if they are free, the weights of the terms
of Psi enter linearly in

    Psi - E[Psi+] - c M + e sigma^2 - sum_k y_k I_k - sum_l u_l E_l >= 0   and
    Psi - sum_k z_k I_k >= 0,

with what is known of functions, compressors and noise, I_k >= 0 and E_l = 0, and y, z >= 0. The
noise of stochastic gradients is bounded with sigma^2 in an I_k, so that e >= 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import PathEnd, follow
from certibit.theory.cones.cone_programme import ConeProgramme, Number, value_of
from certibit.theory.cones.inside import strictly_inside
from certibit.theory.proofs.rational_algebra import (
    ZERO,
    Rationals,
    flat,
    ldl,
    rounded_down,
    spanning_rows,
)
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.worlds.symbolic.exact_numbers import Rational, fraction, rational
from certibit.theory.worlds.symbolic.kernels import exact_kernel

CLOSE = 1e-9
"""Relative distance of c to its bound at which it counts as the best."""

DIGITS = (10, 12, 14, 16, 20, 24, 30, 40)
"""Decimal digits of the numbers of a proof that are tried, one after the other."""

LOST = fmpq(1, 10**9)
"""Relative part of c that shorter numbers may lose."""

LARGEST = 10**12
"""No c below minus this is looked for, and no e above this divided by L."""


@dataclass(frozen=True)
class Descent:
    """A proof of E[Psi+] <= Psi - c M + e sigma^2, in rational numbers.

    Attributes
    ----------
    c : rational
        The constant.
    weights : tuple of rational
        Those of the terms of Psi.
    multipliers, below : mapping
        The multipliers of the inequalities in the proof of the descent, and of Psi >= 0, by name.
    free : mapping
        The multipliers of the equalities in the proof of the descent, of any sign.
    e : rational
        The coefficient of sigma^2, 0 where gradients are exact.
    bound : float
        An upper bound on c for any multipliers, and any free weights within the limit.
    """

    c: Rational
    weights: tuple[Rational, ...]
    multipliers: Mapping[str, Rational]
    below: Mapping[str, Rational]
    free: Mapping[str, Rational]
    e: Rational = ZERO
    bound: float = float("inf")

    def holds(self, step: RationalStep) -> bool:
        """Whether a step descends so: no sign fails, values cancel, matrices are at least 0."""
        if min([*self.multipliers.values(), *self.below.values()], default=ZERO) < 0:
            return False
        now, after = step.psi(self.weights)
        measure = combination([fmpq(1)] * len(step.measured), step.measured)
        left = now.plus(fmpq(-1), after).plus(-self.c, measure)
        for sigma in step.variance:
            left = left.plus(self.e, sigma)
        for name, u in self.free.items():
            left = left.plus(-u, step.equalities[name])
        return all(
            _nonnegative(form, step.inequalities, own)
            for own, form in ((self.multipliers, left), (self.below, now))
        )


def _nonnegative(
    form: RationalForm, known: Mapping[str, RationalForm], own: Mapping[str, Rational]
) -> bool:
    """Whether a form is the sum of multiples of known ones and of squares."""
    forms = [form, *(known[name] for name in own)]
    left = combination([fmpq(1), *(-y for y in own.values())], forms)
    return not any(left.values) and all(ldl(block) is not None for block in left.blocks)


@dataclass(frozen=True, eq=False)
class DescentProgramme:
    """Maximise c such that E[Psi+] <= Psi - c M and Psi >= 0.

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
    """

    step: RationalStep
    weights: Sequence[Rational]
    free: Sequence[int] = ()
    most: Sequence[Rational] = ()

    @cached_property
    def used(self) -> list[str]:
        """The inequalities that a descent may use.

        Psi - E[Psi+] has as many values of f with a plus as with a minus. If no inequality but
        those that bound f from below has not, these are of no use.
        """
        count = len(self.step.symbols.evaluations)
        known = self.step.inequalities.items()
        sums = {name: sum(form.values[:count], ZERO) for name, form in known}
        measured = any(sum(form.values, ZERO) for form in self.step.measured)
        balanced = min(sums.values(), default=ZERO) >= 0 and not measured
        return [name for name, total in sums.items() if not (balanced and total)]

    @cached_property
    def bounding(self) -> list[str]:
        """The inequalities about the function values that Psi has, and no others."""
        places = {j for form in self.step.now for j, value in enumerate(form.values) if value}
        return [
            name
            for name, form in self.step.inequalities.items()
            if any(form.values) and all(j in places for j, x in enumerate(form.values) if x)
        ]

    @cached_property
    def forms(self) -> list[list[RationalForm]]:
        """What is fixed, what each unknown adds to the descent, to Psi >= 0, and to Psi <= most.

        The unknowns are the multipliers, those of equalities, the free weights, e if gradients are
        stochastic, and c.
        """
        step = self.step
        now, after = step.psi(self.weights)
        nothing = combination([ZERO], step.now[:1])
        measure = combination([fmpq(1)] * len(step.measured), step.measured)
        minus, lower = (
            [combination([fmpq(-1)], [step.inequalities[name]]) for name in names]
            for names in (self.used, self.bounding)
        )
        moments = [combination([fmpq(-1)], [one]) for one in step.equalities.values()]
        terms = [step.now[j] for j in self.free]
        changes = [step.now[j].plus(fmpq(-1), step.after[j]) for j in self.free]
        fixed = now.plus(fmpq(-1), after)
        descent = [fixed, *minus, *[nothing] * len(lower), *moments, *changes, *step.variance]
        noise = [nothing] * len(step.variance)
        below = [now, *[nothing] * len(minus), *lower, *[nothing] * len(moments), *terms, *noise]
        limits = []
        if self.most:
            above = combination(self.most, step.now).plus(fmpq(-1), now)
            others = [nothing] * (len(minus) + len(lower) + len(moments))
            minus_terms = [combination([fmpq(-1)], [one]) for one in terms]
            limits = [[above, *others, *minus_terms, *noise, nothing]]
        return [[*descent, combination([fmpq(-1)], [measure])], [*below, nothing], *limits]

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
        values = [np.array([form.values for form in own], dtype=object).T for own in self.forms[:2]]
        rows = np.concatenate(values)
        first = 1 + len(self.used) + len(self.bounding)
        moments = slice(first, first + len(self.step.equalities))
        without = np.delete(np.arange(rows.shape[1]), moments)
        table, descent = _solutions(rows[:, without]), self.forms[0]
        equations = [rows]
        for place in range(len(descent[0].blocks) if self.step.equalities else 0):
            matrices = [form.blocks[place] for form in descent]
            seen = np.concatenate(_columns([matrices[j] for j in without], table))
            kernel = exact_kernel(seen, np.ones(len(matrices[0]), dtype=bool))
            for vector in np.array([[x.value for x in row] for row in kernel.T], dtype=object):
                along = np.full((len(vector), rows.shape[1]), ZERO, dtype=object)
                along[:, moments] = np.array([one @ vector for one in matrices[moments]]).T
                equations.append(along)
        return self._independent(_solutions(np.concatenate(equations)))

    def _independent(self, table: fmpq_mat) -> fmpq_mat:
        """Leave out coordinates that change nothing that others do not change."""
        changed = [
            np.concatenate([column.ravel() for column in row])
            for row in zip(
                *(
                    _columns([form.blocks[place] for form in own], table)
                    for own in self.forms
                    for place in range(len(own[0].blocks))
                ),
                strict=True,
            )
        ]
        count = len(self.used) + len(self.bounding)
        rows = table.transpose().tolist()
        seen = [
            [*row, *own[1 : 1 + count], own[-1]] for row, own in zip(changed, rows, strict=True)
        ]
        reduced, rank = fmpq_mat(seen[1:]).transpose().rref()
        kept = [next(j for j in range(reduced.ncols()) if reduced[i, j]) for i in range(rank)]
        return fmpq_mat([rows[0], *(rows[1 + j] for j in kept)]).transpose()

    @cached_property
    def sums(self) -> list[fmpq_mat]:
        """What maps 1 and the coordinates to the matrices that are at least 0."""
        found = []
        for own in self.forms:
            for place in range(len(own[0].blocks)):
                columns = _columns([form.blocks[place] for form in own], self.table)
                rows = spanning_rows(columns)
                if rows:
                    found.append(flat([column[np.ix_(rows, rows)] for column in columns]))
        return found

    @cached_property
    def signs(self) -> list[list[Rational]]:
        """What maps 1 and the coordinates to the multipliers, which are at least 0."""
        count = len(self.used) + len(self.bounding)
        return self.table.tolist()[1 : 1 + count]

    @cached_property
    def inside(self) -> tuple[Number, ...]:
        """Coordinates at which everything holds strictly.

        Raises
        ------
        Refusal
            If there are none.
        """
        c = self.table.tolist()[-1]
        kept = [[c[0] + LARGEST, *c[1:]], *(self._room for _ in self.step.variance)]
        found = strictly_inside(self.sums, self.signs, kept)
        if found is None:
            raise Refusal(
                "no descent is proved: whatever multiples of the inequalities are added, Psi may "
                "grow without a bound in one step; take a smaller step size"
            )
        return found

    def best(self, close: float = CLOSE, enough: Rational | None = None) -> Descent:
        """Return the largest c that is proved, relatively ``close`` to its bound, or ``enough``.

        Raises
        ------
        Refusal
            If none is proved.
        """
        found, bound = self._towards(close, enough), float("inf")
        if found.bound < bound:
            total = Fraction(found.bound) + fraction(self.table.tolist()[-1][0])
            bound = float(np.nextafter(float(total), np.inf))
        return self._shortened(found.numbers, bound)

    def quietest(self, least: Rational, close: float = CLOSE) -> Descent:
        """Return the smallest e that is proved with a c of at least ``least``.

        Raises
        ------
        Refusal
            If no such c is proved.
        """
        *_, e, c = self.table.tolist()
        start = self._towards(close, least).numbers
        if self.at(start).c <= least:
            raise Refusal(f"no c above {float(fraction(least)):g} is proved; ask for less")
        lines = [*self._lines, [c[0] - least, *c[1:]]]
        programme = ConeProgramme.of([-x for x in e[1:]], self.sums, lines)
        return self._shortened(follow(programme, start, close).numbers)

    def _towards(self, close: float, enough: Rational | None) -> PathEnd:
        """Follow the path to the largest c, until it is ``enough``."""
        gain = self.table.tolist()[-1]

        def reached(numbers: Sequence[Number]) -> bool:
            return enough is not None and gain[0] + value_of(gain[1:], numbers) > enough

        programme = ConeProgramme.of(gain[1:], self.sums, self._lines)
        return follow(programme, self.inside, close, reached)

    def _shortened(self, numbers: Sequence[Number], bound: float = float("inf")) -> Descent:
        """Return what coordinates prove, in as few digits as lose next to nothing."""
        best = self.at(numbers, bound)
        for digits in DIGITS:
            short = self.at([rounded_down(x, digits) for x in numbers], bound)
            near = short.c >= best.c - LOST * abs(best.c) and short.e <= best.e * (1 + LOST)
            if near and short.holds(self.step):
                return short
        if not best.holds(self.step):
            raise Refusal("the descent that is found is no proof; take other parameters")
        return best

    @property
    def _lines(self) -> list[Sequence[Rational]]:
        """The rows that are at least 0: the multipliers, and what is left below the largest e."""
        return [*self.signs, *(self._room for _ in self.step.variance)]

    @property
    def _room(self) -> list[Rational]:
        """What is left below the largest e that is looked for."""
        e = self.table.tolist()[-2]
        limit = fmpq(LARGEST) / rational(self.step.symbols.functions.L)
        return [limit - e[0], *(-x for x in e[1:])]

    def at(self, numbers: Sequence[Number], bound: float = float("inf")) -> Descent:
        """Return what coordinates stand for."""
        column = fmpq_mat([[fmpq(1)], *([fmpq(x)] for x in numbers)])
        _, *unknowns, c = (self.table * column).entries()
        e = unknowns.pop() if self.step.variance else ZERO
        parts = [self.used, self.bounding, self.step.equalities, self.free]
        entries = iter(unknowns)
        own: list[Any] = [
            dict(zip(names, islice(entries, len(names)), strict=True)) for names in parts
        ]
        multipliers, below, moments, changes = own
        weights = [w + changes.get(j, ZERO) for j, w in enumerate(self.weights)]
        return Descent(c, tuple(weights), multipliers, below, moments, e, bound)


def _solutions(rows: Rationals) -> fmpq_mat:
    """Return what maps 1 and coordinates to 1 and the unknowns with rows (1, unknowns) = 0."""
    fixed, unknowns = rows[:, :1], rows[:, 1:]
    count = unknowns.shape[1]
    reduced, rank = fmpq_mat(np.hstack([unknowns, fixed]).tolist()).rref()
    leads = [next(j for j in range(count + 1) if reduced[i, j]) for i in range(rank)]
    if count in leads:
        raise Refusal(
            "the values of f after the step are not bounded by what is known of them; take a "
            "potential without f - f*"
        )
    others = [j for j in range(count) if j not in leads]
    table = [[fmpq(j == 0) for j in range(len(others) + 1)]]
    for place in range(count):
        if place in leads:
            i = leads.index(place)
            table.append([-reduced[i, count], *(-reduced[i, j] for j in others)])
        else:
            table.append([ZERO, *(fmpq(j == place) for j in others)])
    return fmpq_mat(table)


def _columns(matrices: list[Rationals], table: fmpq_mat) -> list[Rationals]:
    """Return the matrices that 1 and each coordinate add."""
    k = len(matrices[0])
    sums = (flat(matrices) * table).transpose().tolist()
    return [np.array(column, dtype=object).reshape(k, k) for column in sums]
