"""A certificate as a theorem, so that the checks of theorems apply to it."""

from dataclasses import dataclass
from typing import Any

from certibit.solvers.method import Method
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Terms
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition, Theorem


@dataclass(frozen=True)
class CertifiedTheorem(Theorem):
    """E[Psi+] <= tau Psi for one method with its parameters, proved by its certificate.

    Attributes
    ----------
    certificate : Certificate
        The proof; its potential was searched for.
    """

    certificate: Certificate

    title = "certified, with a potential that was searched for"

    @property
    def method(self) -> type[Method]:  # type: ignore[override]  # a theorem's is of its class
        """The method's class."""
        return type(self.certificate.method)

    def conditions(self, m: Method, setting: Setting) -> tuple[Condition, ...]:
        """Return what the function class of the certificate covers."""
        functions = self.certificate.functions
        other = float(m != self.certificate.method)
        conditions = [
            Condition("the parameters are those of the certificate", other, 0.0),
            Condition("n of the certificate <= n", functions.n, setting.n),
            Condition("n <= n of the certificate", setting.n, functions.n),
            Condition("mu of the certificate <= mu", functions.mu, setting.mu),
            Condition("L <= L of the certificate", setting.L, functions.L),
        ]
        if m.needs.shared_minimiser:
            unlike = float(not setting.shared_minimiser)
            conditions.append(Condition("all f_i have the same minimiser", unlike, 0.0))
        if functions.alpha is not None and m.needs.compressor == "contractive":
            conditions.append(
                Condition("alpha of the certificate <= alpha", functions.alpha, setting.alpha)
            )
        if m.needs.compressor == "unbiased":
            conditions.append(
                Condition("omega <= omega of the certificate", setting.omega, functions.omega)
            )
        if m.needs.downlink == "unbiased":
            conditions.append(
                Condition(
                    "omega_down <= omega_down of the certificate",
                    setting.omega_down,
                    functions.omega_down,
                )
            )
        if m.needs.downlink == "contractive":
            conditions.append(
                Condition(
                    "alpha_down of the certificate <= alpha_down",
                    functions.alpha_down or 1.0,
                    setting.alpha_down,
                )
            )
        if functions.deterministic:
            drawn = float(not setting.deterministic)
            conditions.append(Condition("compressors that draw nothing", drawn, 0.0))
        return tuple(conditions)

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms with the weights that were found."""
        found = Reweighted(self.certificate.potential, self.certificate.weights)
        return found.lyapunov(m, s, star, setting, problem)

    def rate(self, m: Method, setting: Setting) -> float:
        """Return the certified factor."""
        return self.certificate.factor


def searched_theorem(method: Method, setting: Setting) -> CertifiedTheorem:
    """Search a potential for a method without a theorem, and certify its factor.

    Raises
    ------
    Refusal
        If the method cannot be certified.
    """
    return CertifiedTheorem(certify(method, FunctionClass.of(setting), "free"))
