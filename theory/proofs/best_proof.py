"""The best proof of one step in rational numbers, and an upper bound on any proof's decrease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import ConeProgramme, Number
from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.inside import strictly_inside
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.cones.triangles import upper
from certibit.theory.proofs.rational_algebra import (
    ZERO,
    Rationals,
    flat,
    rounded_down,
    spanning_rows,
)
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, holds
from certibit.theory.worlds.symbolic.exact_numbers import Rational, fraction, rational
from certibit.theory.worlds.symbolic.kernels import exact_kernel

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

    Its unknowns are coordinates of the decrease and the multipliers, in which all function values
    cancel.
    """

    step: RationalStep
    weights: Sequence[Rational]
    following: Sequence[Rational] | None = None

    @cached_property
    def forms(self) -> list[RationalForm]:
        """Psi, and the inequalities.

        Raises
        ------
        Refusal
            If the functions have no solution, which Psi is a distance to.
        """
        self.step.symbols.functions.require_solution()
        now, _ = self.step.psi(self.weights, self.following)
        return [now, *self.step.inequalities.values()]

    @cached_property
    def free(self) -> Rationals:
        """What the coordinates change in the decrease and the multipliers: (1 + K, m)."""
        rows = np.array([form.values for form in self.forms], dtype=object).T
        count = len(self.forms)
        return exact_kernel(rows.reshape(-1, count), np.ones(count, dtype=bool))

    @cached_property
    def start(self) -> Rationals:
        """A decrease and positive multipliers with which no function value is left.

        Raises
        ------
        Refusal
            If there are none.
        """
        ones = dict.fromkeys(self.step.inequalities, fmpq(1))
        found = self.step.balanced(self.weights, ZERO, ones, self.following, adding=True)
        if any(self.step.left(self.weights, ZERO, found, self.following, blocks=False).values):
            raise Refusal(
                "the values of f after the step are not bounded by what is known of them; take a "
                "potential without f - f*"
            )
        return np.array([ZERO, *found.values()], dtype=object)

    @cached_property
    def blocks(self) -> list[tuple[list[int], fmpq_mat]]:
        """What maps 1 and the coordinates to the triangles of what is left, by blocks.

        Each comes with the unknowns that it is about: all others are flat in all forms.
        """
        none = dict.fromkeys(self.step.inequalities, ZERO)
        fixed = self.step.left(self.weights, ZERO, none, self.following)
        found = []
        for place, matrix in enumerate(fixed.blocks):
            own = [matrix, *(-form.blocks[place] for form in self.forms)]
            rows = spanning_rows(own)
            found.append((rows, flat([upper(one, rows) for one in own]) * self._table))
        return found

    @cached_property
    def _table(self) -> fmpq_mat:
        """What maps 1 and the coordinates to 1, the decrease and the multipliers."""
        rows = np.column_stack([self.start, self.free]).tolist()
        return fmpq_mat([[fmpq(1), *[ZERO] * self.free.shape[1]], *rows])

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
        return BestProof(decrease, named, found.bound, tuple(moments))

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
        decrease, *multipliers = self.start + self.free @ np.array(numbers, dtype=object)
        return decrease, dict(zip(self.step.inequalities, multipliers, strict=True))

    @cached_property
    def programme(self) -> ConeProgramme:
        """The programme of the coordinates."""
        gain, rows = self.free[0].tolist(), self._table.tolist()[2:]
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
        _, slowest, *rows = self._table.tolist()
        slowest[0] -= SLOWEST
        found = strictly_inside(self._sums, (), [*rows, slowest])
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
        decrease, multipliers = self.at(numbers)
        weights, following = self.weights, self.following
        less = max(
            zero + rounded_down(decrease - zero, DIGITS_OF_DECREASE) for zero in (0, fmpq(1))
        )
        for digits in DIGITS:
            short = {name: rounded_down(y, digits) for name, y in multipliers.items()}
            tried = self.step.balanced(weights, less, short, following)
            if there and there.lowest(self._coordinates(less, tried)) < -ROUNDING:
                continue
            if holds(self.step, weights, less, tried, following):
                return less, tried
        if not holds(self.step, weights, decrease, multipliers, following):
            raise Refusal("Psi is not a sum of squares; take a potential that is at least 0")
        return decrease, multipliers

    def _coordinates(
        self, decrease: Rational, multipliers: Mapping[str, Rational]
    ) -> list[Rational]:
        """Return the coordinates of a decrease and multipliers with which no value is left."""
        change = np.array([decrease, *multipliers.values()], dtype=object) - self.start
        return [change[np.flatnonzero(column)[-1]] for column in self.free.T]
