"""The proof about one method beside its theorems, its worst case and its largest step size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.numbers import require_possible_kappa
from certibit.data.quiet_machine import one_thread
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.selection import rand_k_of
from certibit.solvers.method import Method
from certibit.solvers.registry import extension
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.card import Card
from certibit.theory.certificates.certify import Weights, certify, default_measure, noise_frontier
from certibit.theory.certificates.largest_step import ACCURACY, best_step, largest_step, steps_of
from certibit.theory.certificates.search import setting
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.proof import Proof
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise, RunTheorem, Theorem
from certibit.theory.verdict import ContradictionError
from certibit.theory.worlds.opaque.exact_numbers import fraction
from certibit.theory.worlds.probing import OneStep

TIGHT = 1e-4
"""Relative difference of two decreases that counts as 0, as proofs lose up to so much."""

CONTRADICTION = 1e-7
"""Relative excess of an attained factor over the proved one that no rounding explains."""

ROUNDING = 1e-13
"""Rounding error of a decrease that is computed as 1 minus a factor."""

_ROUNDED = 1e-9
"""Part of a published c that is left to rounding where the smallest e is looked for."""

MOST_CLIENTS = 10**6
"""The symbolic step has an entry for each client: so many clients take a second."""

_WORST_CASE = "certibit.theory.certificates.worst_instance"


@dataclass(frozen=True)
class Account:
    """What is published and what is certified of a method, with worst case and step sizes.

    Attributes
    ----------
    method, setting
        The method with its parameters, and its setting.
    title : str or None
        The theorem with the best factor, or the largest c, of those that apply.
    status : str
        What stands behind it: *kernel*, *certificate* or *by hand*; empty without a theorem.
    published, noise, unlike : float
        Its c, e and e', NaN if none applies; of a factor c is 1 - factor. Where Psi is at most
        |x - x*|^2 at the state at rest about x, times the factor that makes its Psi so.
    certificate : Proof
        The proof of what is certified.
    stated : Proof or None
        The best proof of a descent with the Psi of the theorem; None without one, and of a factor.
    step_name : str or None
        The parameter that is the step size.
    largest_step : float
        The largest step size with a certified factor below 1, or descent, the other parameters as
        they are; NaN where none is found.
    best_step, best : float
        Of a descent without noise, the step size with the largest certified c that was found, and
        this c; else NaN.
    frontier : tuple of DescentPromise or Proof
        With stochastic gradients, the smallest e for parts of the largest c; of a factor, for c.
    attained : OneStep or None
        Of a factor, one exact step of the method on the worst case; None if there are too many
        outcomes, or if no quadratic is the worst case.
    divergence : Divergence or None
        A problem on which a run diverges, if the factor is at least 1 and one is found.
    unattained : str
        Why there is no such step.
    untried : str
        Why no run was tried, where the factor is at least 1; else empty.
    """

    method: Method
    setting: Setting
    title: str | None
    published: float
    noise: float
    unlike: float
    certificate: Proof
    stated: Proof | None = None
    step_name: str | None = None
    largest_step: float = math.nan
    best_step: float = math.nan
    best: float = math.nan
    frontier: tuple[DescentPromise | Proof, ...] = ()
    attained: OneStep | None = None
    divergence: Any = None
    unattained: str = ""
    untried: str = ""
    status: str = ""

    @property
    def decrease(self) -> float:
        """The proved decrease, 1 - factor."""
        return self.certificate.decrease

    def require_within(self, limit: float) -> None:
        """Compare the certificate with a decrease that no potential exceeds.

        Raises
        ------
        ContradictionError
            If a larger decrease is proved.
        """
        if self.decrease > limit + CONTRADICTION * abs(limit) + ROUNDING:
            raise ContradictionError(
                f"the certificate of {self.method.name} says that Psi decreases by "
                f"{self.decrease:.8g} of it, and the long run on quadratics that no potential "
                f"decreases by more than {limit:.8g}"
            )

    @property
    def looseness(self) -> float:
        """How many times larger the proved c is than the published, NaN without a theorem."""
        return self.certificate.c / self.published

    @property
    def verdict(self) -> str:
        """In words: tight, loose by which factor, or what else; of 1/(e + zeta^2 e') if that is."""
        stated = self.noise + self.certificate.functions.zeta**2 * self.unlike
        proved = float(fraction(self.certificate.spent))
        if stated > 0 and proved > 0:
            return verdict(1 / stated, 1 / proved)
        told = verdict(self.published, self.certificate.c)
        one = self.attained
        attained = 1 - one.factor if one is not None and one.exact else math.inf
        if told.startswith("only") and attained < (1 - TIGHT) * self.published:
            return f"{told}; one exact step decreases this Psi by less than the theorem says"
        return told


def verdict(published: float, certified: float) -> str:
    """Say how a theorem's decrease compares to the certified one."""
    if certified <= 0:
        return "no decrease is certified"
    if math.isnan(published):
        return "no theorem applies"
    ratio = certified / published
    if ratio < 1 - TIGHT:
        return f"only {ratio:.4g} of it is certified"
    return "tight" if ratio < 1 + TIGHT else f"loose by a factor {ratio:.4g}"


def class_setting(
    method: type[Method],
    n: int,
    kappa: float | None,
    omega: float | None,
    sent: Compressor | None,
    d: int,
) -> Setting:
    """Return the setting of clients with mu = 1 and L = kappa; without kappa, mu = -1 and L = 1.

    The compressor is the one given, or stands for all with a relative variance omega; for a method
    that needs contractions, for all with alpha = 1/(1 + omega).

    Raises
    ------
    Refusal
        If both or too much is given, or the compressor does not fit.
    """
    need = method.needs.compressor
    if n > MOST_CLIENTS:
        raise Refusal(
            f"n = {n} clients are too many for a certificate, whose step is run with an entry for "
            f"each of them; take at most {MOST_CLIENTS} clients"
        )
    mu, L = -1.0, 1.0
    if kappa is not None:
        if not 1 < kappa < math.inf:
            raise Refusal(f"kappa = {kappa:g} is no condition number; give one above 1")
        require_possible_kappa(kappa)
        mu, L = 1.0, kappa
    if need is None:
        if omega or sent is not None:
            raise Refusal(f"{method.name} sends uncompressed vectors; leave the compressor out")
        return setting(n, mu, L, d, Identity())
    if sent is None:
        chosen, d = rand_k_of(9.0 if omega is None else omega)
        sent = Scaled(chosen) if need == "contractive" else chosen
    elif omega is not None:
        raise Refusal("omega follows from the compressor; give one of the two")
    sent.check(d)
    return replace(setting(n, mu, L, d, sent), by_variance=method.needs.by_variance)


@one_thread()
def account(
    card: Card,
    method: Method,
    where: Setting,
    weights: Weights = "fixed",
    *,
    search: bool = False,
    functions: FunctionClass | None = None,
    growth: float = 0.0,
) -> Account:
    """Certify a method, compare with its theorems, and search for step sizes and a worst case.

    Over strongly convex functions it is about a factor, else about a descent. The potential of a
    factor is searched for with ``search``, without a theorem, and where no theorem applies and
    nothing is proved with the potential of the first. Psi of a descent may grow by a part
    ``growth`` of itself, which theorems of cards do not use. The functions are by default those of
    the setting with the largest L_i for all clients.

    Raises
    ------
    Refusal
        If the method cannot be certified, or no descent is proved.
    ContradictionError
        If an exact step of the class is worse than what was proved.
    """
    functions = functions or FunctionClass.of(where)
    if functions.mu > 0:
        return _of_factor(card, method, where, weights, functions, search=search)
    return _of_descent(card, method, where, functions, growth)


def _of_factor(
    card: Card,
    method: Method,
    where: Setting,
    weights: Weights,
    functions: FunctionClass,
    *,
    search: bool,
) -> Account:
    """Certify a factor, with an e where gradients are stochastic."""
    noisy = functions.has_variance
    known, theorem = _theorems_of_factor(card, method, where, functions)
    given, cut = method, None if noisy else card.cut(method)
    stated: Potential | None = theorem or next(iter(known), None)
    if cut is not None:
        method, stated = cut
    promise = theorem.promise(given, where) if theorem else None
    least = (1 - promise.factor) * (1 - _ROUNDED) if promise and promise.e and noisy else None
    certificate: Proof | None = None
    if not search and stated is not None:
        try:
            certificate = certify(
                method, functions, stated, "potential", weights=weights, least=least
            )
        except Refusal:
            if theorem is not None or cut is not None:
                raise
    if certificate is None:
        stated, weights = None, "fixed"
        certificate = certify(given, functions, "search", "potential")
    run = method if certificate.region is None else given
    limit = math.nan
    if (name := card.step_size) is not None:
        accuracy = ACCURACY if noisy else 1e-4 if stated else 1e-3  # a search is one at each step
        limit = largest_step(
            steps_of(method, name),
            functions,
            float(getattr(method, name)),
            weights,
            accuracy,
            stated or "search",
        )
    return Account(
        given,
        where,
        theorem.title if theorem else None,
        1 - promise.factor if promise else math.nan,
        promise.e if promise else math.nan,
        0.0,
        certificate,
        step_name=name,
        largest_step=limit,
        frontier=(certificate,) if certificate.e else (),
        status=theorem.status if theorem else "",
        **({} if noisy else _worst_case(method, run, certificate)),
    )


def _theorems_of_factor(
    card: Card, method: Method, where: Setting, functions: FunctionClass
) -> tuple[Sequence[Theorem], Theorem | None]:
    """Return the theorems whose Psi may be taken, and the best of those that apply."""
    noise = functions.noise
    if noise is None:
        first = card.potential(method, where)
        return (first,) if first else (), card.best_theorem(method, where)
    at_solution = noise.expected is not None
    known = [
        one
        for one in card.about("potential")
        if one.noise_at_solution == at_solution or not card.method.needs.samples
    ]
    held = [
        one for one in known if not one.unmet(method, where) and one.allows_noise(method, where)
    ]
    return known, min(held, key=lambda one: one.rate(method, where), default=None)


def _worst_case(method: Method, run: Method, certificate: Proof) -> dict[str, Any]:
    """Return an exact step on the worst case and a run that diverges, or why there is none."""
    functions = certificate.functions
    proved = Reweighted(certificate.potential, certificate.weights)
    exact, attained, diverged = extension(_WORST_CASE), None, None
    unattained = (
        "this certificate holds in a region only, and no worst case is drawn that stays in it"
    )
    if exact is None:
        unattained = "this copy of certibit has no worst cases"
    elif run is method:
        try:
            attained, unattained = exact.worst_instance(method, functions, proved).step(), ""
        except Refusal as refusal:
            unattained = str(refusal)
    _require_room(method, attained, certificate.factor)
    untried = "" if exact else "this copy of certibit tries no runs"
    if exact and certificate.c <= 0:
        try:
            diverged = exact.divergence(run, functions, proved)
        except Refusal as refusal:
            untried = str(refusal)
    return {
        "attained": attained,
        "divergence": diverged,
        "unattained": unattained,
        "untried": untried,
    }


def _require_room(method: Method, attained: OneStep | None, factor: float) -> None:
    worst = attained.factor if attained is not None and attained.exact else 0.0
    if worst > factor * (1 + CONTRADICTION):
        raise ContradictionError(
            f"one exact step of {method.name} attains the factor {worst:.8g}, and the "
            f"certificate says that it is at most {factor:.8g}"
        )


@dataclass(frozen=True)
class StatedDescent:
    """The theorem with the largest c of those that apply to a method.

    Attributes
    ----------
    theorem : Theorem
        The theorem.
    certificate : Proof
        The best certificate with its Psi.
    c, e, unlike : float
        What it states, before M, sigma^2 and zeta^2; where functions have a solution, times the
        factor with which its Psi is at most |x - x*|^2 at the state at rest about x.
    least : float or None
        The c of which the smallest e is certified, where gradients are stochastic.
    """

    theorem: Theorem
    certificate: Proof
    c: float
    e: float
    least: float | None
    unlike: float = 0.0


def stated_descent(
    card: Card, method: Method, where: Setting, functions: FunctionClass
) -> StatedDescent | None:
    """Return the strongest theorem of a card about a descent over a class; None if none applies.

    Raises
    ------
    Refusal
        If the method cannot be certified with its Psi.
    """
    noise = functions.noise
    stated = card.about("gap" if functions.has_solution else "squared_gradient")
    if noise and (noise.relative or noise.gap or noise.expected):  # that no theorem knows
        return None
    unlike = [one for one in functions.assumptions if isinstance(one, BoundedDissimilarity)]
    zeta = min((one.zeta for one in unlike if one.B <= 1), default=math.inf)
    held = [
        one
        for one in stated
        if not isinstance(one, RunTheorem)
        and not one.unmet(method, where)
        and (noise is None or one.allows_noise(method, where))
    ]
    if not held:
        return None
    theorem = max(held, key=lambda one: one.descent(method, where))
    promise = theorem.promise(method, where)
    c, e = promise.c, promise.e if noise or not functions.has_variance else 0.0
    if promise.dissimilarity and math.isinf(zeta):  # clients may differ by any zeta
        return None
    apart = promise.dissimilarity * (zeta / functions.zeta) ** 2 if promise.dissimilarity else 0.0
    least = c * (1 - _ROUNDED) if functions.has_variance else None
    measure = default_measure(functions).name
    proof = certify(method, functions, theorem, measure, least=least)
    scale = float(proof.scale)
    return StatedDescent(theorem, proof, scale * c, scale * e, least, scale * apart)


def _of_descent(
    card: Card, method: Method, where: Setting, functions: FunctionClass, growth: float
) -> Account:
    """Certify a descent, with the Psi of its theorem or the best form, whichever proves more."""
    told = stated_descent(card, method, where, functions)
    stated, least = (told.certificate, told.least) if told else (None, None)
    try:
        proof = certify(method, functions, least=least, growth=growth)
    except Refusal:
        if stated is None:
            raise
        proof = stated
    if stated is not None and (stated.spent, -stated.c) < (proof.spent, -proof.c):
        proof = stated
    name, psi = card.step_size, told.theorem if told and proof is stated else None
    largest, best = math.nan, (math.nan, math.nan)
    if name is not None:
        start = float(getattr(method, name))
        change = steps_of(method, name)
        largest = largest_step(change, functions, start, "fixed", ACCURACY, psi, growth)
        if math.isfinite(largest) and not proof.spent:
            best = best_step(method, name, functions, largest, psi)
    return Account(
        method,
        where,
        told.theorem.title if told else None,
        *((told.c, told.e, told.unlike) if told else (math.nan,) * 3),
        proof,
        stated,
        name,
        largest,
        *best,
        noise_frontier(method, functions, growth=growth) if functions.has_variance else (),
        status=told.theorem.status if told else "",
    )
