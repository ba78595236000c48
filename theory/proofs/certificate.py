"""A certificate: multipliers that prove a factor in rational numbers, and their check."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential, Region
from certibit.theory.proofs.descent import Descent
from certibit.theory.proofs.measure import Measure
from certibit.theory.proofs.rational_step import RationalStep, holds
from certibit.theory.verdict import times_psi
from certibit.theory.worlds.opaque.exact_numbers import Rational, rational


@dataclass(frozen=True, repr=False)
class Certificate:
    """A proof that E[Psi+] <= factor Psi for all functions and compressors of a class.

    The proof is in rational numbers, without any tolerance. The floats in method, functions,
    potential and weights stand for the rational numbers that they are printed as: 0.1 for 1/10.

    Attributes
    ----------
    method, functions, potential
        The method, the class, and the Lyapunov function.
    exact : Fraction
        The proved decrease, 1 - factor.
    weights : tuple of numbers
        The weights of the terms of the Lyapunov function, in their order.
    multipliers : mapping of Fraction
        The multiplier of each inequality, by name.
    bound : float
        An upper bound on the decrease that any multipliers can prove with this potential; proved by
        a dual point in interval arithmetic, infinite if there is none.
    following : tuple of numbers, optional
        The weights of the terms of Psi+, if they differ from those of Psi.
    below, free : mapping of Fraction
        Where Psi is no sum of squares and function values: the multipliers of the inequalities in
        the proof of Psi >= 0, and of what is 0 in the mean in that of the decrease. Noises are then
        unknowns and not replaced by bounds of their variances, which grow E[Psi+] only where Psi is
        such a sum.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify
    >>> certify(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10))
    Certificate of GD(gamma=0.1)
    over all functions with n = 3, mu = 1, L = 10, omega = 0
    E[Psi+] <= (1 - 0.189999) Psi
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    exact: Fraction
    weights: tuple[Any, ...]
    multipliers: Mapping[str, Fraction]
    bound: float = float("inf")
    following: tuple[Any, ...] | None = None
    below: Mapping[str, Fraction] = field(default_factory=dict)
    free: Mapping[str, Fraction] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)

    @property
    def decrease(self) -> float:
        """The proved decrease, 1 - factor, rounded to a float."""
        return float(self.exact)

    @property
    def factor(self) -> float:
        """The proven factor, rounded up to a float."""
        factor = float(1 - self.exact)
        return factor if factor >= 1 - self.exact else math.nextafter(factor, math.inf)

    @property
    def region(self) -> Region | None:
        """The region in which the certificate holds; None for all states."""
        if not isinstance(self.potential, LocalPotential):
            return None
        return self.potential.region(self.method, self.functions, self.weights)

    @property
    def proviso(self) -> str:
        """The region in words, and why runs stay there; "" if the certificate holds everywhere."""
        region = self.region
        if region is None:
            return ""
        kept = f"kept from Psi = {region.psi} <= {region.level:.6g} on"
        return f"{region.where}; {kept if self.decrease >= 0 else 'not proved to be kept'}"

    def require_kept(self, what: str) -> None:
        """Refuse a use that assumes that runs stay in the region, if this is not proved."""
        if self.region is not None and self.decrease < 0:
            raise Refusal(
                f"what is certified of {self.method.name} holds in a region that a growing Psi "
                f"does not keep, and {what} takes a run that stays there; take a smaller step"
            )

    @property
    def _promise(self) -> str:
        after = self.following
        if after is None or after == self.weights:
            return f"E[Psi+] <= {times_psi(self.exact, 6)}"
        return (
            f"E[Phi+] <= {times_psi(self.exact, 6)}, the terms of Phi with the weights "
            f"{after} and those of Psi with {self.weights}"
        )

    def __repr__(self) -> str:
        return (
            f"Certificate of {self.method}\n"
            f"over {self.functions.described_for(self.method)}\n"
            + self._promise
            + (f"\nwhile {self.proviso}" if self.proviso else "")
        )

    def verify(self) -> float:
        """Return the proven factor; infinity if the multipliers prove nothing.

        The method is run on symbols anew. See :func:`~certibit.theory.proofs.rational_step.holds`
        and :meth:`~certibit.theory.proofs.descent.Descent.holds` for what is checked.
        """
        return self.factor if self.holds_for(self.step) else float("inf")

    @property
    def with_noises(self) -> bool:
        """Whether noises are unknowns, as Psi is no sum of squares and function values."""
        return bool(self.below or self.free)

    @property
    def step(self) -> RationalStep:
        """The step of the method that the multipliers are about, on symbols."""
        measure = Measure("potential") if self.with_noises else None
        return RationalStep.of(self.method, self.functions, self.potential, measure=measure)

    def holds_for(self, step: RationalStep, *, linked: bool = False) -> bool:
        """Whether the multipliers prove the decrease of a step, and that Psi >= 0.

        The weights of Psi+, in a link of a chain, may be negative; alone, such a link must have a
        Psi+ that is a sum of squares and function values, of which variances are bounds.
        """
        weights, following = self.exact_weights
        now, _ = step.psi(weights)
        if not any(now.entries):
            return False
        if following is None or (following == weights and not linked):
            return (bool(step.measured) or now.is_positive) and self.descent(step).holds(
                replace(step, measured=(now,))
            )
        multipliers = {name: rational(y) for name, y in self.multipliers.items()}
        bounded = linked or step.psi(following or weights)[0].is_positive
        return (bounded and not self.with_noises) and holds(
            step, weights, rational(self.exact), multipliers, following
        )

    def descent(self, step: RationalStep) -> Descent:
        """Return the proof that E[Psi+] <= Psi - c Psi, in the numbers of a programme."""
        multipliers, below, free = (
            {name: rational(y) for name, y in own.items()}
            for own in (self.multipliers, self.below, self.free)
        )
        weights, _ = self.exact_weights
        if not self.with_noises:
            now, _ = step.psi(weights)
            below = {name: y for name, y in zip(step.bounding, now.values, strict=False) if y}
        return Descent(rational(self.exact), weights, multipliers, below, free, {})

    @property
    def exact_weights(self) -> tuple[tuple[Rational, ...], tuple[Rational, ...] | None]:
        """The weights of Psi, and those of Psi+ where they are others."""
        following = None if self.following is None else tuple(map(rational, self.following))
        return tuple(map(rational, self.weights)), following
