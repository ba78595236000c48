"""Certified descents of one method as text and as JSON."""

import math
from dataclasses import asdict
from typing import Any

from certibit.data.terminal import paragraph
from certibit.figures.text.certificates import (
    SEARCHED,
    UNCERTIFIED,
    UNLIMITED,
    describe_family,
    described_cost,
    finite_number,
    plain_values,
    written_parameters,
)
from certibit.theory.certificates.search import Objective, objective_value
from certibit.theory.descent.cheapest_descent import CheapestDescent
from certibit.theory.descent.descent_account import DescentAccount
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.verdict import FAILS, Known, subtracted, written


def describe_descent(account: DescentAccount) -> str:
    """Say what descent is certified, against what is published, and which steps have one."""
    proof = account.certificate
    theorem = "none applies to these parameters"
    if account.stated is not None:
        theorem = (
            f"E[Psi+] <= Psi - {account.published:.8g} {proof.measure.symbol}"
            f"{_spent(account, account.noise, account.unlike)} ({account.title}); "
            f"with its Psi {_promised(account, account.stated)} is certified"
        )
    more = f"(1 + {written(proof.growth, 6, up=True)}) " if proof.growth else ""
    lines = [
        f"{'method':12}{written_parameters(asdict(account.method), account.method.name)}",
        f"{'family':12}{describe_family(proof.functions, account.method)}",
        f"{'theorem':12}{theorem}",
        f"{'potential':12}{_potential(account)}",
        f"{'certified':12}E[Psi+] <= {more}Psi {subtracted(proof.exact, 8)} {proof.measure.symbol}"
        f"{_spent(account, proof.exact_e, proof.exact_dissimilarity)}, proved in "
        f"{1000 * proof.seconds:.0f} ms{_bound(proof)}",
        f"{'proof':12}{Known.PROVED.words() if proof.verify() == proof.c else FAILS}, checked in "
        "rational numbers",
        f"{'verdict':12}{account.verdict}",
    ]
    if account.frontier:
        zeta = bool(proof.functions.zeta)
        pairs = ", ".join(
            f"{one.c:.4g} with {one.e:.4g}" + f" and {one.dissimilarity:.4g}" * zeta
            for one in account.frontier
        )
        own = "with this Psi" if proof.measure.name == "potential" else "each with its own Psi"
        least = "smallest e + zeta^2 e' found" if zeta else "smallest e found"
        lines.append(f"{'noise':12}{least} for some c, {own}: {pairs}")
    elif proof.reduces_variance and proof.c > 0:
        why = "that of one sample at two points nearly cancels, and e = 0"
        lines.append(f"{'noise':12}none: {why}")
    if account.step_name is not None:
        lines.append(f"{'step size':12}{_steps(account)}")
    return "\n".join(paragraph(line, hanging=" " * 12, break_on_hyphens=False) for line in lines)


def _bound(proof: DescentCertificate) -> str:
    if math.isinf(proof.bound):
        return ""
    return f"; with this Psi no more than {proof.bound:.8g} is proved"


def _promised(account: DescentAccount, proof: DescentCertificate) -> str:
    more = _spent(account, proof.exact_e, proof.exact_dissimilarity).removeprefix(" + ")
    return f"{proof.c:.8g}" + (f" with {more}" if more else "")


def _spent(account: DescentAccount, e: Any, unlike: Any) -> str:
    """Write e sigma^2 and e' zeta^2, where there are."""
    functions, sampled = account.certificate.functions, bool(account.frontier)
    parts = (e, functions.noise, "sigma^2"), (unlike, functions.zeta, "zeta^2")
    return "".join(f" + {written(part, 6, up=True)} {unit}"
                   for part, given, unit in parts if (sampled or part) and given)  # fmt: skip


def _potential(account: DescentAccount) -> str:
    potential = account.certificate.potential
    contracts = account.certificate.measure.name == "potential"
    at_solution = account.certificate.functions.has_solution
    if not isinstance(potential, QuadraticPotential):
        told = f"that of {account.title or getattr(potential, 'title', 'a theorem')}"
    elif contracts or at_solution:
        told = f"{potential}; parts of a state are compared with the state at the solution"
    else:
        told = f"{potential}; parts of a state are compared with the state at rest at its model"
    if contracts or not at_solution:
        return told
    return f"{told}. At the state at rest about any x it is at most |x - x*|^2"


def _steps(account: DescentAccount) -> str:
    name, now = account.step_name, getattr(account.method, account.step_name or "")
    if math.isnan(account.largest_step):
        return f"{name} = {now:.6g}; {UNCERTIFIED}"
    if math.isinf(account.largest_step):
        return f"{name} = {now:.6g}; {UNLIMITED}"
    what = "a factor" if account.certificate.measure.name == "potential" else "a descent"
    limit = f"{name} = {now:.6g}; {what} is certified up to {account.largest_step:.4g}"
    limit = f"{limit} by {SEARCHED}"
    if math.isnan(account.best):
        return limit
    best = f"{account.best:.6g} at {account.best_step:.4g}"
    return f"{limit}; the largest c that a search finds is {best}"


def describe_cheapest(found: CheapestDescent, objective: Objective, downlink: float = 0.0) -> str:
    """Say which parameters were found, and what they cost for a mean of the measure M."""
    proof, measure = found.certificate, found.certificate.measure.symbol
    before, after = (
        objective_value(cost, objective, downlink) for cost in (found.before, found.cost)
    )
    times = "1/eps, from the start of runs on the problem" if found.from_start else "Psi_0/eps"
    lines = [
        f"{'optimised':12}{written_parameters(asdict(found.method), found.method.name)}",
        f"{'certified':12}E[Psi+] <= Psi - {proof.c:.8g} {measure}",
        f"{'cost':12}{described_cost(found.cost, downlink)}, times {times}, for a mean of "
        f"{measure} of at most eps",
        f"{'before':12}{described_cost(found.before, downlink)}",
        f"{'saved':12}{before / after:.3g} times fewer {objective} than with the parameters given",
    ]
    return "\n".join(paragraph(line, hanging=" " * 12, break_on_hyphens=False) for line in lines)


def cheapest_summary(found: CheapestDescent) -> dict[str, Any]:
    """Return the parameters that were found, and their cost, as values of strict JSON."""
    return {
        "method": {"name": found.method.name, **plain_values(asdict(found.method))},
        "certified_c": found.certificate.c,
        "from_start": found.from_start,
        "cost": asdict(found.cost),
        "before": asdict(found.before),
    }


def descent_summary(account: DescentAccount) -> dict[str, Any]:
    """Return an account as values of strict JSON; null stands for "none"."""
    proof = account.certificate
    searched = isinstance(proof.potential, QuadraticPotential)
    return {
        "method": {"name": account.method.name, **plain_values(asdict(account.method))},
        "family": plain_values(asdict(proof.functions)),
        "measure": proof.measure.symbol,
        "theorem": account.title,
        "published_c": finite_number(account.published),
        "stated_c": account.stated and account.stated.c,
        "stated_e": account.stated and account.stated.e,
        "published_e": finite_number(account.noise),
        "certified_c": proof.c,
        "certified_e": proof.e,
        "exact_e": str(proof.exact_e),
        "published_dissimilarity": finite_number(account.unlike),
        "certified_dissimilarity": proof.dissimilarity,
        "exact_dissimilarity": str(proof.exact_dissimilarity),
        "frontier": [
            {"c": one.c, "e": one.e, "dissimilarity": one.dissimilarity} for one in account.frontier
        ],
        "exact_c": str(proof.exact),
        "bound": finite_number(proof.bound),
        "verdict": account.verdict,
        "proof_holds": proof.verify() == proof.c,
        "potential": str(proof.potential) if searched else None,
        "weights": [str(weight) for weight in proof.weights],
        **{
            name: {key: str(y) for key, y in own.items()}
            for name, own in (
                ("multipliers", proof.multipliers),
                ("multipliers_below", proof.below),
                ("multipliers_of_equalities", proof.free),
                ("multipliers_of_start", proof.starting),
            )
        },
        "seconds": proof.seconds,
        "step_size": account.step_name,
        "largest_step_size": finite_number(account.largest_step),
        "best_step_size": finite_number(account.best_step),
        "best_c": finite_number(account.best),
    }
