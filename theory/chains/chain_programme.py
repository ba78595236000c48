"""The potentials of a chain: one programme for all of its steps, in rational numbers.

The unknowns are the potentials between the first and the last, and the multipliers of every step.
Where there are many steps, one potential in the middle is kept for most of them, and their decrease
is one more unknown: the programme does not grow.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, count

import numpy as np
from flint import arb, fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import Surroundings, follow
from certibit.theory.cones.cone_programme import (
    ConeProgramme,
    Number,
    RatioProgramme,
    upper,
    value_of,
)
from certibit.theory.cones.double_doubles import Floats
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.rational_algebra import ZERO, flat, spanning_rows
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

CLOSE = 1e-8
"""Relative distance to the bound at which the search ends."""

ROUGH = (1e-1, 1e-2, 1e-3, 1e-4)
"""Distances before it, relative to t, at which the worth of a decrease is computed anew."""

START, FEW = 0.1, 6
"""Relative distance to their bound of proofs that a search begins with, and the steps to them."""

AT_A_TIME, MOST_BEGINNINGS = 12, 20
"""After so many steps a path begins anew where it is, as its dual point may be no help there."""

MOST_LIFTS = 50
"""How many powers of 1/16 are tried as the weight of function values to begin with."""

LARGEST = fmpq(10**6)
"""How large a potential may be against the first one, so that none grows without a bound."""

DIGITS = 15
"""Of the weights that are found."""

Weights = tuple[float, ...]

Row = list[RationalForm]
"""What 1 and each of the unknowns t, weights and multipliers add to a form."""


class _KeptProgramme(RatioProgramme):
    """Maximise g . (d, v) such that A(v) - d B(v) >= 0, where (1, v) has one scale only."""

    def rescaling(self, columns: Floats, numbers: Floats, dual: Floats) -> Floats:
        """Return 0: the first potential is given."""
        return np.zeros(columns.shape[1])


@dataclass(frozen=True, eq=False)
class ChainProgramme:
    """Maximise t such that t E[last Psi+] after all steps is at most the first Psi.

    Attributes
    ----------
    steps : tuple of RationalStep
        The steps that change the potential, with the terms of all potentials.
    first, last : tuple of float
        The weights of the potential at the start, and of the one after all steps.
    kept : int
        How many further steps keep the potential in the middle, which decreases by d in each.
    """

    steps: tuple[RationalStep, ...]
    first: Weights
    last: Weights
    kept: int = 0

    @property
    def middle(self) -> int:
        """The place of the potential that is kept."""
        return len(self.steps) // 2

    def best(self) -> list[Weights]:
        """Return the weights of all potentials, from the first to the last.

        All steps that change the potential have the same factor, as decreases near 1 lose digits.

        Raises
        ------
        Refusal
            If nothing is proved of the first potential in one of the steps.
        """
        _, t, *inner = _floats((ZERO,) * (not self.kept) + self.best_point())
        found = [self.first]
        for place in range(1, len(self.steps)):
            full = np.zeros(len(self.first))
            full[self._free[0]] = inner[(place - 1) * self._count : place * self._count]
            full *= t ** (-place / len(self.steps))
            found.append(tuple(float(f"{weight:.{DIGITS}g}") for weight in full))
        return [*found, self.last]

    def best_point(self) -> tuple[Number, ...]:
        """Return d, where a potential is kept, t, weights and multipliers with the least factor.

        The factor of all steps is (1 - d)^kept / t. The point where it is least has the largest
        worth d + t for worth = kept t / (1 - d): on the way there, the worth becomes the geometric
        mean of what it was and of this, which converges where t is steep in d, too.
        """
        numbers, worth = self._start, float(self.kept)
        for rough in ROUGH if self.kept else ():
            d, t = _floats(numbers[:2])
            numbers = self._followed(worth, numbers, rough * t / (worth * abs(d) + t))
            d, t = _floats(numbers[:2])
            worth = math.sqrt(worth * self.kept * t / (1 - d))
        return self._followed(worth, numbers, CLOSE)

    def _followed(
        self, worth: float, numbers: tuple[Number, ...], close: float
    ) -> tuple[Number, ...]:
        """Follow a path until its gap is relatively ``close``, or hardly anything is gained."""
        programme = self._programme(worth)
        for _ in range(MOST_BEGINNINGS):
            gains = [value_of(programme.gain, numbers)]

            def enough(point: tuple[Number, ...], gains: list[arb] = gains) -> bool:
                gains.append(value_of(programme.gain, point))
                ended = len(gains) > 3 and abs(gains[-1] - gains[-3]) < CLOSE * abs(gains[-1])
                return ended or len(gains) > AT_A_TIME

            numbers = follow(programme, numbers, close, enough, bounded=False).numbers
            if len(gains) <= AT_A_TIME:
                break
        return numbers

    @cached_property
    def _multiples(self) -> tuple[list[Rational], list[Rational], list[Rational]]:
        """Multiples of the first potential, before them d, if one is kept, and then multipliers."""
        scales, kept, proofs, known = [fmpq(1)], [], [], {}
        for step, before, behind in self._links:
            after = self.last if behind == len(self.steps) else self.first
            if (step, after) not in known:
                known[step, after] = _rough_proof(step, self.first, after)
            decrease, multipliers = known[step, after]
            if behind == before:
                kept.append(decrease)
            else:
                scales.append(scales[before] / (1 - decrease))
            proofs += [scales[behind] * multipliers[name] for name in step.others]
        return kept, scales, proofs

    @property
    def _start(self) -> tuple[Number, ...]:
        """Multiples of the first potential with a little of all function values, and their proofs.

        Raises
        ------
        Refusal
            If they do not prove anything strictly.
        """
        places, table = self._free
        own = (table * fmpq_mat([[rational(x)] for x in self.first])).entries()
        units = [rational(self.steps[0].symbols.weights[k]) for k in places]
        kept, scales, proofs = self._multiples
        for power in range(MOST_LIFTS):
            lift = fmpq(1, 16**power)
            lifted = [
                x + lift * unit * valued
                for x, unit, valued in zip(own, units, self._valued, strict=True)
            ]
            weights = [scale * x for scale in scales[1:-1] for x in lifted]
            numbers = (*kept, scales[-1], *weights, *proofs)
            if Surroundings.of(self._programme(1.0), numbers) is not None:
                return numbers
        raise Refusal(f"no chain of {len(self.steps) + self.kept} steps is found")

    def _programme(self, worth: float) -> ConeProgramme | RatioProgramme:
        """Return the programme that maximises t, or worth d + t."""
        (above, lines), _ = self._parts
        gain = [1, *[0] * (lines.ncols() - 2)]
        if not self.kept:
            return ConeProgramme.of(gain, above, lines.tolist())
        gain = [rational(worth), *gain]
        return _KeptProgramme(
            *(
                ConeProgramme.of(gain, list(map(_with_d, sums)), _with_d(rows).tolist())
                for sums, rows in self._parts
            )
        )

    @cached_property
    def _parts(self) -> tuple[tuple[list[fmpq_mat], fmpq_mat], tuple[list[fmpq_mat], fmpq_mat]]:
        """What maps 1 and the unknowns but d to triangles and rows, and to what d takes of them."""
        above: list[fmpq_mat] = []
        below: list[fmpq_mat] = []
        lines: list[tuple[Sequence[Rational], Sequence[Rational]]] = []
        for rows in self._rows:
            for place in range(len(rows[0][0].blocks)):
                own, less = ([form.blocks[place] for form in row] for row in rows)
                seen = spanning_rows([*own, *less])
                if seen:
                    above.append(flat([upper(block, seen) for block in own]))
                    below.append(flat([upper(block, seen) for block in less]))
            values = (zip(*(form.values for form in row), strict=True) for row in rows)
            lines += [pair for pair in zip(*values, strict=True) if any(chain(*pair))]
        lines += [(line, [ZERO] * len(line)) for line in self._lines]
        kept, taken = (fmpq_mat(list(side)) for side in zip(*lines, strict=True))
        return (above, kept), (below, taken)

    @property
    def _lines(self) -> list[list[Rational]]:
        """The rows of t, of weights of function values, of multipliers, and of LARGEST."""
        links, width = len(self.steps), len(self._rows[0][0])
        weights = [i for i, valued in enumerate(self._valued * (links - 1), start=2) if valued]
        multipliers = range(2 + self._count * (links - 1), width)
        lines = [[fmpq(i == j) for i in range(width)] for j in (1, *weights, *multipliers)]
        now, (places, _) = self.steps[0].now, self._free
        units = _parts_of(combination(list(map(rational, self.steps[0].symbols.weights)), now))

        def size(form: RationalForm) -> Rational:
            return sum((x / y for x, y in zip(_parts_of(form), units, strict=True) if y), ZERO)

        sizes = [-size(now[k]) for k in places]
        own = size(combination(list(map(rational, self.first)), now))
        for place, scale in enumerate(self._multiples[1][1:-1]):
            line = [ZERO] * width
            line[0] = LARGEST * own * max(scale, fmpq(1))
            at = 2 + place * self._count
            line[at : at + self._count] = sizes
            lines.append(line)
        return lines

    @cached_property
    def _valued(self) -> list[bool]:
        """Whether each of the free terms has function values."""
        return [any(self.steps[0].now[k].values) for k in self._free[0]]

    @property
    def _links(self) -> list[tuple[RationalStep, int, int]]:
        """The steps, with the places of the potentials before and after each."""
        found = [(step, place, place + 1) for place, step in enumerate(self.steps)]
        return found + [(self.steps[self.middle], self.middle, self.middle)] * bool(self.kept)

    @cached_property
    def _rows(self) -> list[tuple[Row, Row]]:
        """What is left of the potential before a step, and what d takes of it, for each step."""
        links, multiplier = len(self.steps), 2 + self._count * (len(self.steps) - 1)
        width = multiplier + sum(len(step.others) for step, _, _ in self._links)
        found = []
        for step, before, behind in self._links:
            nothing = combination([ZERO], step.now[:1])
            row, less = ([nothing] * width for _ in range(2))
            bounds = map(step.inequalities.__getitem__, step.others)
            now, after, taken = (
                list(map(step.without_values, forms)) for forms in (step.now, step.after, bounds)
            )
            if not before:
                row[0] = combination(list(map(rational, self.first)), now)
            if behind == links:
                row[1] = combination([-rational(x) for x in self.last], after)
            for i, k in enumerate(self._free[0]):
                for place, sign, forms in ((before, fmpq(1), now), (behind, fmpq(-1), after)):
                    if 0 < place < links:
                        at = 2 + self._count * (place - 1) + i
                        row[at] = row[at].plus(sign, forms[k])
                        less[at] = now[k] if before == behind else nothing
            end = multiplier + len(taken)
            row[multiplier:end] = [combination([fmpq(-1)], [form]) for form in taken]
            multiplier = end
            found.append((row, less))
        return found

    @cached_property
    def _free(self) -> tuple[list[int], fmpq_mat]:
        """The places of terms that span all, and what maps weights of all to weights of these."""
        entries = fmpq_mat([form.entries for form in self.steps[0].now]).transpose()
        reduced, rank = entries.rref()
        rows = reduced.tolist()[:rank]
        return [next(j for j, x in enumerate(row) if x) for row in rows], fmpq_mat(rows)

    @property
    def _count(self) -> int:
        return len(self._free[0])


def _rough_proof(
    step: RationalStep, now: Weights, after: Weights
) -> tuple[Rational, dict[str, Rational]]:
    """Return a decrease and its multipliers, with which everything holds strictly."""
    programme = DescentProgramme.of_factor(
        step, list(map(rational, now)), list(map(rational, after))
    )
    steps = count()
    path = follow(
        programme.cone,
        programme.inside,
        START,
        lambda _: next(steps) == FEW,  # where the best decrease is 0, no distance is small to it
        bounded=False,
    )
    found = programme.at(path.numbers)
    return found.c, dict(found.multipliers)


def _parts_of(form: RationalForm) -> list[Rational]:
    """Return the diagonals of all blocks, then the values."""
    return [*chain(*(np.diag(block) for block in form.blocks)), *form.values]


def _floats(numbers: Sequence[Rational]) -> list[float]:
    return [float(fraction(x)) for x in numbers]


def _with_d(matrix: fmpq_mat) -> fmpq_mat:
    """Return what maps (1, d, v) as a matrix maps (1, v)."""
    return fmpq_mat([[first, ZERO, *rest] for first, *rest in matrix.tolist()])
