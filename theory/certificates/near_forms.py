"""A small form whose decrease is nearly the best, and tests of other forms near it."""

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
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational

GIVEN_UP = rational(3e-7)
"""Relative loss of decrease that is accepted for a form with small entries."""

CLOSE = 1e-8
"""Relative accuracy of the decrease of one form over all multipliers."""

LOWER = 6
"""A decrease is lowered by 16^-LOWER to 16^LOWER of it, until multipliers prove it strictly."""

ROUNDING = 1e-12
"""How far below 0 a number in coordinates may be by rounding."""

ROUGH = 1e-2
"""Relative accuracy of the least sum of sizes."""


@dataclass(frozen=True, eq=False)
class NearForms:
    """A small form whose decrease is nearly the best, and tests of forms near it.

    Attributes
    ----------
    programme : FormProgramme
        The programme of all forms.
    there : Surroundings
        The small form, as a point (t, u) of the programme.
    multipliers : list
        Of the inequalities, for the last form that was found to decrease enough.
    """

    programme: FormProgramme
    there: Surroundings
    multipliers: list[Number]

    @classmethod
    def of(cls, programme: FormProgramme, t: Rational, found: Sequence[Number]) -> "NearForms":
        """Find a small form near the best form, which is given by its point (t, u).

        The small form minimises the sum of the diagonal entries of its matrices and of the weights
        of function values, each relative to that of the best form.
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
        size, there = abs(float(value_of(gain, found))), None
        if size:
            close = ROUGH * len(diagonals) / size
            end = follow(ConeProgramme(gain, sums, lines), found, close, bounded=False).numbers
            there = Surroundings.of(programme.programme, (t, *end))
        if there is None:
            raise Refusal("no form that is small is found; state a potential")
        multipliers = there.numbers[-len(unused) :][: len(programme.step.others)]
        return cls(programme, there, list(multipliers))

    @cached_property
    def decrease(self) -> float:
        """The decrease of the small form, to a relative accuracy of ``CLOSE``."""
        return float(arb(self._end.numbers[0]))

    @cached_property
    def _end(self) -> PathEnd:
        """The end of the path of t and the multipliers for the small form, which is fixed."""
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
        """The multipliers of the bounds of gradients: 0, as these bounds prove no decrease."""
        return [ZERO] * len(self.programme.bounds)

    @property
    def needed(self) -> int:
        """The number of blocks that prove a decrease; the other blocks only concern the form."""
        return self.programme.proving[0]

    @cached_property
    def _rows(self) -> list[int]:
        """The numbers of the rows that prove a decrease; the others only concern the form."""
        first, count = 1 + len(self.programme.unit), len(self.programme.step.others)
        lines = self.programme.programme.above.lines.tolist()
        slower = self.programme.programme.below.lines.tolist()
        return [
            place
            for place, (line, other) in enumerate(zip(lines, slower, strict=True))
            if any(x != 0 for x in (*line[first : first + count], *other))
        ]

    def reach(self, weights: Sequence[Rational], least: float) -> bool:
        """Whether the form with these weights decreases by at least ``least``.

        The dual point of the small form may refute it, and the last multipliers may prove it. If
        neither is the case, other multipliers are searched for.
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
        """The dual point of the small form in coordinates; 0 for what only concerns the form."""
        end, slack = self._end, np.zeros(len(self.there.slack))
        slack[self._rows] = end.dual_rows
        rest = self.there.programme.sizes[self.needed :]
        return self.there.seen_dual([*end.dual, *(np.zeros((k, k)) for k in rest)], slack)

    def _free(self, weights: Sequence[Rational]) -> list[Rational]:
        """Return the unknowns u of the form with these weights.

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
        """Return the constraints at t in coordinates, and by how much they fall as t grows.

        Both are computed before they are rounded.
        """
        there = (self.there.numbers[0], *free, *self.multipliers, *self._bounds)
        programme = self.programme.programme
        fixed, slower = (self.there.seen(one.at(there)) for one in (programme, programme.below))
        return fixed, slower
