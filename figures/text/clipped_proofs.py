"""Decreases of methods that clip, over (L0, L1)-smooth functions, as text and as JSON.

Accounts are of an extension, and are read by the names of their attributes.
"""

import math
from itertools import groupby
from typing import Any

from certibit.figures.text.tables import Rows, attributes, json_number
from certibit.solvers.registry import extension
from certibit.theory.certificates.largest_step import MOST_DOUBLINGS
from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.verdict import FAILS
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational


def clipped_rows(account: Any) -> Rows:
    """Return what is said of an account beside what is said of all."""
    proof, one = account.certificate, account.published
    eta, gamma, kink = (float(x) for x in (proof.measure.eta, proof.measure.gamma,
                                           proof.measure.kink))  # fmt: skip
    of_lemma = "with the constants A = 2 and B = e - 1 of EPISODE no c is proved"
    if not math.isnan(account.lemma_5):
        of_lemma = of_lemma.replace("no c", f"no more than c = {account.lemma_5:.8g}")
    conditions = [
        f"{condition.statement}, {condition.left:.6g} and {condition.right:.6g}: "
        f"{'holds' if condition.holds else FAILS}"
        for condition in (one.conditions if one else ())
    ]
    theorem = "none on this step"
    if one is not None:
        theorem = f"{one.promise}{'' if one.holds else ', not for these parameters'} ({one.title})"
    return {
        "family": f"all {proof.functions.described}",
        "measure": f"M = min({eta:.6g} G^2, {gamma:.6g} G), G = |grad f(x)|; both are the same at "
        f"G = {kink:.6g}",
        "theorem": theorem,
        "conditions": "; ".join(conditions),
        "where": "for all G",
        "verdict": account.verdict if one and one.holds and not math.isnan(one.c) else "",
        "regime": _regimes(proof),
        "Lemma 5": of_lemma,
        "attained": _attained(account),
        "step size": _multiples(account, eta, gamma),
    }


def _regimes(proof: Any) -> list[str]:
    """Return the regimes, those that are alike and touch as one."""
    lines, exact = [], extension("certibit.theory.relaxed.regimes")
    found = exact.regimes(  # type: ignore[union-attr]  # of the extension that made the proof
        proof.method, proof.functions, (rational(proof.measure.kink),)
    )
    inner = [pair for pair in zip(found, proof.proofs, strict=True) if not pair[0].span.is_point]
    for (step, bound, answers), group in groupby(
        inner, lambda pair: (_regime_step(pair[0]), pair[1].bound, pair[1].answers)
    ):
        own = [one for _, one in group]
        said = ", ".join("yes" if answer else "no" for answer in answers)
        ends = (
            "infinity" if end is None else f"{float(end):.6g}" for end in (own[0].low, own[-1].high)
        )
        span = f"G from {' to '.join(ends)}{said and f' where noise answers {said}'}"
        lines.append(f"{span}: x+ = x - {step}; growth {bound}")
    return lines


def _regime_step(one: Any) -> str:
    """Return the step of a regime in words."""
    directions = "directions of local steps" if one.assumed else "directions with noise"
    changes = "what gradients change by within the round" if one.known and one.assumed else "noise"
    parts = (
        one.along and f"{_ratio(one.along)} grad f(x)",
        one.turned and f"{_ratio(one.turned)} ({directions})",
        one.toward and "clipped gradients of the clients",
        (one.known or one.fresh) and changes,
    )
    return " - ".join(part for part in parts if part)


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


def _attained(account: Any) -> str:
    one = account.attained
    if one is None:
        return "not computed where gradients have noise"
    where = f"by f'' = L0 + L1 |f'| on the line at |f'| = {one.slope:.6g}"
    if account.is_attained:
        return f"the certified c, {where}: no larger one is true"
    return f"{one.c:.8g} {where}: no larger c is true"


def _multiples(account: Any, eta: float, gamma: float) -> str:
    """Say by how much eta and gamma may grow."""
    most, one = account.largest, account.published
    if math.isnan(most):
        return "not searched: no parameter is called eta or gamma"
    text = (
        f"no upper limit was found by doubling them {MOST_DOUBLINGS} times"
        if math.isinf(most)
        else f"a decrease is certified up to {most:.4g} times these steps, eta = {most * eta:.4g} "
        f"and gamma = {most * gamma:.4g} in M, by a search that doubles or halves, then bisects"
    )
    if one is not None:
        text += f"; the theorem allows eta <= {one.eta:.4g} and gamma <= {one.gamma:.4g}"
    return (
        f"{text}. The largest c M that a search finds is at {account.best:.4g} times them, with "
        f"c = {account.best_c:.6g}"
    )


def clipped_values(account: Any) -> dict[str, Any]:
    """Return what JSON has of an account beside what it has of all."""
    proof, one = account.certificate, account.published
    return attributes(
        account, theorem="published.title", promise="published.promise",
        published_eta="published.eta", published_gamma="published.gamma",
        certified_c="certificate.c", certified_e="certificate.e",
        exact_c="certificate.exact", exact_e="certificate.exact_e", lemma_5_c="lemma_5",
        attained_c="attained.c", attained_at="attained.slope",
        largest_factor="largest", best_factor="best", best_c="best_c",
    ) | {
        "measure": {"eta": str(proof.measure.eta), "gamma": str(proof.measure.gamma)},
        "published_c": json_number(one.c) if one and one.holds else None,
        "conditions": [
            {
                "statement": condition.statement,
                "left": json_number(condition.left),
                "right": json_number(condition.right),
                "holds": bool(condition.holds),
            }
            for condition in (one.conditions if one else ())
        ],
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
    }  # fmt: skip
