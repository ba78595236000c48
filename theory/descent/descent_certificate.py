"""The proof of a descent in rational numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from certibit.solvers.method import Method
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.descent import Descent
from certibit.theory.proofs.measure import Measure
from certibit.theory.proofs.start import NONE, step_and_start
from certibit.theory.theorem import DescentPromise
from certibit.theory.verdict import subtracted, written
from certibit.theory.worlds.opaque.exact_numbers import rational


@dataclass(frozen=True, repr=False)
class DescentCertificate:
    """A proof that E[Psi+] <= Psi - c M + e sigma^2 for all functions and compressors of a class.

    Then (1/T) sum_t E[M_t] <= Psi_0/(c T) + (e/c) sigma^2; e = 0 for exact gradients. Where clients
    differ by zeta, e' zeta^2 is added. Where the
    variance of gradients grows with f - inf f, Psi on the right may count 1 + growth times. The
    proof is in rational numbers.

    Attributes
    ----------
    method, functions, potential
        The method, the class, and the Lyapunov function Psi, with weight 1 of f - inf f.
    measure : Measure
        M.
    exact : Fraction
        The proved c.
    weights : tuple of Fraction
        Those of the terms of Psi.
    multipliers, below : mapping of Fraction
        The multipliers of the inequalities, by name, in the proofs of the descent and of Psi >= 0.
    free : mapping of Fraction
        The multipliers of what is 0 in the mean, by name, in the proof of the descent.
    starting : mapping of Fraction
        The multipliers of the inequalities, by name, in the proof that Psi at a start is at most
        |x - x*|^2, where functions have a solution.
    bound : float
        An upper bound on the c that any multipliers prove with this Psi.
    exact_e : Fraction
        The proved coefficient of sigma^2, where gradients are stochastic.
    exact_dissimilarity : Fraction
        The proved coefficient e' of zeta^2, where clients differ by zeta.
    growth : Fraction
        The part of itself by which Psi may grow in the mean.
    scale : Fraction
        The factor of the potential that makes Psi: 1, but where functions have a solution.
    seconds : float
        Time from the method to the proof.

    Examples
    --------
    >>> from certibit import GD, FunctionClass, certify_descent
    >>> proof = certify_descent(GD(gamma=0.5), FunctionClass.nonconvex(3, L=1.0))
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
    measure: Measure
    exact: Fraction
    weights: tuple[Fraction, ...]
    multipliers: Mapping[str, Fraction]
    below: Mapping[str, Fraction]
    free: Mapping[str, Fraction]
    starting: Mapping[str, Fraction]
    bound: float
    exact_e: Fraction = Fraction(0)
    exact_dissimilarity: Fraction = Fraction(0)
    scale: Fraction = Fraction(1)
    growth: Fraction = NONE
    seconds: float = field(default=0.0, compare=False)

    @property
    def c(self) -> float:
        """The proved constant, rounded to a float."""
        return float(self.exact)

    @property
    def e(self) -> float:
        """The proved coefficient of sigma^2, rounded to a float."""
        return float(self.exact_e)

    @property
    def dissimilarity(self) -> float:
        """The proved coefficient of zeta^2, rounded to a float."""
        return float(self.exact_dissimilarity)

    @property
    def promise(self) -> DescentPromise:
        """What is proved, with the iterations that follow."""
        grown, unlike = float(self.growth), self.dissimilarity
        return DescentPromise(self.c, self.e, grown, dissimilarity=unlike)

    @property
    def reduces_variance(self) -> bool:
        """Whether it is about one sample at two points, whose noises nearly cancel."""
        return any(name.startswith("difference") for name in self.multipliers)

    def verify(self) -> float:
        """Return the proved c, after the method was run on symbols anew; minus infinity if none."""
        step, start = step_and_start(
            self.method, self.functions, self.potential, self.measure, self.growth
        )
        return self.c if self.descent.holds(step, start) else -float("inf")

    @property
    def descent(self) -> Descent:
        """The proof in the numbers of the programme."""
        multipliers, below, free, starting = (
            {name: rational(y) for name, y in own.items()}
            for own in (self.multipliers, self.below, self.free, self.starting)
        )
        weights = tuple(map(rational, self.weights))
        e, unlike = rational(self.exact_e), rational(self.exact_dissimilarity)
        return Descent(rational(self.exact), weights, multipliers, below, free, starting, e, unlike)

    def __repr__(self) -> str:
        e, unlike = (written(x, 6, up=True) for x in (self.exact_e, self.exact_dissimilarity))
        noise = f" + {e} sigma^2" if self.functions.noise else ""
        noise += f" + {unlike} zeta^2" if self.functions.zeta else ""
        more = f"(1 + {written(self.growth, 6, up=True)}) " if self.growth else ""
        return (
            f"Certificate of {self.method}\nover {self.functions.described_for(self.method)}\n"
            f"E[Psi+] <= {more}Psi {subtracted(self.exact, 6)} {self.measure.symbol}{noise}"
        )
