"""The best proof of one step in rational numbers, and an upper bound on any proof's decrease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import ConeProgramme, Number, rational_of
from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.inside import strictly_inside
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.cones.triangles import upper
from certibit.theory.proofs.rational_algebra import (
    ZERO,
    flat,
    rounded_down,
    solutions,
    spanning_rows,
)
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, holds
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

CLOSE = 1e-9
"""Relative distance of the decrease to its bound at which a proof counts as the best."""

DIGITS_OF_DECREASE = 12
"""Decimal digits of what is proved, or of 1 less that, where it is near 1."""

DIGITS = (6, 8, 10, 12, 14, 16, 20, 24, 30)
"""Decimal digits of the multipliers that are tried, one after the other."""

ROUNDING = 1e-9
"""What floats may have below 0 where what is proved is not refuted, relative to the best proof."""

SLOWEST = -(10**12)
"""No decrease below this is looked for: Psi may grow by so much in one step at most."""


@dataclass(frozen=True, eq=False)
class BestProof:
    """The best proof of a step, and the dual point that bounds every proof.

    Attributes
    ----------
    decrease : rational
        E[Psi+] <= (1 - decrease) Psi is proved.
    multipliers : mapping
        The multiplier of each inequality, by name.
    bound : float
        An upper bound on the decrease of every proof.
    moments : (k, k) matrices
        The dual point: Gram matrices of the unknowns of each block in a worst case with Psi = 1.
    """

    decrease: Rational
    multipliers: Mapping[str, Rational]
    bound: float
    moments: tuple[Floats, ...]


@dataclass(frozen=True, eq=False)
class ProofProgramme:
    """The proofs of one step with given weights, as a programme.

    Its unknowns are coordinates of the multipliers and the decrease in which all function values
    cancel.
    """

    step: RationalStep
    weights: Sequence[Rational]
    following: Sequence[Rational] | None = None

    @cached_property
    def forms(self) -> list[RationalForm]:
        """What the multipliers and the decrease take from Psi - E[Psi+]: the inequalities, and Psi.

        Raises
        ------
        Refusal
            If the functions have no solution, which Psi is a distance to.
        """
        self.step.symbols.functions.require_solution()
        now, _ = self.step.psi(self.weights, self.following)
        return [*self.step.inequalities.values(), now]

    @cached_property
    def _fixed(self) -> RationalForm:
        """Psi - E[Psi+]."""
        return self.step.left(self.weights, ZERO, {}, self.following)

    @cached_property
    def blocks(self) -> list[tuple[list[int], fmpq_mat]]:
        """What maps 1 and the coordinates to the triangles of what is left, by blocks.

        Each comes with the unknowns that it is about: all others are flat in all forms.
        """
        found = []
        for place, matrix in enumerate(self._fixed.blocks):
            own = [matrix, *(-form.blocks[place] for form in self.forms)]
            rows = spanning_rows(own)
            found.append((rows, flat([upper(one, rows) for one in own]) * self._table))
        return found

    @cached_property
    def _table(self) -> fmpq_mat:
        """What maps 1 and the coordinates to 1, the multipliers and the decrease.

        Raises
        ------
        Refusal
            If no multipliers cancel all function values.
        """
        columns = [self._fixed.values, *(tuple(-x for x in form.values) for form in self.forms)]
        return solutions(np.array(columns, dtype=object).T)

    def best(self, close: float = CLOSE, enough: Rational | None = None) -> BestProof:
        """Return the best proof, or one that proves ``enough``, with as few digits as it needs.

        The best one is relatively ``close`` to its bound.

        Raises
        ------
        Refusal
            If nothing is proved, not even that Psi grows by no more than some factor.
        """
        found = follow(
            self.programme,
            self.inside,
            close,
            lambda numbers: enough is not None and self.at(numbers)[0] > enough,
        )
        moments, dual = [], iter(found.dual)
        for (kept, _), full in zip(self.blocks, self.forms[0].blocks, strict=True):
            gram = np.zeros(full.shape)
            if kept:
                gram[np.ix_(kept, kept)] = next(dual)
            moments.append(gram)
        decrease, named = self._shortened(found.numbers)
        bound, fixed = found.bound, self._table.tolist()[-1][0]
        if fixed:  # the decrease that cancels all function values is one number
            bound = float(np.nextafter(bound + float(fraction(fixed)), np.inf))
        return BestProof(decrease, named, bound, tuple(moments))

    def decrease(self, least: float | None = None) -> float:
        """Return the best decrease, or one that tells whether there is one above the ``least``."""
        path = follow(
            self.programme,
            self.inside,
            CLOSE,
            lambda numbers: least is not None and self.at(numbers)[0] > rational(least),
            bounded=False,
            least=-np.inf if least is None else least,
        )
        return float(fraction(self.at(path.numbers)[0]))

    def at(self, numbers: Sequence[Number]) -> tuple[Rational, dict[str, Rational]]:
        """Return the decrease and the multipliers that coordinates stand for."""
        column = fmpq_mat([[fmpq(1)], *([rational_of(x)] for x in numbers)])
        _, *multipliers, decrease = (self._table * column).entries()
        return decrease, dict(zip(self.step.inequalities, multipliers, strict=True))

    @cached_property
    def programme(self) -> ConeProgramme:
        """The programme of the coordinates."""
        _, *rows, (_, *gain) = self._table.tolist()
        return ConeProgramme.of(gain, self._sums, rows)

    @property
    def _sums(self) -> list[fmpq_mat]:
        return [own for kept, own in self.blocks if kept]

    @cached_property
    def inside(self) -> tuple[Number, ...]:
        """Coordinates at which everything holds strictly.

        Raises
        ------
        Refusal
            If there are none.
        """
        _, *rows, slowest = self._table.tolist()
        slowest[0] -= SLOWEST
        found = strictly_inside(self._sums, rows, [slowest])
        if found is None:
            raise Refusal(
                "no finite factor is proved: whatever multiples of the inequalities are added, "
                "Psi may grow without a bound in one step; take a smaller step size"
            )
        return found

    def _shortened(self, numbers: Sequence[Number]) -> tuple[Rational, dict[str, Rational]]:
        """Return a proof with as few digits as it needs, near coordinates inside.

        Where floats say that digits are too few, there is no need to compute all in fractions.
        """
        there = Surroundings.of(self.programme, numbers)
        *others, decrease = numbers
        less = max(
            zero + rounded_down(decrease - zero, DIGITS_OF_DECREASE) for zero in (ZERO, fmpq(1))
        )
        shorter = ([*(rounded_down(x, digits) for x in others), less] for digits in DIGITS)
        likely = (one for one in shorter if not there or there.lowest(one) >= -ROUNDING)
        for coordinates in chain(likely, [numbers]):
            proof = self.at(coordinates)
            if holds(self.step, self.weights, *proof, self.following):
                return proof
        raise Refusal("Psi is not a sum of squares; take a potential that is at least 0")
