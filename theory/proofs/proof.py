"""A proof of one step: multipliers that prove E[Psi+] <= Psi - c M, and their check."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

from certibit.data.errors import Refusal
from certibit.solvers.method import Every, Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import LocalPotential, Potential, Region
from certibit.theory.proofs.rational_step import RationalStep
from certibit.theory.proofs.start import (
    NO_GROWTH,
    PSI,
    Descent,
    Measure,
    Start,
    factor_step,
    step_and_start,
    with_noises,
)
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.theorem import ContractionPromise, DescentPromise
from certibit.theory.verdict import subtracted, times_psi, written
from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational


def unit_of_step(method: Method) -> str:
    """Say what a step is where it is not one iteration: a round with its local steps."""
    schedule = method.schedule
    count = schedule.iterations if isinstance(schedule, Every) else 1
    return f"; a step is a round of {count} iterations" if count > 1 else ""


@dataclass(frozen=True, repr=False)
class Proof:
    """A proof that E[Psi+] <= (1 + growth) Psi - c M + e sigma^2 + e' zeta^2 over a class.

    With M = Psi it proves a factor, E[Psi+] <= (1 - c) Psi + e sigma^2. With another M and no
    growth, (1/T) sum_t E[M_t] <= Psi_0/(c T) + (e/c) sigma^2 + (e'/c) zeta^2 after T steps. e = 0
    for exact gradients, and e' = 0 where no zeta bounds how much clients differ.

    The proof is in rational numbers, without any tolerance. The floats in method, functions,
    potential and weights stand for the rational numbers that they are printed as: 0.1 for 1/10.

    Attributes
    ----------
    method, functions, potential
        The method, the class, and the Lyapunov function Psi.
    exact : Fraction
        The proved c.
    weights : tuple of numbers
        The weights of the terms of Psi, in their order.
    multipliers, below : mapping of Fraction
        The multipliers of the inequalities, by name, in the proofs of the decrease and of Psi >= 0;
        the latter has none where M = Psi is a sum of squares and function values.
    measure : Measure
        M.
    free : mapping of Fraction
        The multipliers of what is 0 in the mean, by name, in the proof of the decrease.
    starting : mapping of Fraction
        The multipliers of the inequalities, by name, in the proof that Psi at a start is at most
        |x - x*|^2, where functions have a solution and M is not Psi.
    bound : float
        An upper bound on the c that any multipliers prove with this Psi; proved by a dual point in
        interval arithmetic, infinite if there is none.
    exact_e, exact_dissimilarity : Fraction
        The proved e and e'.
    growth : Fraction
        The part of itself by which Psi may grow in the mean.
    scale : Fraction
        The factor of the potential that makes Psi: 1, but where ``starting`` is used.
    following : tuple of numbers, optional
        The weights of the terms of Psi+ in a link of a chain.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify
    >>> certify(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10))
    Certificate of GD(gamma=0.1)
    over all functions with n = 3, mu = 1, L = 10, omega = 0
    E[Psi+] <= (1 - 0.189999) Psi
    >>> proof = certify(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
    >>> proof
    Certificate of GD(gamma=0.5)
    over all functions with n = 3, mu = -1, L = 1, omega = 0
    E[Psi+] <= Psi - 0.437499 |grad f(x)|^2
    >>> round(proof.promise.rounds_to(0.01))
    229
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    exact: Fraction
    weights: tuple[Any, ...]
    multipliers: Mapping[str, Fraction]
    measure: Measure = PSI
    below: Mapping[str, Fraction] = field(default_factory=dict)
    free: Mapping[str, Fraction] = field(default_factory=dict)
    starting: Mapping[str, Fraction] = field(default_factory=dict)
    bound: float = float("inf")
    exact_e: Fraction = Fraction(0)
    exact_dissimilarity: Fraction = Fraction(0)
    growth: Fraction = NO_GROWTH
    scale: Fraction = Fraction(1)
    following: tuple[Any, ...] | None = None
    seconds: float = field(default=0.0, compare=False)

    @classmethod
    def of(
        cls,
        method: Method,
        functions: FunctionClass,
        potential: Potential,
        measure: Measure,
        found: Descent,
        weights: tuple[Any, ...],
        **more: Any,
    ) -> Self:
        """Return the proof with the multipliers of a programme."""
        multipliers, below, free, starting = (
            {name: fraction(y) for name, y in own.items()}
            for own in (found.multipliers, found.below, found.free, found.starting)
        )
        return cls(
            method,
            functions,
            potential,
            fraction(found.c),
            weights,
            multipliers,
            measure,
            below,
            free,
            starting,
            found.bound,
            fraction(found.e),
            fraction(found.dissimilarity),
            **more,
        )

    @property
    def c(self) -> float:
        """The proved constant, rounded to a float."""
        return float(self.exact)

    decrease = c
    """The proved 1 - factor, where M = Psi."""

    @property
    def factor(self) -> float:
        """The proved factor 1 - c, rounded up to a float, where M = Psi."""
        factor = float(1 - self.exact)
        return factor if factor >= 1 - self.exact else math.nextafter(factor, math.inf)

    @property
    def e(self) -> float:
        """The proved coefficient of sigma^2, rounded to a float."""
        return float(self.exact_e)

    @property
    def dissimilarity(self) -> float:
        """The proved coefficient of zeta^2, rounded to a float."""
        return float(self.exact_dissimilarity)

    @property
    def spent(self) -> Rational:
        """The sum e + zeta^2 e', of which the least is looked for."""
        zeta = rational(self.functions.zeta)
        return rational(self.exact_e) + zeta**2 * rational(self.exact_dissimilarity)

    @property
    def promise(self) -> ContractionPromise | DescentPromise:
        """What is proved, with the iterations that follow."""
        if self.measure.contracts:
            return ContractionPromise(self.factor, self.e)
        name, unlike = self.measure.name, self.dissimilarity
        return DescentPromise(self.c, self.e, float(self.growth), name, unlike)

    @property
    def region(self) -> Region | None:
        """The region in which the proof holds; None for all states."""
        potential = self.potential
        while isinstance(potential, Reweighted):
            potential = potential.potential
        if not isinstance(potential, LocalPotential):
            return None
        return potential.region(self.method, self.functions, self.weights)

    @property
    def proviso(self) -> str:
        """The region in words, and why runs stay there; "" if the proof holds everywhere."""
        region = self.region
        if region is None:
            return ""
        kept = f"kept from Psi = {region.psi} <= {region.level:.6g} on"
        return f"{region.where}; {kept if self.c >= 0 else 'not proved to be kept'}"

    def require_kept(self, what: str) -> None:
        """Refuse a use that assumes that runs stay in the region, if this is not proved."""
        if self.region is not None and self.c < 0:
            raise Refusal(
                f"what is certified of {self.method.name} holds in a region that a growing Psi "
                f"does not keep, and {what} takes a run that stays there; take a smaller step"
            )

    @property
    def reduces_variance(self) -> bool:
        """Whether it is about one sample at two points, whose noises nearly cancel."""
        return any(name.startswith("difference") for name in self.multipliers)

    def statement(self, digits: int = 6) -> str:
        """Return the inequality that is proved, rounded so that it stays true."""
        if self.following not in {None, self.weights}:
            return (
                f"E[Phi+] <= {times_psi(self.exact, digits)}, the terms of Phi with the weights "
                f"{self.following} and those of Psi with {self.weights}"
            )
        spent = (self.exact_e, "sigma^2"), (self.exact_dissimilarity, "zeta^2")
        added = "".join(f" + {written(x, 6, up=True)} {unit}" for x, unit in spent if x)
        if self.measure.contracts:
            return f"E[Psi+] <= {times_psi(self.exact, digits)}{added}"
        grown = f"(1 + {written(self.growth, 6, up=True)}) " if self.growth else ""
        least = subtracted(self.exact, digits)
        return f"E[Psi+] <= {grown}Psi {least} {self.measure.symbol}{added}"

    def __repr__(self) -> str:
        return (
            f"Certificate of {self.method}{unit_of_step(self.method)}\n"
            f"over {self.functions.described_for(self.method)}\n"
            + self.statement()
            + (f"\nwhile {self.proviso}" if self.proviso else "")
        )

    def verify(self) -> bool:
        """Return whether the multipliers prove it, after the method was run on symbols anew.

        See :meth:`~certibit.theory.proofs.start.Descent.holds` for what is checked.
        """
        return self.holds_for(*self.step_and_start)

    @property
    def step_and_start(self) -> tuple[RationalStep, Start | None]:
        """The step of the method that the multipliers are about, on symbols, and its start."""
        about = self.method, self.functions, self.potential
        if self.following is not None:
            return RationalStep.of(*about), None
        if not self.measure.contracts:
            return step_and_start(*about, self.measure, self.growth)
        return with_noises(factor_step(*about), *about, self.exact_weights), None

    def holds_for(
        self, step: RationalStep, start: Start | None = None, *, linked: bool = False
    ) -> bool:
        """Whether the multipliers prove the decrease of a step, and that Psi >= 0.

        In a link of a chain the weights of Psi+, but for those of function values, may be negative,
        and so may be Psi. Where the step has no noises as unknowns, bounds of their variances stand
        for them; so Psi+ is a sum of squares and function values, or the end of another link, where
        the messages whose variance is the bound are the worst ones for all links.
        """
        descent = self.descent(step)
        now, _ = step.psi(descent.weights)
        following = descent.following
        signed = zip(following or (), step.now, strict=False)
        if any(y < 0 and any(form.values) for y, form in signed) or not any(now.entries):
            return False
        if not step.measured:
            one_law = linked and following is not None and self.functions.independent
            if not (one_law or step.bounds_variances(following or descent.weights)):
                return False
            step = replace(step, equalities={})
        if self.measure.contracts:
            step = replace(step, measured=(now,))
        return descent.holds(step, start)

    def descent(self, step: RationalStep) -> Descent:
        """Return the proof of a step, in the numbers of a programme."""
        multipliers, below, free, starting = (
            {name: rational(y) for name, y in own.items()}
            for own in (self.multipliers, self.below, self.free, self.starting)
        )
        weights = self.exact_weights
        following = None if self.following is None else tuple(map(rational, self.following))
        if following is None and not below:  # bounds of all f - f* prove Psi >= 0
            now, _ = step.psi(weights)
            below = {name: y for name, y in zip(step.bounding, now.values, strict=False) if y}
        return Descent(
            rational(self.exact),
            weights,
            multipliers,
            below,
            free,
            starting,
            rational(self.exact_e),
            rational(self.exact_dissimilarity),
            positive=following is None,
            following=following,
        )

    @property
    def exact_weights(self) -> tuple[Rational, ...]:
        """The weights of Psi as rational numbers."""
        return tuple(map(rational, self.weights))
