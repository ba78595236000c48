"""A certified descent as a theorem, so that the check of theorems applies to it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.certificates.certified_theorem import covered
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Terms
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


@dataclass(frozen=True)
class CertifiedDescent(Theorem):
    """E[Psi+] <= Psi - c |grad f(x)|^2 + e sigma^2 for one method, proved by its certificate.

    Attributes
    ----------
    certificate : DescentCertificate
        The proof; its potential was searched for.
    """

    certificate: DescentCertificate

    title = "a certificate, with a potential that was searched for"
    measure = "squared_gradient"

    @property
    def method(self) -> type[Method]:  # type: ignore[override]  # a theorem's is of its class
        """The method's class."""
        return type(self.certificate.method)

    def conditions(self, m: Method, setting: Setting) -> tuple[Condition, ...]:
        """Return what the function class of the certificate covers."""
        other = float(m != self.certificate.method)
        same = Condition("the parameters are those of the certificate", other, 0.0)
        return (same, *covered(self.certificate.functions, m, setting))

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms with the weights that were found, of the class of the certificate."""
        proof = self.certificate
        weights = tuple(map(float, proof.weights))
        return Reweighted(proof.potential, weights).lyapunov(m, s, star, proof.functions, problem)

    def descent(self, m: Method, setting: Setting) -> float:
        """Return the certified c."""
        return self.certificate.c

    def noise(self, m: Method, setting: Setting) -> float:
        """Return the certified e."""
        return self.certificate.e

    def dissimilarity(self, m: Method, setting: Setting) -> float:
        """Return the certified e'."""
        return self.certificate.dissimilarity

    def growth(self, m: Method, setting: Setting) -> float:
        """Return the certified growth."""
        return float(self.certificate.growth)


def searched_descents(experiment: Experiment[Any]) -> list[Theorem]:
    """Return what a certificate proves of the descent of a method, if one does.

    It is about |grad f(x)|^2, and not about a solution, for convex functions, too. Where gradients
    are exact, it is the one that promises the fewest rounds from the start of a run.
    """
    method, setting = experiment.method, Setting.at(experiment)
    sampled = experiment.problem.noise is not None
    noise = GradientNoise(difference=setting.difference) if sampled else None
    functions = replace(FunctionClass.of(setting), noise=noise)
    if functions.has_solution:
        functions = replace(functions, mu=-functions.L)
    with suppress(Refusal):
        proof = certify_descent(method, functions, begin=None if sampled else experiment)
        theorem = CertifiedDescent(proof)
        if proof.c > 0 and not theorem.unmet(method, setting):
            return [theorem]
    return []
