"""Sparse forms near the best one of a search, and whether others decrease as much as they should.

A solver in floats says it, in coordinates in which all that is known there is of order one.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import arb, fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.certificates.form_programme import FormProgramme
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_point import ConePoint
from certibit.theory.cones.cone_programme import ConeProgramme, Number, value_of, without_column
from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.float_solver import solve_cones
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.proofs.rational_algebra import ZERO
from certibit.theory.worlds.symbolic.exact_numbers import Rational, rational

GIVEN_UP = rational(3e-7)
"""Part of the decrease that is given up for a form that is small where it may be."""

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
    duals : list of (N,)
        Dual points of the forms that were solved for; each bounds what others decrease by.
    """

    programme: FormProgramme
    there: Surroundings
    duals: list[Floats] = field(default_factory=list)

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
        cost = sum(one / (one @ first) for one in diagonals)
        unused = [ZERO] * (len(programme.others) + len(programme.bounds))
        _, _, *gain = (fmpq_mat([[*(-cost), *unused]]) * programme.table).entries()
        close = ROUGH * len(diagonals) / abs(float(value_of(gain, found)))
        end = follow(ConeProgramme(gain, sums, lines), found, close, bounded=False).numbers
        there = Surroundings.of(programme.programme, (t, *end))
        if there is None:
            raise Refusal("no form that is small is found; state a potential")
        return cls(programme, there)

    def decrease(self, weights: Sequence[Rational]) -> float:
        """Return what weights decrease by, as the solver says.

        Raises
        ------
        Refusal
            If the solver finds nothing.
        """
        fixed, slower = self._seen(weights)
        t, lines = float(self.there.numbers[0]), len(self.there.slack)
        multipliers = len(self.programme.others) + len(self.programme.bounds)
        columns = np.column_stack([slower, -self.there.rows[:, -multipliers:]])
        columns /= np.maximum(np.abs(columns).max(axis=0), np.finfo(float).tiny)
        b, A = np.roll(fixed, lines), np.roll(columns, lines, axis=0)
        objective = -np.eye(1, A.shape[1])[0]
        y, dual = solve_cones(objective, A, b, 0, lines, self.there.programme.sizes)
        self.duals.append(np.roll(dual, -lines))
        return t + float(y[0]) / float(np.abs(slower).max())

    def reach(self, weights: Sequence[Rational], least: float) -> bool:
        """Whether weights decrease by at least so much.

        A known dual point may say that they do not, and the multipliers that are there that they
        do; the solver is asked only if neither does.
        """
        fixed, slower = self._seen(weights)
        t = float(self.there.numbers[0])
        if any(t + float(dual @ fixed) / float(dual @ slower) < least for dual in self.duals):
            return False
        left = ConePoint.of(fixed - (least - t) * slower, self.there.programme.sizes)
        lowest = [float(np.linalg.eigvalsh(own)[0]) for own in left.matrices]
        return min([*lowest, *left.weights]) >= 0 or self.decrease(weights) >= least

    def _seen(self, weights: Sequence[Rational]) -> tuple[Floats, Floats]:
        """Return in coordinates what is left at t, and what is lost where t grows.

        What the weights change is computed before it is rounded.

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
        t, *numbers = self.there.numbers
        there = (t, *own, *numbers[len(own) :])
        programme = self.programme.programme
        fixed, slower = (self.there.seen(one.at(there)) for one in (programme, programme.below))
        return fixed, slower
