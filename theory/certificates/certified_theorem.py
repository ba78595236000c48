"""A proof as a theorem, so that the checks of theorems apply to it."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.libraries import host
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Terms
from certibit.theory.proofs.proof import Proof
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import (
    SLACK,
    Condition,
    ContractionPromise,
    DescentPromise,
    Theorem,
)


@dataclass(frozen=True)
class CertifiedTheorem(Theorem):
    """What is proved of one method with its parameters: a factor or, by its measure, a descent.

    Attributes
    ----------
    certificate : Proof
        The proof; its potential was searched for.
    """

    certificate: Proof

    title = "a certificate, with a potential that was searched for"

    @property
    def measure(self) -> str:  # type: ignore[override]  # a theorem's is of its class
        """What decreases."""
        return self.certificate.measure.name

    @property
    def method(self) -> type[Method]:  # type: ignore[override]  # a theorem's is of its class
        """The method's class."""
        return type(self.certificate.method)

    def conditions(self, m: Method, setting: Setting) -> tuple[Condition, ...]:
        """Return what the function class of the certificate covers."""
        other = float(m != self.certificate.method)
        same = Condition("the parameters are those of the certificate", other, 0.0)
        return (same, *_covered(self.certificate.functions, m, setting))

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms with the weights that were found; of a descent with its constants."""
        proof = self.certificate
        found = Reweighted(proof.potential, tuple(map(float, proof.weights)))
        constants = setting if proof.measure.contracts else proof.functions
        return found.lyapunov(m, s, star, constants, problem)

    def noise(self, m: Method, setting: Setting) -> float:
        """Return the certified e."""
        return self.certificate.e

    def rate(self, m: Method, setting: Setting) -> float:
        """Return the certified factor."""
        return self.certificate.factor

    def descent(self, m: Method, setting: Setting) -> float:
        """Return the certified c."""
        return self.certificate.c

    def promise(self, m: Method, setting: Setting) -> ContractionPromise | DescentPromise:
        """Return what is certified."""
        return self.certificate.promise


def _covered(functions: FunctionClass, m: Method, setting: Setting) -> list[Condition]:
    """Return what puts a setting into the class of a certificate."""
    needs, constants = m.needs, setting.constants
    by_variance, found = needs.by_variance, list[Condition]()
    at_least, at_most = {"n": setting.n, "mu": constants.mu}, {"n": setting.n, "L": setting.L}
    if functions.L_f is not None:
        at_most["L_f"] = constants.L_f
    for end, need in (("", needs.compressor), ("_down", needs.downlink)):
        if need == "contractive" and not (by_variance and not end):
            at_least[f"alpha{end}"] = getattr(setting, f"alpha{end}")
        if need == "unbiased":
            at_most[f"omega{end}"] = getattr(setting, f"omega{end}")
    if needs.compressor == "unbiased" and functions.omega_joint is not None:
        at_most["omega_av"] = setting.omega_av
    for name, own in at_least.items():
        least = getattr(functions, name)
        least = 1.0 if least is None else least  # uncompressed vectors
        found.append(Condition(f"{name} of the certificate <= {name}", least, own))
    for name, own in at_most.items():
        most = getattr(functions, name)
        found.append(Condition(f"{name} <= {name} of the certificate", own, most))
    for name in ("difference", "expected"):
        most = getattr(functions.noise, name, None)
        if most is not None:
            own = getattr(setting, name)
            found.append(Condition(f"{name} <= {name} of the certificate", own, most))
    if by_variance:
        pairs = zip(setting.bias_and_variance, functions.bias_and_variance, strict=True)
        for name, (own, most) in zip(("eta", "omega", "omega_av"), pairs, strict=True):
            found.append(Condition(f"{name} <= {name} of the certificate", own, most))
    excluded = {
        "all f_i have the same minimiser": needs.shared_minimiser and not setting.shared_minimiser,
        "compressors that draw nothing": functions.deterministic and not setting.deterministic,
        "exact gradients": functions.noise is None and setting.sigma > 0,
        "clients that draw independently": functions.independent and not setting.independent,
        "clients of the classes of the certificate": not _in_classes(functions, setting),
        **{repr(one): not one.follows_from(constants) for one in functions.assumptions},
    }
    return [*found, *(Condition(what, 1.0, 0.0) for what, fails in excluded.items() if fails)]


def _in_classes(functions: FunctionClass, setting: Setting) -> bool:
    """Whether the L_i of the clients are at most those of classes, and mu at least the largest."""
    if not functions.classes or setting.n != functions.n:
        return True
    most = np.repeat([one.L for one in functions.classes], functions.counts)
    L_i = host(setting.constants.L_i)
    mu = max(one.mu for one in functions.classes)
    return bool(np.all(np.sort(L_i) <= np.sort(most) * (1 + SLACK)) and setting.constants.mu >= mu)


def searched_theorem(method: Method, setting: Setting) -> CertifiedTheorem:
    """Search a potential for a method without a theorem, and certify its factor.

    Raises
    ------
    Refusal
        If the method cannot be certified.
    """
    return CertifiedTheorem(certify(method, FunctionClass.of(setting), weights="free"))


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
        proof = certify(method, functions, begin=None if sampled else experiment)
        theorem = CertifiedTheorem(proof)
        if proof.c > 0 and not theorem.unmet(method, setting):
            return [theorem]
    return []
