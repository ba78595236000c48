"""A certificate in rational numbers: the step, multipliers and potential, and what is left."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.theory.certificates.proof import Certificate, value_weights
from bitbound.theory.certificates.symbolic_step import SymbolicStep, symbolic_step
from bitbound.theory.exact.rational_algebra import Rationals, congruent, ldl
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Potential
from bitbound.theory.worlds.symbolic.exact_numbers import rational
from bitbound.theory.worlds.symbolic.interpolation import Form


@dataclass(frozen=True, eq=False)
class RationalForm:
    """A form on what the unknowns can be: its blocks there, (k, k), and its function values."""

    blocks: tuple[Rationals, ...]
    values: tuple[Fraction, ...]

    def plus(self, factor: Fraction, other: "RationalForm") -> "RationalForm":
        """Return this form plus a multiple of another."""
        if not factor:
            return self
        blocks = tuple(a + factor * b for a, b in zip(self.blocks, other.blocks, strict=True))
        pairs = zip(self.values, other.values, strict=True)
        return RationalForm(blocks, tuple(a + factor * b for a, b in pairs))


@dataclass(frozen=True, eq=False)
class RationalStep:
    """One step of a method in rational numbers.

    Attributes
    ----------
    symbols : SymbolicStep
        With exact numbers.
    now, after : tuples of RationalForm
        Psi and E[Psi+], by the terms of the Lyapunov function with weight 1.
    inequalities : mapping
        What is at least 0, by name.
    """

    symbols: SymbolicStep
    now: tuple[RationalForm, ...]
    after: tuple[RationalForm, ...]
    inequalities: Mapping[str, RationalForm]

    @classmethod
    def of(cls, method: Method, functions: FunctionClass, potential: Potential) -> "RationalStep":
        """Run a step on symbols in rational numbers."""
        step = symbolic_step(method, functions, potential, exact=True)
        kernels = [fraction_matrix(kernel) for kernel in step.kernels]

        def reduced(form: Form) -> RationalForm:
            pairs = zip(form.blocks, kernels, strict=True)
            blocks = tuple(congruent(fraction_matrix(b), kernel) for b, kernel in pairs)
            values = form.values[: len(step.evaluations)].tolist()
            return RationalForm(blocks, tuple(map(rational, values)))

        return cls(
            step,
            tuple(map(reduced, step.now)),
            tuple(map(reduced, step.after)),
            {name: reduced(form) for name, form in step.inequalities.items()},
        )

    def psi(
        self, weights: tuple[Fraction, ...], following: tuple[Fraction, ...] | None = None
    ) -> tuple[RationalForm, RationalForm]:
        """Return Psi and E[Psi+], whose weights may be others."""
        return _sum(weights, self.now), _sum(following or weights, self.after)

    def left(
        self,
        weights: tuple[Fraction, ...],
        decrease: Fraction,
        multipliers: Mapping[str, Fraction],
        following: tuple[Fraction, ...] | None = None,
    ) -> RationalForm:
        """Return (1 - decrease) Psi - E[Psi+] minus the multiples of what is at least 0."""
        now, after = self.psi(weights, following)
        total = RationalForm(
            tuple((1 - decrease) * block for block in now.blocks),
            tuple((1 - decrease) * value for value in now.values),
        ).plus(Fraction(-1), after)
        for name, value in multipliers.items():
            total = total.plus(-value, self.inequalities[name])
        return total

    def balanced(
        self,
        weights: tuple[Fraction, ...],
        decrease: Fraction,
        multipliers: Mapping[str, Fraction],
        following: tuple[Fraction, ...] | None = None,
        *,
        adding: bool = False,
    ) -> dict[str, Fraction]:
        """Change multipliers a little so that no function value is left.

        An inequality between the point and the solution is used less, or its reverse more; only
        the latter where multipliers are to be added.
        """
        exact = dict(multipliers)
        rest = self.left(weights, decrease, exact, following).values
        for place, value in enumerate(rest):
            function = self.symbols.evaluations[place].function
            ends = f"point {place}", "solution"
            gain, loss = (f"{function}: {a} to {b}" for a, b in (ends, ends[::-1]))
            if value < 0:
                gain, loss = loss, gain
            if not value:
                continue
            if not adding and exact.get(loss, 0) >= abs(value):
                exact[loss] -= abs(value)
            elif gain in self.inequalities:
                exact[gain] = exact.get(gain, Fraction(0)) + abs(value)
        return exact


@dataclass(frozen=True)
class ExactProof:
    """A proof in rational numbers that E[Psi+] <= (1 - decrease) Psi, without any tolerance.

    Attributes
    ----------
    method, functions, potential
        What it is about. The floats in them stand for the rational numbers that they are printed
        as: 0.1 for 1/10.
    decrease : Fraction
        What is proved.
    weights : tuple of Fraction
        The weights of the terms of the Lyapunov function.
    multipliers : mapping of Fraction
        How often each inequality is added, by its name.
    bound : float
        No proof with this potential has a larger decrease, up to rounding; infinity if unknown.
    following : tuple of Fraction, optional
        The weights of Psi+, where they are not those of Psi.

    Examples
    --------
    >>> from bitbound import GD, FunctionClass, certify, prove
    >>> proof = prove(certify(GD(gamma=0.1), FunctionClass(n=3, mu=1, L=10)))
    >>> proof.verify(), abs(proof.decrease - 0.19) < 1e-8
    (True, True)
    """

    method: Method
    functions: FunctionClass
    potential: Potential
    decrease: Fraction
    weights: tuple[Fraction, ...]
    multipliers: Mapping[str, Fraction]
    bound: float
    following: tuple[Fraction, ...] | None = None

    def verify(self) -> bool:
        """Run the method on symbols anew, and say whether everything that is proved holds."""
        step = RationalStep.of(self.method, self.functions, self.potential)
        return holds(step, self.weights, self.decrease, self.multipliers, self.following)


def holds(
    step: RationalStep,
    weights: tuple[Fraction, ...],
    decrease: Fraction,
    multipliers: Mapping[str, Fraction],
    following: tuple[Fraction, ...] | None = None,
) -> bool:
    """Whether a decrease is proved, by signs, by equations and by L D L' in rational numbers.

    * No multiplier is negative, and Psi is not: neither its blocks nor its function values. Where
      Psi+ has weights of its own, only those of its function values are not.
    * No function value is left.
    * The blocks that are left are at least 0.
    """
    if min(multipliers.values(), default=Fraction(0)) < 0:
        return False
    if following is None:
        now, _ = step.psi(weights)
        if min(now.values, default=Fraction(0)) < 0 or any(ldl(b) is None for b in now.blocks):
            return False
    elif min(value_weights(step.symbols, following), default=Fraction(0)) < 0:
        return False
    left = step.left(weights, decrease, multipliers, following)
    return not any(left.values) and all(ldl(block) is not None for block in left.blocks)


def first_proof(step: RationalStep, certificate: Certificate) -> ExactProof:
    """Return a certificate in rational numbers, as much weaker as it must be.

    Raises
    ------
    Refusal
        If its multipliers prove nothing.
    """
    weights = tuple(map(rational, certificate.weights))
    following = (
        None if certificate.following is None else tuple(map(rational, certificate.following))
    )
    rough = {name: Fraction(max(y, 0.0)) for name, y in certificate.multipliers.items()}
    retreats = (0.0, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)
    for retreat, adding in product(retreats, (False, True)):
        decrease = Fraction(certificate.decrease - retreat * abs(certificate.decrease))
        multipliers = step.balanced(weights, decrease, rough, following, adding=adding)
        if holds(step, weights, decrease, multipliers, following):
            return ExactProof(
                certificate.method,
                certificate.functions,
                certificate.potential,
                decrease,
                weights,
                multipliers,
                float("inf"),
                following,
            )
    raise Refusal(
        f"no factor of {certificate.method.name} is proved in rational numbers with these "
        "multipliers; take a smaller kappa"
    )


def _sum(weights: tuple[Fraction, ...], forms: tuple[RationalForm, ...]) -> RationalForm:
    first = RationalForm(
        tuple(0 * block for block in forms[0].blocks), (Fraction(0),) * len(forms[0].values)
    )
    for weight, form in zip(weights, forms, strict=True):
        first = first.plus(weight, form)
    return first


def fraction_matrix(matrix: Rationals) -> Rationals:
    """Return the fractions that the numbers of an array stand for."""
    result = np.full(matrix.shape, Fraction(0), dtype=object)
    for place, entry in np.ndenumerate(matrix):
        result[place] = rational(entry)
    return result
