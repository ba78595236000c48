"""A proof as a theorem, so that the checks of theorems apply to it."""

import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.solvers.libraries import host
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.certificates.certify import certify, class_of_proof
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import ClassConstants, Terms
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.proof import Measure, Proof, step_and_start
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import OfSamples, Setting
from certibit.theory.theorem import SLACK, Condition, ContractionPromise, DescentPromise, Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational


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


CLOSE = 1e-6
"""Relative difference to what is promised that counts as rounding."""

LARGE, LARGER = 20.0, 100.0
"""An e that is promised is at most so many times the one that is certified; e + zeta^2 e' is."""

ZETAS = (0.01, 30.0)
"""How much clients differ, in units of sigma, where it is promised for any."""

INSIDE = 1e-4
"""How far inside the boundary, relatively: a programme needs points where everything is strict."""

FARTHEST, HALVINGS = 2.0**13, 30
"""A parameter that may be so many times larger or smaller is not bounded; steps of bisection."""


@dataclass(frozen=True)
class _Place:
    """Parameters and constants at which a theorem is held against a certificate."""

    method: Method
    setting: Setting

    def __str__(self) -> str:
        k = self.setting.constants
        values = ((one.name, getattr(self.method, one.name)) for one in fields(self.method))
        said = [f"{name} = {x:.6g}" for name, x in values if isinstance(x, (int, float))]
        return (
            f"{', '.join(said)}, n = {self.setting.n}, L = {k.L:.4g}, L_f = {k.L_f:.4g}, "
            f"L_tilde = {k.L_tilde:.4g}, difference = {self.setting.difference:.4g}, "
            f"A = {self.setting.expected:.4g}"
        )


def certified_promise(
    theorem: Theorem, card: Card, method: Method, setting: Setting
) -> Verdict | None:
    """Check that c and e of a theorem are certified with its Psi; None where no step is certified.

    The value is 1 or less if a certificate proves the promised c with the promised e, and infinite
    if it does not prove c at all. An e that is more than ``LARGE`` times the certified one is no
    rounding but a wrong constant.
    """
    found: list[tuple[float, str]] = []
    for place in _places(theorem, card, method, setting):
        with suppress(Refusal):  # a step that is not linear, or too large
            found.append(_share(theorem, place))
    if not found:
        return None
    worst = largest(share for share, _ in found)
    said = next(text for share, text in found if share == worst)
    advice = (
        f"{said} Look at the step, at the weights of the potential, at c and e of the theorem, and "
        "at the hypotheses that hold there with equality. A proof that uses more than the "
        "inequalities of the class is not refuted by this."
    )
    return Verdict(
        "promise / certificate at the boundary", worst, 1.0, "", advice, **searched(found)
    )


def _places(theorem: Theorem, card: Card, method: Method, setting: Setting) -> Iterator[_Place]:
    """Yield given parameters and those of rules, where hypotheses nearly hold with equality.

    The rules are taken where constants are far apart, for n clients with noise far above L and far
    below, and where all L_i are L_f, for few clients.
    """
    starts = [_Place(method, setting)]
    sampled = theorem.allows_noise(method, setting)
    few = 2 if getattr(theorem.promise(method, setting), "dissimilarity", 0.0) else 1
    n = max(setting.n, 2)
    kinds = ((n, 30.0, False), (n, 0.1, False), (few, 0.1, True))[0 if sampled else 1 :]
    for clients, size, alike in kinds if card.rules else ():
        apart = _apart(setting, clients, size if sampled else 0.0, alike)
        starts += list(islice(_by_rule(theorem, card, apart), 1))
    for start in starts:
        found = list(_boundaries(theorem, start))
        yield from found or [start]


def _by_rule(theorem: Theorem, card: Card, setting: Setting) -> Iterator[_Place]:
    """Yield the parameters of rules that meet a theorem."""
    for rule in card.rules:
        with suppress(Refusal, ValueError, ArithmeticError):
            made = card.at(setting, rule)
            if not theorem.unmet(made, setting):
                yield _Place(made, setting)


def _apart(setting: Setting, n: int, size: float, alike: bool) -> Setting:
    """Return the setting with L_f below L_tilde below L, or equal, and noise of so many times L."""
    k = setting.constants
    L_i = np.full(n, k.L if alike else max(k.L / 4, k.mu))
    L_i[0] = k.L
    L_f = k.L if alike else (max(k.mu, 0.0) + float(np.mean(L_i))) / 2
    samples = OfSamples(size * k.L, size * k.L)
    constants = Constants(k.mu, L_i, L_f, k.ridge)
    return replace(setting, constants=constants, n=n, of_samples=samples)


def _boundaries(theorem: Theorem, start: _Place) -> Iterator[_Place]:
    """Move each real parameter, up and down, until a hypothesis nearly holds with equality."""
    method, setting = start.method, start.setting
    for name, last, factor in limits_of_parameters(
        method, lambda moved: not theorem.unmet(moved, setting)
    ):
        with suppress(ValueError, ArithmeticError):
            inside: Any = {name: last * factor**-INSIDE}
            yield _Place(replace(method, **inside), setting)


def limits_of_parameters(
    method: Method, holds: Callable[[Method], bool]
) -> Iterator[tuple[str, float, float]]:
    """Double, and halve, each real parameter until a method does not ``hold``, then bisect.

    Yields the name, the last value and the factor, 2 or 1/2, where there is a limit.
    """
    for name, value in [(one.name, getattr(method, one.name)) for one in fields(method)]:
        if not isinstance(value, float):
            continue

        def at(scale: float, name: str = name, value: float = value) -> bool:
            with suppress(ValueError, ArithmeticError):  # such as a probability above 1
                changes: Any = {name: value * scale}
                return holds(replace(method, **changes))
            return False

        for factor in (2.0, 0.5):
            inside, outside = 1.0, factor
            while at(outside) and 1 / FARTHEST < outside < FARTHEST:
                inside, outside = outside, outside * factor
            if at(outside):
                continue
            for _ in range(HALVINGS):
                middle = math.sqrt(inside * outside)
                inside, outside = (middle, outside) if at(middle) else (inside, middle)
            yield name, value * inside, factor


def _share(theorem: Theorem, place: _Place) -> tuple[float, str]:
    """Return how much of a promise is not certified, and that in words.

    Raises
    ------
    Refusal
        If the step of the method cannot be certified.
    """
    method, setting = place.method, place.setting
    promise: Any = theorem.promise(method, setting)
    factor = theorem.measure == "potential"
    c, e = (1 - promise.factor if factor else promise.c), promise.e
    unlike = 0.0 if factor else promise.dissimilarity
    shares = [(0.0, "")]
    for zeta in ZETAS if unlike else (0.0,):
        functions = replace(FunctionClass.of(setting), noise=_noise(theorem, place))
        if zeta:
            more = (*functions.assumptions, BoundedDissimilarity(1.0, zeta))
            functions = replace(functions, assumptions=more)
        allowed = e + zeta**2 * unlike
        proved = _least_noise(theorem, method, functions, c * (1 - CLOSE))
        if proved is None:
            shares.append((math.inf, f"c = {c:.6g} is promised, and not certified, with {place}."))
            continue
        said = f"e = {allowed:.6g} is promised, and {proved:.6g} certified, with {place}."
        ratio = proved / allowed if allowed else math.inf if proved > CLOSE * c else 0.0
        shares.append((ratio / (1 + CLOSE), said))
        alike = setting.constants.L_f >= setting.L and not (zeta and setting.n == 1)
        if proved > 0 and alike:  # elsewhere L in the place of L_f costs more than a constant
            shares.append((allowed / proved / (LARGER if zeta else LARGE), said))
    return max(shares, key=lambda share: share[0])


def _noise(theorem: Theorem, place: _Place) -> GradientNoise | None:
    """Return what a theorem assumes of the noise of gradients; None where they are exact."""
    method, setting = place.method, place.setting
    if not theorem.allows_noise(method, setting):
        return None
    if theorem.measure != "potential":
        return GradientNoise(difference=setting.difference)
    bounded = theorem.noise(method, setting) and not theorem.noise_at_solution
    return GradientNoise(expected=None if bounded else setting.expected)


def _least_noise(
    theorem: Theorem, method: Method, functions: FunctionClass, c: float
) -> float | None:
    """Return the smallest e + zeta^2 e' that is certified with a given c; None if c is not."""
    name: Any = theorem.measure
    measure = Measure(name)
    functions = class_of_proof(method, functions, measure.name)
    step, _ = step_and_start(method, functions, theorem, measure)
    programme = DescentProgramme(step, tuple(map(rational, step.symbols.weights)))
    try:
        return float(fraction(programme.quietest(rational(c)).spent(functions)))
    except Refusal:
        return None
