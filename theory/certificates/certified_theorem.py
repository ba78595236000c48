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
        functions, needs = self.certificate.functions, m.needs
        by_variance = needs.by_variance
        other = float(m != self.certificate.method)
        found = [Condition("the parameters are those of the certificate", other, 0.0)]
        at_least, at_most = ["n", "mu"], ["n", "L"]
        for end, need in (("", needs.compressor), ("_down", needs.downlink)):
            by_alpha = need == "contractive" and not (by_variance and not end)
            at_least += [f"alpha{end}"] * by_alpha
            at_most += [f"omega{end}"] * (need == "unbiased")
        for name in at_least:
            least = getattr(functions, name)
            least = 1.0 if least is None else least  # uncompressed vectors
            statement = f"{name} of the certificate <= {name}"
            found.append(Condition(statement, least, getattr(setting, name)))
        for name in at_most:
            statement = f"{name} <= {name} of the certificate"
            found.append(Condition(statement, getattr(setting, name), getattr(functions, name)))
        if by_variance:
            pairs = zip(setting.bias_and_variance, functions.bias_and_variance, strict=True)
            for name, (own, most) in zip(("eta", "omega", "omega_av"), pairs, strict=True):
                found.append(Condition(f"{name} <= {name} of the certificate", own, most))
        if needs.shared_minimiser:
            unlike = float(not setting.shared_minimiser)
            found.append(Condition("all f_i have the same minimiser", unlike, 0.0))
        if functions.deterministic:
            drawn = float(not setting.deterministic)
            found.append(Condition("compressors that draw nothing", drawn, 0.0))
        return tuple(found)

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
