"""A descent with its multipliers: what is proved, in the numbers of its programme."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain

from flint import fmpq

from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_algebra import ZERO, ldl
from certibit.theory.proofs.rational_step import RationalForm, RationalStep, combination
from certibit.theory.proofs.start import Start
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational


@dataclass(frozen=True)
class Descent:
    """A proof of E[Psi+] <= Psi - c M + e sigma^2 + e' zeta^2, in rational numbers.

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
    starting : mapping
        The multipliers of the inequalities in the proof about the start, by name.
    e : rational
        The coefficient of sigma^2, 0 where gradients are exact.
    dissimilarity : rational
        e', the coefficient of zeta^2, 0 where clients do not differ by zeta.
    bound : float
        An upper bound on c for any multipliers, and any free weights within the limit.
    positive : bool
        Whether Psi >= 0 is proved, too.
    following : tuple of rational, optional
        The weights of the terms of Psi+, where they are others.
    """

    c: Rational
    weights: tuple[Rational, ...]
    multipliers: Mapping[str, Rational]
    below: Mapping[str, Rational]
    free: Mapping[str, Rational]
    starting: Mapping[str, Rational]
    e: Rational = ZERO
    dissimilarity: Rational = ZERO
    bound: float = float("inf")
    positive: bool = True
    following: tuple[Rational, ...] | None = None

    def spent(self, functions: FunctionClass) -> Rational:
        """Return e + zeta^2 e', the least of which is looked for."""
        return self.e + rational(functions.zeta) ** 2 * self.dissimilarity

    def holds(self, step: RationalStep, start: Start | None = None) -> bool:
        """Whether a step descends so: no sign fails, values cancel, matrices are at least 0."""
        used = self.multipliers, self.below, self.starting
        if not ({*chain(*used)} <= {*step.inequalities} and {*self.free} <= {*step.equalities}):
            return False  # of another step
        signs = [y for own in used for y in own.values()]
        return min(signs, default=ZERO) >= 0 and all(
            not any(form.values) and all(ldl(block) is not None for block in form.blocks)
            for form in self.left(step, start)
        )

    def left(self, step: RationalStep, start: Start | None = None) -> list[RationalForm]:
        """Return what multiples of the inequalities leave: of the descent, Psi and the start."""
        now, after = step.psi(self.weights, self.following)
        measure = combination([fmpq(1)] * len(step.measured), step.measured)
        left = now.plus(fmpq(-1), after).plus(-self.c, measure)
        spent = {"sigma^2": self.e, "zeta^2": self.dissimilarity}
        for name, scalar in step.scalars.items():
            left = left.plus(spent[name], scalar)
        for name, u in self.free.items():
            left = left.plus(-u, step.equalities[name])
        proved = [(self.multipliers, left)]
        if self.positive:
            proved.append((self.below, now))
        if start is not None:
            rest = combination(self.weights, start.terms)
            proved.append((self.starting, start.distance.plus(fmpq(-1), rest)))
        return [
            combination(
                [fmpq(1), *(-y for y in own.values())],
                [form, *(step.inequalities[name] for name in own)],
            )
            for own, form in proved
        ]
