"""The best descent of one step: the largest c, the smallest e for a c, or the least Psi_0/c."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import PathEnd, follow, strictly_inside
from certibit.theory.cones.cone_programme import (
    ConeProgramme,
    Number,
    RatioProgramme,
    rational_of,
    upper,
    value_of,
)
from certibit.theory.proofs.programme.descent_coordinates import (
    LARGEST,
    DescentCoordinates,
    columns_of,
)
from certibit.theory.proofs.proof import Descent
from certibit.theory.proofs.rational_algebra import (
    ZERO,
    Rationals,
    flat,
    rounded_down,
    spanning_rows,
)
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

CLOSE = 1e-9
"""Relative distance of c to its bound at which it counts as the best."""

DIGITS = (10, 12, 14, 16, 20, 24, 30, 40)
"""Decimal digits of the numbers of a proof that are tried, one after the other."""

LOST = fmpq(1, 10**11)
"""Relative part of c that shorter numbers may lose."""

SMALLEST = 1e-6
"""Relative distance of a sum of sizes to its bound at which it counts as the smallest."""

NONE = fmpq(1, 10**18)
"""An e + zeta^2 e' below this, divided by L, may be 0."""

NEARLY = fmpq(1, 10**6)
"""Relative gain of c/Psi_0 for which it is not improved any more."""


@dataclass(frozen=True, eq=False)
class DescentProgramme(DescentCoordinates):
    """Maximise c such that E[Psi+] <= Psi - c M and Psi >= 0."""

    _ends: dict[float, PathEnd] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def inside(self) -> tuple[Number, ...]:
        """Coordinates at which everything holds strictly.

        Raises
        ------
        Refusal
            If there are none.
        """
        c = self.table.tolist()[-1]
        kept = [[c[0] + LARGEST, *c[1:]], *self.room]
        found = strictly_inside(self.sums, self.signs, kept)
        if found is None:
            raise Refusal(
                "no finite factor and no descent is proved: whatever multiples of the inequalities "
                "are added, Psi may grow without a bound in one step; take a smaller step size or, "
                "where noise grows with the gradients of clients that differ, bound their "
                "dissimilarity (zeta)"
            )
        return found

    def best(self, close: float = CLOSE, enough: Rational | None = None) -> Descent:
        """Return the largest c that is proved, relatively ``close`` to its bound, or ``enough``.

        Raises
        ------
        Refusal
            If none is proved, or none is the largest, because M is at most a multiple of sigma^2.
        """
        found, bound = self._towards(close, enough), float("inf")
        if found.bound < bound:
            total = Fraction(found.bound) + fraction(self.table.tolist()[-1][0])
            bound = float(np.nextafter(float(total), np.inf))
        best = self._shortened(found.numbers, bound)
        if enough is None and self.samples and self._grows(found, best):
            raise Refusal(
                "no c is the largest: M is at most a multiple of sigma^2 or zeta^2, and c grows "
                "with e; give the c that is wanted as least"
            )
        return best

    @classmethod
    def of_factor(
        cls,
        step: RationalStep,
        weights: Sequence[Rational],
        following: Sequence[Rational] | None = None,
    ) -> "DescentProgramme":
        """Return the programme of (1 - c) Psi - E[Psi+] for given weights of Psi and Psi+.

        Psi >= 0 is asked where Psi+ is Psi, and multipliers prove it unless Psi is a sum of squares
        and of f - f* at points. What is 0 in the mean is used where a step has a measure, so
        that noises are unknowns.
        """
        now, after = step.psi(weights, following)
        one = replace(step, now=(now,), after=(after,), measured=(now,))
        if not step.measured:
            one = replace(one, equalities={})
        known = now.is_positive and step.symbols.functions.has_solution
        return cls(one, [fmpq(1)], positive=following is None and not known)

    @cached_property
    def cone(self) -> ConeProgramme:
        """The programme of the coordinates that maximises c."""
        gain = self.table.tolist()[-1]
        return ConeProgramme.of(gain[1:], self.sums, self.lines)

    def constant(self, least: float = -np.inf) -> float:
        """Return the largest c, or one that tells whether there is one above the ``least``."""
        gain = self.table.tolist()[-1]
        enough = None if least == -np.inf else rational(least)

        def reached(numbers: Sequence[Number]) -> bool:
            return enough is not None and of(gain, numbers) > enough

        fixed = float(fraction(gain[0]))
        end = follow(self.cone, self.inside, CLOSE, reached, bounded=False, least=least - fixed)
        return float(fraction(self.at(end.numbers).c))

    def moments(self, close: float) -> list[Any]:
        """Return the Gram matrices of the unknowns in a worst case, by block."""
        dual, found = iter(self._towards(close, None).dual), []
        for place, block in enumerate(self.step.now[0].blocks):
            columns = columns_of([form.blocks[place] for form in self.forms[0]], self.table)
            gram = np.zeros(block.shape)
            if kept := spanning_rows(columns):
                gram[np.ix_(kept, kept)] = next(dual)
            found.append(gram)
        return found

    def quietest(self, least: Rational, close: float = CLOSE) -> Descent:
        """Return the smallest e + zeta^2 e' that is proved with a c of at least ``least``.

        Where none is needed it is 0, with the largest c.

        Raises
        ------
        Refusal
            If no such c is proved.
        """
        c, spent = self.table.tolist()[-1], self.spent
        start = self._above(least, close)
        if start is None:
            raise Refusal(f"no c above {float(fraction(least)):g} is proved; ask for less")
        if not any(spent[1:]):  # the method samples no gradient
            return self._shortened(start)
        lines = [*self.lines, [c[0] - least, *c[1:]]]
        programme = ConeProgramme.of([-x for x in spent[1:]], self.sums, lines)
        none = NONE / rational(self.step.symbols.functions.L)
        found = follow(programme, start, close, lambda numbers: of(spent, numbers) < none)
        if of(spent, found.numbers) < none:
            with suppress(Refusal):
                quiet = replace(self, quiet=True).best(close)
                if quiet.c >= least:
                    return quiet
            found = follow(programme, found.numbers, close)
        return self._shortened(found.numbers)

    def _above(self, least: Rational, close: float) -> Sequence[Number] | None:
        """Return coordinates well inside with a c above the ``least``; None if there are none.

        Where the largest c is known, they are between the point that a path to it begins with and
        its end.
        """
        begin, end = self.inside, self._ends.get(close) or self._towards(close, least)
        c, most = self.at(begin).c, self.at(end.numbers).c
        if most <= least:
            return None
        part = max((least + most) / 2 - c, ZERO) / (most - c) if most > c else fmpq(0)
        pairs = zip(map(rational_of, begin), end.numbers, strict=True)
        return [x + part * (y - x) for x, y in pairs]

    def cheapest(self, values: Sequence[Rational], close: float = CLOSE) -> Descent:
        """Return the descent with nearly the least Psi_0/c, given the terms at a start.

        c/Psi_0 is maximised by Dinkelbach's method: c - r Psi_0 is, for the ratio r so far.

        Parameters
        ----------
        values : sequence of rational
            The terms with weight 1 where a run starts.
        """
        rows = self.table.tolist()
        first, c = 1 + sum(self.counts[:4]), rows[-1]
        begin = [
            sum((values[j] * rows[first + k][i] for k, j in enumerate(self.free)), ZERO)
            for i in range(len(c))
        ]
        begin[0] += sum((w * q for w, q in zip(self.weights, values, strict=True)), ZERO)
        numbers, ratio = self._towards(close, None).numbers, ZERO

        while (cost := of(begin, numbers)) > 0 and of(c, numbers) / cost > ratio * (1 + NEARLY):
            ratio, found = of(c, numbers) / cost, numbers
            gain = [x - ratio * y for x, y in zip(c, begin, strict=True)]
            programme = ConeProgramme.of(gain[1:], self.sums, self.lines)
            numbers = follow(programme, self.inside, close).numbers
        return self._shortened(found if ratio > 0 else numbers)

    def smallest(self, least: Rational, squares: Sequence[Rationals]) -> Descent | None:
        """Return the sum of squares and f - f* with the least weights and a c above ``least``.

        None if there is none.

        Parameters
        ----------
        squares : sequence of (terms, k, k)
            What each term adds to the matrices of Psi.
        """
        rows = self.table.tolist()
        first = 1 + sum(self.counts[:4])
        weights = fmpq_mat(rows[first : first + len(self.free)])
        c = [rows[-1][0] - least, *rows[-1][1:]]
        values = [
            row
            for j, row in zip(self.free, weights.tolist(), strict=True)
            if any(self.step.now[j].values)
        ]
        sums = [*self.sums]
        total = [sum(column, start=ZERO) for column in zip(*values, strict=True)] or [ZERO] * len(c)
        for own in squares:
            columns = columns_of([own[j] for j in self.free], weights)
            if places := spanning_rows(columns):
                sums.append(flat([upper(column, places) for column in columns]))
            total = [x + np.trace(column) for x, column in zip(total, columns, strict=True)]
        lines = [*self.signs, c, *(row for row in values if any(row))]
        start = strictly_inside(sums, lines)
        if start is None:
            return None
        programme = ConeProgramme.of([-x for x in total[1:]], sums, lines)
        return self._shortened(follow(programme, start, SMALLEST).numbers)

    def _towards(self, close: float, enough: Rational | None) -> PathEnd:
        """Follow the path to the largest c, until it is ``enough``."""
        gain = self.table.tolist()[-1]

        def reached(numbers: Sequence[Number]) -> bool:
            return enough is not None and of(gain, numbers) > enough

        end = follow(self.cone, self.inside, close, reached)
        if enough is None:
            self._ends[close] = end
        return end

    def _shortened(self, numbers: Sequence[Number], bound: float = float("inf")) -> Descent:
        """Return what coordinates prove, in as few digits as lose next to nothing."""
        best = self.at(numbers, bound)
        for digits in DIGITS:
            short = self.at([rounded_down(x, digits) for x in numbers], bound)
            spent, least = (one.spent(self.step.symbols.functions) for one in (short, best))
            near = short.c >= best.c - LOST * abs(best.c) and spent <= least * (1 + LOST)
            if near and short.holds(self.step, self.start):
                return short
        if not best.holds(self.step, self.start):
            raise Refusal("the descent that is found is no proof; take other parameters")
        return best

    def _grows(self, end: PathEnd, best: Descent) -> bool:
        """Whether a limit of e or e' is what bounds c: their dual numbers are the last."""
        limit = LARGEST / float(fraction(rational(self.step.symbols.functions.L)))
        dual = max(end.dual_rows[-len(self.step.scalars) :])
        return bool(2 * dual * limit > abs(float(fraction(best.c))))


def of(row: Sequence[Rational], numbers: Sequence[Number]) -> Any:
    """Return what a row maps 1 and the coordinates to."""
    return row[0] + value_of(row[1:], numbers)


NO_FACTOR = (
    "no c > 0 with E[Psi+] <= (1 - c) Psi is proved; take a smaller step size, or a smaller class"
)


SLOWEST = (ZERO, *(-(fmpq(10) ** power) for power in (0, 3, 6, 12)))
"""The c from which a search begins: the first of which some form is proved."""


@dataclass(frozen=True, eq=False)
class FactorProgramme(DescentCoordinates):
    """Maximise c such that E[Psi+] <= (1 - c) Psi + e sigma^2 and Psi >= 0.

    Its unknowns are those of a descent; the measure of its step is 0, so that c is an unknown
    without a form. The weights of Psi and c are multiplied, as

        A - c B >= 0  with  A = Psi - E[Psi+] + e sigma^2 - sum_k a_k I_k,  B = Psi - sum_k z_k I_k,

    where I_k >= 0 is known, a - c z >= 0 are the multipliers, and z >= 0 and B >= 0 prove that Psi
    is at least 0. All proofs of a factor are of this kind, and no function value is left in A or B.
    """

    @cached_property
    def used(self) -> list[str]:
        """All inequalities: (1 - c) Psi - E[Psi+] is no difference of as many values of f."""
        return list(self.step.inequalities)

    @property
    def decreasing(self) -> list[list[RationalForm]]:
        """The forms of A and B."""
        return self.forms[:2]

    @cached_property
    def table(self) -> fmpq_mat:
        """What maps 1, c and the other coordinates to 1 and the unknowns."""
        first, *others, c = super().table.transpose().tolist()
        return fmpq_mat([first, c, *others]).transpose()

    @cached_property
    def matrices(self) -> tuple[list[fmpq_mat], list[fmpq_mat]]:
        """The triangles of A and B, and beside them those of what else is at least 0, and of 0."""
        descent, psi, *others = self.forms
        nothing = [combination([ZERO], self.step.now[:1])] * len(psi)
        above: list[fmpq_mat] = []
        below: list[fmpq_mat] = []
        for own, slower in ((descent, psi), *((one, nothing) for one in (psi, *others))):
            for place in range(len(nothing[0].blocks)):
                both = [
                    columns_of([form.blocks[place] for form in forms], self.table)
                    for forms in (own, slower)
                ]
                if kept := spanning_rows([*both[0], *both[1]]):
                    for found, columns in zip((above, below), both, strict=True):
                        found.append(flat([upper(column, kept) for column in columns]))
        return above, below

    @cached_property
    def rows(self) -> tuple[list[list[Rational]], list[list[Rational]]]:
        """The rows a and z, beside them all z, what is left below the largest e, and 0."""
        count, bounds = len(self.used), len(self.bounding)
        multipliers = self.table.tolist()[1 : 1 + count + bounds]
        proving = dict(zip(self.bounding, multipliers[count:], strict=True))
        none = [ZERO] * self.table.ncols()
        named = zip(self.used, multipliers[:count], strict=True)
        rows = [(row, proving.get(name, none)) for name, row in named]
        rows += [(row, none) for row in (*multipliers[count:], *self.room, *self._most_values)]
        above, below = zip(*(pair for pair in rows if any(map(any, pair))), strict=True)
        return list(above), list(below)

    @property
    def _most_values(self) -> list[list[Rational]]:
        """What the free weights of function values are below those of the largest form."""
        first = 1 + sum(self.counts[:4])
        rows = self.table.tolist()[first : first + len(self.free)]
        return [
            [self.most[j] - row[0], *(-x for x in row[1:])]
            for j, row in zip(self.free, rows, strict=True)
            if any(self.step.now[j].values)
        ]

    def best_form(self, close: float) -> tuple[Rational, list[Rational]]:
        """Return a c, relatively ``close`` to the largest, and the weights of its Psi.

        Raises
        ------
        Refusal
            If no c is proved of a form.
        """
        (above, below), (lines, slopes) = self.matrices, self.rows
        gain = [1, *[0] * (self.table.ncols() - 2)]
        programme = RatioProgramme(
            ConeProgramme.of(gain, above, lines), ConeProgramme.of(gain, below, slopes)
        )
        for c in SLOWEST:
            pairs = zip((*above, fmpq_mat(lines)), (*below, fmpq_mat(slopes)), strict=True)
            tables = ((one - c * other).tolist() for one, other in pairs)
            *sums, rows = (fmpq_mat([[row[0], *row[2:]] for row in table]) for table in tables)
            start = strictly_inside(sums, rows.tolist())
            if start is not None:
                found = follow(programme, [c, *start], close, bounded=False).numbers
                return found[0], list(self.at(found).weights)
        raise Refusal(NO_FACTOR)
