"""The best proof of one step in rational numbers, and an upper bound on any proof's decrease."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from flint import fmpq

from certibit.data.errors import Refusal
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import ConeProgramme, Number
from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.surroundings import Surroundings
from certibit.theory.proofs.rational_algebra import ZERO, Rationals, rounded_down, spanning_rows
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, holds
from certibit.theory.worlds.symbolic.exact_numbers import Rational
from certibit.theory.worlds.symbolic.kernels import exact_kernel

CLOSE = 1e-9
"""Relative distance of the decrease to its bound at which a proof counts as the best."""

DIGITS_OF_DECREASE = 12
"""Decimal digits of what is proved."""

DIGITS = (6, 8, 10, 12, 14, 16, 20, 24, 30)
"""Decimal digits of the multipliers that are tried, one after the other."""

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
        """Psi, and the inequalities."""
        now, _ = self.step.psi(self.weights, self.following)
        return [now, *self.step.inequalities.values()]

    @cached_property
    def free(self) -> Rationals:
        """What the coordinates change in the decrease and the multipliers: (1 + K, m)."""
        rows = np.array([form.values for form in self.forms], dtype=object).T
        count = len(self.forms)
        kernel = exact_kernel(rows.reshape(-1, count), np.ones(count, dtype=bool))
        return np.array([[x.value for x in row] for row in kernel], dtype=object)

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
        if any(self.step.left(self.weights, ZERO, found, self.following).values):
            raise Refusal(
                "the values of f after the step are not bounded by what is known of them; take a "
                "potential without f - f*"
            )
        return np.array([ZERO, *found.values()], dtype=object)

    @cached_property
    def blocks(self) -> list[tuple[list[int], list[Rationals]]]:
        """What is left at the start, and how coordinates change it, by blocks that are not empty.

        Each comes with the unknowns that it is about: all others are flat in all forms.
        """
        names = list(self.step.inequalities)
        multipliers = dict(zip(names, self.start[1:], strict=True))
        left = self.step.left(self.weights, self.start[0], multipliers, self.following)
        found = []
        for place, fixed in enumerate(left.blocks):
            own = [form.blocks[place] for form in self.forms]
            rows = spanning_rows([fixed, *own])
            inner = np.ix_(rows, rows)
            stack = np.array([-matrix[inner] for matrix in own], dtype=object)
            changes = [np.tensordot(column, stack, axes=1) for column in self.free.T]
            found.append((rows, [fixed[inner], *changes] if rows else []))
        return found

    def best(self, close: float = CLOSE, enough: Rational | None = None) -> BestProof:
        """Return the best proof, or one that proves ``enough``, with as few digits as it needs.

        The best one is relatively ``close`` to its bound.

        Raises
        ------
        Refusal
            If nothing is proved, not even that Psi grows by no more than some factor.
        """
        blocks = [matrices for _, matrices in self.blocks if matrices]
        rows = [[self.start[k], *self.free[k]] for k in range(1, len(self.start))]
        programme = ConeProgramme(self.free[0].tolist(), blocks, rows)
        start = self._interior(blocks, rows)
        found = follow(
            programme,
            start,
            close,
            lambda numbers: enough is not None and self._decrease(numbers) > enough,
        )
        decrease, *multipliers = self.start + self.free @ np.array(found.numbers, dtype=object)
        named = dict(zip(self.step.inequalities, multipliers, strict=True))
        moments, dual = [], iter(found.dual)
        for (kept, matrices), full in zip(self.blocks, self.forms[0].blocks, strict=True):
            gram = np.zeros(full.shape)
            if matrices:
                gram[np.ix_(kept, kept)] = next(dual)
            moments.append(gram)
        decrease, named = self._shortened(decrease, named)
        return BestProof(decrease, named, found.bound, tuple(moments))

    def _decrease(self, numbers: Sequence[Number]) -> Number:
        return sum((g * x for g, x in zip(self.free[0], numbers, strict=True)), self.start[0])

    def _interior(
        self, blocks: list[list[Rationals]], rows: list[list[Number]]
    ) -> tuple[Number, ...]:
        """Return coordinates at which everything holds strictly."""
        sizes = [sum(abs(matrix.diagonal()) for matrix in own) for own in blocks]
        lifts = [np.diag(size) for size in sizes]
        lifted = [[*own, lift] for own, lift in zip(blocks, lifts, strict=True)]
        bounded = [[*row, 0] for row in rows]
        bounded.append([self.start[0] - SLOWEST, *self.free[0], 0])
        nothing = [0] * self.free.shape[1]
        bounded.append([1, *nothing, 1])
        programme = ConeProgramme([*nothing, -1], lifted, bounded)
        lift = fmpq(1)
        while Surroundings.of(programme.unit, (*nothing, lift)) is None:
            lift *= 16
        found = follow(programme, (*nothing, lift), CLOSE, lambda numbers: numbers[-1] <= 0)
        *inside, rest = found.numbers
        if rest > 0:
            raise Refusal(
                "no finite factor is proved: whatever multiples of the inequalities are added, "
                "Psi may grow without a bound in one step; take a smaller step size"
            )
        return tuple(inside)

    def _shortened(
        self, decrease: Rational, multipliers: dict[str, Rational]
    ) -> tuple[Rational, dict[str, Rational]]:
        """Return a proof with as few digits as it needs."""
        weights, following = self.weights, self.following
        less = rounded_down(decrease, DIGITS_OF_DECREASE)
        for digits in DIGITS:
            short = {name: rounded_down(y, digits) for name, y in multipliers.items()}
            tried = self.step.balanced(weights, less, short, following)
            if holds(self.step, weights, less, tried, following):
                return less, tried
        if not holds(self.step, weights, decrease, multipliers, following):
            raise Refusal("Psi is not a sum of squares; take a potential that is at least 0")
        return decrease, multipliers
