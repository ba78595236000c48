"""Certificates of one method as text and as JSON."""

import math
from dataclasses import asdict
from typing import Any

from certibit.data.numbers import exactly
from certibit.data.terminal import paragraph
from certibit.solvers.method import Method
from certibit.solvers.total_bits import total_text
from certibit.theory.certificates.largest_step import MOST_DOUBLINGS
from certibit.theory.certificates.search import Objective, Optimum, objective_value
from certibit.theory.certificates.summary import Account
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Region
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.verdict import FAILS, Known, readable_factor, times_psi
from certibit.theory.worlds.orbits import StepCost

SEARCHED = "a search that doubles or halves, then bisects; not every step size below is tried"
UNCERTIFIED = f"no step size is certified of this one halved {MOST_DOUBLINGS} times"
UNLIMITED = f"no upper limit was found by doubling it {MOST_DOUBLINGS} times"
"""What was searched for the largest step size."""

GAP = 1e-8
"""Relative distance of what is proved to its bound that is printed."""


def describe_account(account: Account) -> str:
    """Say what is certified, against what is published, and show the worst case."""
    family, proof = account.certificate.functions, account.certificate
    lines = [
        f"{'method':12}{written_parameters(asdict(account.method), account.method.name)}",
        f"{'family':12}{describe_family(family, account.method)}",
        *([f"{'classes':12}{_classes(family)}"] if family.classes else []),
        f"{'theorem':12}{_published(account)}",
        *([f"{'potential':12}{formula}"] if (formula := _formula(account)) else []),
        f"{'certified':12}E[Psi+] <= {times_psi(proof.exact)}, proved in "
        f"{1000 * proof.seconds:.0f} ms{_more(proof)}",
        *([f"{'where':12}{proof.proviso}"] if proof.proviso else []),
        f"{'proof':12}{Known.PROVED.words() if _proof_holds(account) else FAILS}, checked in "
        "rational numbers",
        f"{'verdict':12}{account.verdict}",
    ]
    if account.step_name is not None:
        now = getattr(account.method, account.step_name)
        proved = account.decrease > 0
        limit = _limit(account.step_name, now, account.largest_step, proved=proved)
        lines.append(f"{'step size':12}{limit}")
    if account.attained is not None:
        found = times_psi(1 - account.attained.factor)
        word = "E[Psi+] =" if account.attained.exact else "E[Psi+] is at most"
        lines.append(
            f"{'worst case':12}{word} {found} in one exact step on a quadratic from the dual "
            "of the programme"
        )
    if account.unattained:
        lines.append(f"{'worst case':12}not attained: {account.unattained}")
    if account.decrease <= 0:
        lines.append(f"{'divergence':12}{_divergence(account)}")
    return "\n".join(paragraph(line, hanging=" " * 12, break_on_hyphens=False) for line in lines)


def describe_family(family: FunctionClass, method: Method) -> str:
    """Return the class of functions and compressors that a method is certified over."""
    noise = f"omega = {exactly(family.omega)}"
    if family.bias is not None:
        noise = f"bias = {exactly(family.bias)}, {noise}"
    elif method.needs.compressor == "contractive":
        noise = f"alpha = {exactly(family.alpha)}"
    if method.needs.downlink == "unbiased":
        noise += f", omega of the server = {exactly(family.omega_down)}"
    elif method.needs.downlink == "contractive":
        noise += f", alpha of the server = {exactly(family.alpha_down)}"
    noise += ", deterministic" * family.deterministic
    shared = method.needs.shared_minimiser and family.n > 1 and family.has_solution
    one = " with one minimiser" * shared
    more = "".join(f", {assumption}" for assumption in family.assumptions)
    return (
        f"n = {family.n}, mu = {exactly(family.mu)}, L = {exactly(family.L)}{more}, {noise}; "
        f"all functions{one}, all compressors"
    )


def _more(proof: Certificate) -> str:
    """Say what other multipliers could prove if that is more than what is proved."""
    if proof.bound - proof.decrease <= GAP * abs(proof.decrease):
        return ""
    if math.isinf(proof.bound):
        return "; no bound on what other multipliers prove was found"
    return f"; other multipliers prove at most {times_psi(proof.bound)}"


def _formula(account: Account) -> str | None:
    """Return the potential as a formula if it is one that was searched for."""
    potential = account.certificate.potential
    return str(potential) if isinstance(potential, QuadraticPotential) else None


def _classes(family: FunctionClass) -> str:
    parts = (f"{one.count} with L = {one.L:.6g}" for one in family.classes)
    return f"clients by smoothness: {', '.join(parts)}"


def written_parameters(values: dict[str, Any], name: str) -> str:
    """Return a method with its parameters."""
    parts = (
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in values.items()
        if not isinstance(value, list | tuple)
    )
    return f"{name}: {', '.join(parts)}"


def _published(account: Account) -> str:
    if account.title is None:
        return "none applies to these parameters"
    return f"E[Psi+] <= {times_psi(account.published)} ({account.title})"


def _proof_holds(account: Account) -> bool:
    return account.certificate.verify() == account.certificate.factor


def _limit(name: str, now: float, largest: float, *, proved: bool) -> str:
    if proved and not now <= largest:
        return f"{name} = {now:.6g}; the largest certified step size was not found"
    if math.isnan(largest):
        return f"{name} = {now:.6g}; {UNCERTIFIED}"
    if math.isinf(largest):
        return f"{name} = {now:.6g}; {UNLIMITED}"
    return f"{name} = {now:.6g}; factor below 1 certified up to {largest:.6g} by {SEARCHED}"


def _divergence(account: Account) -> str:
    found = account.divergence
    if found is None and account.untried:
        return f"no run is tried: {account.untried}"
    if found is None:
        return (
            "none was found: Psi may grow in one step, but no run diverged on the worst case and "
            "on extreme quadratics"
        )
    sent = "" if found.compressor is None else f" with {found.compressor.name}"
    end = "overflows" if math.isinf(found.growth) else f"grows {found.growth:.3g} times"
    return (
        f"on the quadratic '{found.problem.name}' (d = {found.problem.d}){sent}, from x = 0, "
        f"f - f* {end} in {found.iterations} iterations"
    )


def describe_limit(decrease: float, region: Region | None) -> str:
    """Return the asymptotic rate on quadratics, which bounds every potential, in words."""
    line = (
        f"{'other side':12}asymptotic factor {readable_factor(decrease)} on quadratics of one "
        "dimension"
        + ("" if region is None else " with contractions of that alpha, of which clipping is one")
        + ", with the largest allowed errors of messages and local solves; no Lyapunov function of "
        "the same state proves a smaller one"
    )
    return paragraph(line, hanging=" " * 12, break_on_hyphens=False)


def describe_optimum(optimum: Optimum, objective: Objective, downlink: float = 0.0) -> str:
    """Say which parameters were found, and what they save per decade of accuracy."""
    sent = optimum.compressor.name if optimum.method.needs.compressor else "no compressor"
    method = written_parameters(asdict(optimum.method), optimum.method.name)
    lines = [
        f"{'optimised':12}{method}; {sent}",
        f"{'certified':12}E[Psi+] <= {times_psi(optimum.certificate.exact)}",
        f"{'per decade':12}certified {described_cost(optimum.cost, downlink)}",
        f"{'':12}published {described_cost(optimum.before, downlink)}",
    ]
    before, after = (
        objective_value(cost, objective, downlink) for cost in (optimum.before, optimum.cost)
    )
    counted = "total bits" if downlink and objective == "bits" else objective
    saved = f"{before / after:.3g} times fewer {counted} than the best rule promises"
    lines.append("; ".join(filter(None, [f"{'saved':12}{saved}", total_text(downlink)])))
    return "\n".join(paragraph(line, hanging=" " * 12, break_on_hyphens=False) for line in lines)


def described_cost(cost: StepCost, downlink: float = 0.0) -> str:
    """Say what a cost is: bits, rounds and gradients."""
    total = f"{objective_value(cost, 'bits', downlink):,.0f} total, " if downlink else ""
    return (
        f"{cost.uplink_bits:,.0f} bits up, {cost.downlink_bits:,.0f} down, {total}"
        f"{cost.rounds:,.0f} rounds, {cost.gradients:,.0f} gradients"
    )


def account_summary(account: Account) -> dict[str, Any]:
    """Return an account as values of strict JSON; null stands for "none"."""
    proof = account.certificate
    divergence = account.divergence
    return {
        "method": {"name": account.method.name, **plain_values(asdict(account.method))},
        "family": plain_values(asdict(proof.functions)),
        "theorem": account.title,
        "published_decrease": finite_number(account.published),
        "certified_decrease": proof.decrease,
        "certified_factor": proof.factor,
        "looseness": finite_number(account.looseness),
        "verdict": account.verdict,
        "proof_holds": _proof_holds(account),
        "potential": _formula(account),
        "where": proof.proviso or None,
        "weights": list(proof.weights),
        "multipliers": {name: str(y) for name, y in proof.multipliers.items()},
        "exact_decrease": str(proof.exact),
        "bound": finite_number(proof.bound),
        "seconds": proof.seconds,
        "step_size": account.step_name,
        "largest_step_size": finite_number(account.largest_step),
        "worst_case_decrease": None if account.attained is None else 1 - account.attained.factor,
        "divergence": divergence
        and {
            "problem": divergence.problem.name,
            "features": divergence.problem.d,
            "growth": finite_number(divergence.growth),
            "iterations": divergence.iterations,
        },
    }


def optimum_summary(optimum: Optimum, downlink: float = 0.0) -> dict[str, Any]:
    """Return an optimum as values of strict JSON."""

    def per_decade(cost: StepCost) -> dict[str, Any]:
        return plain_values(asdict(cost) | {"total": objective_value(cost, "bits", downlink)})

    return {
        "method": {"name": optimum.method.name, **plain_values(asdict(optimum.method))},
        "compressor": optimum.compressor.name,
        "certified_decrease": optimum.certificate.decrease,
        "downlink_weight": downlink,
        "per_decade": per_decade(optimum.cost),
        "published_per_decade": per_decade(optimum.before),
    }


def plain_values(values: dict[str, Any]) -> dict[str, Any]:
    """Return values of strict JSON."""
    return {key: finite_number(x) if isinstance(x, float) else x for key, x in values.items()}


def finite_number(value: float) -> float | None:
    """Return a number, or None for what JSON has no number for."""
    return value if math.isfinite(value) else None
