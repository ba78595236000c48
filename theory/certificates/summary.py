"""The certificate of one method beside its theorems, its worst case and its largest step size."""

import math
from dataclasses import dataclass, replace

from certibit.data.errors import Refusal
from certibit.data.numbers import require_possible_kappa
from certibit.data.problems.quadratic import Quadratic
from certibit.data.quiet_machine import one_thread
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import Scaled
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.compressors.selection import rand_k_of
from certibit.solvers.method import Method
from certibit.solvers.registry import extension
from certibit.theory.card import Card
from certibit.theory.certificates.certify import Weights, certify
from certibit.theory.certificates.largest_step import largest_step, steps_of
from certibit.theory.certificates.search import setting
from certibit.theory.contradiction import ContradictionError
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Potential
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.quadratic_potential import Reweighted
from certibit.theory.setting import Setting
from certibit.theory.worlds.probing import OneStep

TIGHT = 1e-4
"""Relative difference of two decreases that counts as 0, as proofs lose up to so much."""

CONTRADICTION = 1e-7
"""Relative excess of an attained factor over the proved one that no rounding explains."""

ROUNDING = 1e-13
"""Rounding error of a decrease that is computed as 1 minus a factor."""

MOST_CLIENTS = 10**6
"""The symbolic step has an entry for each client: so many clients take a second."""

_WORST_CASE, _DIVERGENCE = (
    f"certibit.theory.certificates.{name}" for name in ("worst_instance", "divergence")
)


@dataclass(frozen=True)
class Divergence:
    """A problem on which a run of the method, started at x = 0, diverges.

    Attributes
    ----------
    problem, compressor
        The problem and the compressor of the run.
    growth : float
        Last over first f - f*; infinity where it was no longer finite.
    iterations : int
        The number of iterations of the run.
    """

    problem: Quadratic
    compressor: Compressor | None
    growth: float
    iterations: int


@dataclass(frozen=True)
class Account:
    """The published and the certified factor of a method, with worst case and largest step size.

    Attributes
    ----------
    method, setting
        The method with its parameters, and its setting.
    title : str or None
        The theorem with the best factor of those that apply.
    published : float
        Its 1 - factor, NaN if none applies.
    certificate : Certificate
        The proof of the certified factor.
    step_name : str or None
        The parameter that is the step size.
    largest_step : float
        The largest step size with a certified factor below 1, the other parameters as they are;
        NaN where none is found.
    attained : OneStep or None
        One exact step of the method on the worst case; None if there are too many outcomes, or if
        no quadratic is the worst case.
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
    certificate: Certificate
    step_name: str | None
    largest_step: float
    attained: OneStep | None
    divergence: Divergence | None
    unattained: str = ""
    untried: str = ""

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
        """How many times faster the proved rate is: ratio of the decreases, NaN without one."""
        return self.decrease / self.published

    @property
    def verdict(self) -> str:
        """The theorem beside the certificate, in words: tight, or loose by which factor."""
        return verdict(self.published, self.decrease)


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
) -> Account:
    """Certify a method, compare with its theorems, and draw the worst case.

    With ``search``, or without a theorem, the potential is searched for; so it is where no theorem
    applies and nothing is proved with the potential of the first. The functions are by
    default those of the setting with the largest L_i for all clients.

    Raises
    ------
    Refusal
        If the method cannot be certified.
    ContradictionError
        If an exact step of the class is worse than what was proved.
    """
    functions = functions or FunctionClass.of(where)
    theorem, given, cut = card.best_theorem(method, where), method, card.cut(method)
    stated: Potential | None = theorem or card.potential(method, where)
    if cut is not None:
        method, stated = cut
    certificate: Certificate | None = None
    if not search and stated is not None:
        try:
            certificate = certify(method, functions, weights, potential=stated)
        except Refusal:
            if theorem is not None or cut is not None:
                raise
    if certificate is None:
        stated, weights = None, "fixed"
        certificate = certify(given, functions, potential="search")
    potential = certificate.potential
    proved = Reweighted(potential, certificate.weights)
    run = method if certificate.region is None else given
    worst, diverging, attained = extension(_WORST_CASE), extension(_DIVERGENCE), None
    unattained = (
        "this certificate holds in a region only, and no worst case is drawn that stays in it"
    )
    if worst is None:
        unattained = "this copy of certibit has no worst cases"
    elif run is method:
        try:
            attained, unattained = worst.worst_instance(method, functions, proved).step(), ""
        except Refusal as refusal:
            unattained = str(refusal)
    _require_room(method, attained, certificate.factor)
    limit = math.nan
    if (name := card.step_size) is not None:
        start = float(getattr(method, name))
        change = steps_of(method, name)
        accuracy = 1e-4 if stated else 1e-3  # one that is searched for is so at each step size
        limit = largest_step(change, functions, start, weights, accuracy, stated or "search")
    diverged, untried = None, "" if diverging else "this copy of certibit tries no runs"
    if diverging and certificate.decrease <= 0:
        try:
            diverged = diverging.divergence(run, functions, proved)
        except Refusal as refusal:
            untried = str(refusal)
    return Account(
        given,
        where,
        theorem.title if theorem else None,
        1 - theorem.rate(given, where) if theorem else math.nan,
        certificate,
        name,
        limit,
        attained,
        diverged,
        unattained,
        untried,
    )


def _require_room(method: Method, attained: OneStep | None, factor: float) -> None:
    worst = attained.factor if attained is not None and attained.exact else 0.0
    if worst > factor * (1 + CONTRADICTION):
        raise ContradictionError(
            f"one exact step of {method.name} attains the factor {worst:.8g}, and the "
            f"certificate says that it is at most {factor:.8g}"
        )
