"""Sparse forms near the best one of a search, and whether others decrease enough."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

import numpy as np
from flint import arb, arb_mat, fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.certificates.form_programme import FormProgramme
from certibit.theory.cones.central_path import PathEnd, follow
from certibit.theory.cones.cone_point import ConePoint
from certibit.theory.cones.cone_programme import ConeProgramme, Number, value_of, without_column
from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.worlds.symbolic.exact_numbers import Rational, rational

GIVEN_UP = rational(3e-7)
"""Part of the decrease that is given up for a form that is small where it may be."""

CLOSE = 1e-8
"""Relative distance of the decrease of the form to that of the best multipliers."""

LOWER = 6
"""To which power of 1/16 and 16 a decrease is lowered until multipliers prove it strictly."""

ROUNDING = 1e-12
"""What a number in coordinates may be below 0."""

ROUGH = 1e-2
"""Relative distance to the least sum of sizes at which this form is small enough."""


@dataclass(frozen=True, eq=False)
class NearForms:
    """Forms near one that decreases by almost as much as the best.

    Attributes
    ----------
    programme : FormProgramme
        Of all forms.
    there : Surroundings
        The point (t, u) of the one.
    multipliers : list
        Of the inequalities, for the last form that was found to decrease enough.
    """

    programme: FormProgramme
    there: Surroundings
    multipliers: list[Number]

    @classmethod
    def of(cls, programme: FormProgramme, t: Rational, found: Sequence[Number]) -> "NearForms":
        """Return the forms near the one that is least where that of a point (t, u) is small.

        It minimises the sum of the diagonal entries of its matrices and of the weights of function
        values, all in units of those that are found.
        """
        t -= GIVEN_UP * abs(t)
        above, below = programme.programme.above, programme.programme.below
        pairs = zip((*above.sums, above.lines), (*below.sums, below.lines), strict=True)
        *sums, lines = (without_column(one - other * arb(t), 1) for one, other in pairs)
        first = programme.weights(found)
        diagonals = [own[:, i, i] for own in programme.squares for i in range(own.shape[1])]
        diagonals += [
            np.array([fmpq(i == j) for i in range(len(first))], dtype=object)
            for j in range(len(first))
            if not any(own[j].any() for own in programme.squares)
        ]
        cost = np.sum([one / (one @ first) for one in diagonals], axis=0)
        unused = [ZERO] * (len(programme.step.others) + len(programme.bounds))
        _, _, *gain = (fmpq_mat([[*(-cost), *unused]]) * programme.table).entries()
        close = ROUGH * len(diagonals) / abs(float(value_of(gain, found)))
        end = follow(ConeProgramme(gain, sums, lines), found, close, bounded=False).numbers
        there = Surroundings.of(programme.programme, (t, *end))
        if there is None:
            raise Refusal("no form that is small is found; state a potential")
        multipliers = there.numbers[-len(unused) :][: len(programme.step.others)]
        return cls(programme, there, list(multipliers))

    @cached_property
    def decrease(self) -> float:
        """What the form itself decreases by, almost."""
        return float(arb(self._end.numbers[0]))

    @cached_property
    def _end(self) -> PathEnd:
        """The end of a path along which t and the multipliers change, and not the form."""
        t, *numbers = self.there.numbers
        programme = self._proofs(numbers[: len(self.programme.unit) - 1])
        return follow(programme, (t, *self.multipliers), CLOSE, bounded=False)

    def _proofs(self, free: Sequence[Number]) -> ConeProgramme:
        """Return the programme of t and the multipliers of inequalities, for one form."""
        own, count, bounds = self.programme.programme, len(self.multipliers), self._bounds
        point = (ZERO, *free, *[ZERO] * count, *bounds)
        (blocks, rows), (slower, less) = own.at(point), own.below.at(point)
        first = 2 + len(free)

        def table(fixed: arb_mat, lost: arb_mat, whole: arb_mat) -> list[list[arb]]:
            three = zip(fixed.entries(), lost.entries(), whole.tolist(), strict=True)
            return [[x, -y, *line[first : first + count]] for x, y, line in three]

        lines = table(rows, less, own.above.lines)
        sums = (
            arb_mat(table(*parts)) for parts in zip(blocks, slower, own.above.sums, strict=True)
        )
        return ConeProgramme(
            [1, *[0] * count],
            list(islice(sums, self.needed)),
            arb_mat([lines[place] for place in self._rows]),
        )

    @property
    def _bounds(self) -> list[Rational]:
        """The multipliers of the bounds of gradients, which no proof needs."""
        return [ZERO] * len(self.programme.bounds)

    @property
    def needed(self) -> int:
        """How many blocks a proof needs; the others are about the form alone."""
        return self.programme.proving[0]

    @cached_property
    def _rows(self) -> list[int]:
        """The rows that are not about the form alone."""
        first, count = 1 + len(self.programme.unit), len(self.programme.step.others)
        lines = self.programme.programme.above.lines.tolist()
        slower = self.programme.programme.below.lines.tolist()
        return [
            place
            for place, (line, other) in enumerate(zip(lines, slower, strict=True))
            if any(x != 0 for x in (*line[first : first + count], *other))
        ]

    def reach(self, weights: Sequence[Rational], least: float) -> bool:
        """Whether weights decrease by at least so much.

        The dual point of the form may say that they do not, and the last multipliers that they do;
        only if neither does, better multipliers are looked for.
        """
        free = self._free(weights)
        fixed, slower = self._seen(free)
        t = float(self.there.numbers[0])
        if t + float(self._dual @ fixed) / float(self._dual @ slower) < least:
            return False
        left = ConePoint.of(fixed - (least - t) * slower, self.there.programme.sizes)
        lowest = [float(np.linalg.eigvalsh(own)[0]) for own in left.matrices[: self.needed]]
        if min([*lowest, *left.weights]) >= -ROUNDING:
            return True
        programme = self._proofs(free)
        below = (least - abs(least) * 16.0**power for power in range(-LOWER, LOWER))
        starts = ((arb(t), *self.multipliers) for t in below)
        start = next((one for one in starts if Surroundings.of(programme, one) is not None), None)
        if start is None:
            return False

        def enough(numbers: Sequence[Number]) -> bool:
            return float(arb(numbers[0])) >= least

        found = follow(programme, start, CLOSE, enough, bounded=False, least=least).numbers
        if enough(found):
            self.multipliers[:] = found[1:]
        return enough(found)

    @cached_property
    def _dual(self) -> Floats:
        """The dual point of the form in coordinates, 0 where a proof needs nothing."""
        end, slack = self._end, np.zeros(len(self.there.slack))
        slack[self._rows] = end.dual_rows
        rest = self.there.programme.sizes[self.needed :]
        return self.there.seen_dual([*end.dual, *(np.zeros((k, k)) for k in rest)], slack)

    def _free(self, weights: Sequence[Rational]) -> list[Rational]:
        """Return the unknowns that stand for weights.

        Raises
        ------
        Refusal
            If all weights are 0.
        """
        sizes, table = self.programme.sizes, self.programme.table.tolist()
        size = sum(a * b for a, b in zip(sizes, weights, strict=True))
        if not size:
            raise Refusal("a form without any term decreases by nothing")
        own = [x / size - row[0] for x, row in zip(weights, table, strict=False)]
        del own[sizes.index(fmpq(1))]
        return own

    def _seen(self, free: Sequence[Rational]) -> tuple[Floats, Floats]:
        """Return in coordinates what is left at t, and what is lost where t grows.

        What the form changes is computed before it is rounded.
        """
        there = (self.there.numbers[0], *free, *self.multipliers, *self._bounds)
        programme = self.programme.programme
        fixed, slower = (self.there.seen(one.at(there)) for one in (programme, programme.below))
        return fixed, slower
