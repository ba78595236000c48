"""Certified decreases of methods that clip, as text and as JSON."""

import math
from dataclasses import MISSING, asdict, fields
from fractions import Fraction
from itertools import groupby
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.terminal import paragraph
from certibit.figures.text.certificates import finite_number, plain_values, written_parameters
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.certificates.largest_step import MOST_DOUBLINGS
from certibit.theory.proofs.rational_function import RationalFunction
from certibit.theory.relaxed.clipped_account import ClippedAccount, parameters_of
from certibit.theory.relaxed.clipped_certificate import ClippedCertificate, RegimeProof
from certibit.theory.relaxed.regimes import Regime, regimes
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.verdict import FAILS, Known
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational


def method_of(
    card: Card,
    values: dict[str, Any],
    functions: RelaxedFunctions,
    kappa: float = 0.0,
    rho: float = 1.0,
) -> Method:
    """Return a method with some parameters, by default the largest that its theorem allows.

    ``kappa`` and ``rho`` are those of the theorem of EPISODE, |grad f_i| <= kappa + rho |grad f|.

    Raises
    ------
    Refusal
        If parameters are missing and there is no theorem.
    """
    needed = [one.name for one in fields(card.method) if one.default is MISSING]
    missing = [name for name in needed if name not in values]
    if missing and (len(missing) < len(needed) or not card.tunings):
        raise Refusal(f"{card.name} has no value of {', '.join(missing)}; give each with --set")
    if missing:
        own = parameters_of(card, functions, kappa, rho)
        values = {one.name: getattr(own, one.name) for one in fields(own)} | values
    return card.method(**values)


def describe_clipped(account: ClippedAccount) -> str:
    """Say what decrease is certified, on which regimes, and what is published."""
    proof = account.certificate
    eta, gamma = float(proof.measure.eta), float(proof.measure.gamma)
    holds = Known.PROVED.words() if proof.verify() == proof.c else FAILS
    kink = float(proof.measure.kink)
    lines = [
        f"{'method':12}{written_parameters(asdict(proof.method), proof.method.name)}",
        f"{'family':12}all {proof.functions.described}",
        f"{'measure':12}M = min({eta:.6g} G^2, {gamma:.6g} G), G = |grad f(x)|; both are the same "
        f"at G = {kink:.6g}",
        *_of_theorem(account),
        f"{'certified':12}{_decrease(proof)}, proved in {1000 * proof.seconds:.0f} ms",
        f"{'proof':12}{holds}, checked in rational numbers, for all G",
        *(f"{'regime':12}{line}" for line in _regimes(proof)),
        *_of_lemma(account),
        f"{'attained':12}{_attained(account)}",
        f"{'step size':12}{_steps(account)}",
    ]
    return "\n".join(paragraph(line, hanging=" " * 12, break_on_hyphens=False) for line in lines)


def _decrease(proof: ClippedCertificate) -> str:
    if not proof.functions.sigma:
        return f"f(x+) <= f(x) - {proof.c:.8g} M"
    return f"E f(x+) <= f(x) - {proof.c:.8g} M + {proof.e:.6g} sigma^2"


def _of_theorem(account: ClippedAccount) -> list[str]:
    one = account.published
    if one is None:
        return [f"{'theorem':12}none on this step"]
    limits = "; ".join(
        f"{condition.statement}, {condition.left:.6g} and {condition.right:.6g}: "
        + ("holds" if condition.holds else FAILS)
        for condition in one.conditions
    )
    promise = one.promise if one.holds else f"{one.promise}, not for these parameters"
    lines = [f"{'theorem':12}{promise} ({one.title})", f"{'conditions':12}{limits}"]
    if one.holds and not math.isnan(one.c):
        lines.append(f"{'verdict':12}{account.verdict}")
    return lines


def _of_lemma(account: ClippedAccount) -> list[str]:
    if math.isnan(account.lemma_5):
        return [f"{'Lemma 5':12}with the constants A = 2 and B = e - 1 of EPISODE no c is proved"]
    words = "with the constants A = 2 and B = e - 1 of EPISODE no more than"
    return [f"{'Lemma 5':12}{words} c = {account.lemma_5:.8g} is proved"]


def _regimes(proof: ClippedCertificate) -> list[str]:
    """Return the regimes, those that are alike and touch as one."""
    lines = []
    found = regimes(proof.method, proof.functions, (rational(proof.measure.kink),))
    inner = [pair for pair in zip(found, proof.proofs, strict=True) if not pair[0].span.is_point]
    for (step, bound, answers), group in groupby(
        inner, lambda pair: (_step(pair[0]), pair[1].bound, pair[1].answers)
    ):
        own = [one for _, one in group]
        noise = f" where noise answers {_answers(own[0])}" if answers else ""
        span = f"G from {_end(own[0].low)} to {_end(own[-1].high)}{noise}"
        lines.append(f"{span}: x+ = x - {step}; growth {bound}")
    return lines


def _step(one: Regime) -> str:
    """Return a step in words."""
    parts = []
    if one.along:
        parts.append(f"{_ratio(one.along)} grad f(x)")
    if one.turned:
        kind = "directions of local steps" if one.assumed else "directions with noise"
        parts.append(f"{_ratio(one.turned)} ({kind})")
    if one.toward:
        parts.append("clipped gradients of the clients")
    if one.known and one.assumed:
        parts.append("what gradients change by within the round")
    elif one.fresh or one.known:
        parts.append("noise")
    return " - ".join(parts)


def _ratio(ratio: RationalFunction) -> str:
    """Return a rational function of G."""
    above, below = (_polynomial(part.coeffs()) for part in (ratio.num, ratio.den))
    if below == "1":
        return above
    return f"{above}/{below}" if below == "G" else f"{above}/({below})"


def _polynomial(factors: list[Any]) -> str:
    powers = ["", " G", *(f" G^{k}" for k in range(2, len(factors)))]
    terms = [
        power.strip() if power and factor == 1 else f"{float(fraction(factor)):.6g}{power}"
        for factor, power in zip(factors, powers, strict=False)
        if factor
    ]
    return " + ".join(reversed(terms))


def _answers(one: RegimeProof) -> str:
    return ", ".join("yes" if answer else "no" for answer in one.answers)


def _end(x: Fraction | None) -> str:
    return "infinity" if x is None else f"{float(x):.6g}"


def _attained(account: ClippedAccount) -> str:
    one = account.attained
    if one is None:
        return "not computed where gradients have noise"
    where = f"by f'' = L0 + L1 |f'| on the line at |f'| = {one.slope:.6g}"
    if account.is_attained:
        return f"the certified c, {where}: no larger one is true"
    return f"{one.c:.8g} {where}: no larger c is true"


def _steps(account: ClippedAccount) -> str:
    proof = account.certificate
    eta, gamma = float(proof.measure.eta), float(proof.measure.gamma)
    most = account.largest
    if math.isnan(most):
        return "not searched: no parameter is called eta or gamma"
    text = (
        f"no upper limit was found by doubling them {MOST_DOUBLINGS} times"
        if math.isinf(most)
        else f"a decrease is certified up to {most:.4g} times these steps, eta = {most * eta:.4g} "
        f"and gamma = {most * gamma:.4g} in M, by a search that doubles or halves, then bisects"
    )
    one = account.published
    if one is not None:
        text += f"; the theorem allows eta <= {one.eta:.4g} and gamma <= {one.gamma:.4g}"
    best = account.best
    return (
        f"{text}. The largest c M that a search finds is at {best:.4g} times them, with c = "
        f"{account.best_c:.6g}"
    )


def clipped_summary(account: ClippedAccount) -> dict[str, Any]:
    """Return an account as values of strict JSON; null stands for "none"."""
    proof, one, attained = account.certificate, account.published, account.attained
    return {
        "method": {"name": proof.method.name, **plain_values(asdict(proof.method))},
        "family": plain_values(asdict(proof.functions)),
        "measure": {"eta": str(proof.measure.eta), "gamma": str(proof.measure.gamma)},
        "theorem": one and one.title,
        "promise": one and one.promise,
        "conditions": [
            {
                "statement": condition.statement,
                "left": finite_number(float(condition.left)),
                "right": finite_number(float(condition.right)),
                "holds": bool(condition.holds),
            }
            for condition in (one.conditions if one else ())
        ],
        "published_eta": one and finite_number(one.eta),
        "published_gamma": one and finite_number(one.gamma),
        "published_c": finite_number(one.c) if one and one.holds else None,
        "certified_c": proof.c,
        "certified_e": proof.e,
        "exact_c": str(proof.exact),
        "exact_e": str(proof.exact_e),
        "lemma_5_c": finite_number(account.lemma_5),
        "attained_c": attained and attained.c,
        "attained_at": attained and attained.slope,
        "verdict": account.verdict,
        "proof_holds": proof.verify() == proof.c,
        "regimes": [
            {
                "low": str(own.low),
                "high": None if own.high is None else str(own.high),
                "answers": list(own.answers),
                "growth": own.bound.name,
                "part": str(own.bound.part),
                "cuts": [list(map(str, cuts)) for cuts in own.cuts],
            }
            for own in proof.proofs
        ],
        "seconds": proof.seconds,
        "largest_factor": finite_number(account.largest),
        "best_factor": finite_number(account.best),
        "best_c": finite_number(account.best_c),
    }
