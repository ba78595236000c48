"""The form with the best factor as one programme: the largest c with E[Psi+] <= (1 - c) Psi.

Its unknowns are those of a descent without a measure. The weights of Psi and c are multiplied, as

    A - c B >= 0   with   A = Psi - E[Psi+] + e sigma^2 - sum_k a_k I_k,   B = Psi - sum_k z_k I_k,

where I_k >= 0 is known, a - c z >= 0 are the multipliers, and z >= 0 and B >= 0 prove that Psi is
at least 0. All proofs of a factor are of this kind, and no function value is left in A or B.
"""

from dataclasses import dataclass
from functools import cached_property

from flint import fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import follow, strictly_inside
from certibit.theory.cones.cone_programme import ConeProgramme, RatioProgramme
from certibit.theory.cones.triangles import upper
from certibit.theory.proofs.programme.descent_coordinates import DescentCoordinates, columns_of
from certibit.theory.proofs.rational_algebra import ZERO, flat, spanning_rows
from certibit.theory.proofs.rational_step import RationalForm, combination
from certibit.theory.worlds.opaque.exact_numbers import Rational

NO_FACTOR = (
    "no c > 0 with E[Psi+] <= (1 - c) Psi is proved; take a smaller step size, or a smaller class"
)


SLOWEST = (ZERO, *(-(fmpq(10) ** power) for power in (0, 3, 6, 12)))
"""The c from which a search begins: the first of which some form is proved."""


@dataclass(frozen=True, eq=False)
class FactorProgramme(DescentCoordinates):
    """Maximise c such that E[Psi+] <= (1 - c) Psi + e sigma^2 and Psi >= 0.

    The measure of its step is 0, so that c is an unknown without a form.
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
            *sums, rows = (_without_c(one - c * other) for one, other in pairs)
            start = strictly_inside(sums, rows.tolist())
            if start is not None:
                found = follow(programme, [c, *start], close, bounded=False).numbers
                return found[0], list(self.at(found).weights)
        raise Refusal(NO_FACTOR)


def _without_c(table: fmpq_mat) -> fmpq_mat:
    """Return a table without the column of c."""
    return fmpq_mat([[row[0], *row[2:]] for row in table.tolist()])
