"""Proofs as text and as JSON: what is proved of a method, where, and beside what is published.

Accounts, optima and chains of extensions are read by the names of their attributes.
"""

import math
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from certibit.data.terminal import paragraph
from certibit.figures.text.clipped_proofs import clipped_rows, clipped_values
from certibit.figures.text.tables import Rows, attributes, json_number
from certibit.solvers.method import Method
from certibit.solvers.total_bits import total_text
from certibit.theory.certificates.largest_step import MOST_DOUBLINGS
from certibit.theory.certificates.search import Objective, objective_value
from certibit.theory.potential import Region
from certibit.theory.proofs.proof import Proof, rest_text, unit_of_step
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.verdict import FAILS, Known, readable_factor, subtracted, times_psi, written
from certibit.theory.worlds.orbits import StepCost

SLOWER = 0.01
"""Share by which the decrease of a state is smaller than that of a part of it."""
SEARCHED = "a search that doubles or halves, then bisects; not every step size below is tried"
UNCERTIFIED = f"no step size is certified of this one halved {MOST_DOUBLINGS} times"
UNLIMITED = f"no upper limit was found by doubling it {MOST_DOUBLINGS} times"
"""What was searched for the largest step size."""

GAP = 1e-8
"""Relative distance of what is proved to its bound that is printed."""

_ORDER = (
    *("method", "family", "classes", "measure", "theorem", "conditions", "potential", "certified"),
    *("where", "proof", "verdict", "regime", "Lemma 5", "attained", "noise", "step size"),
    *("worst case", "divergence"),
)


def describe_proof(account: Any) -> str:
    """Say what an account holds: what is proved, beside what is published and what is attained."""
    proof, (rows_of, _) = account.certificate, _kind(account)
    method = getattr(account, "method", proof.method)
    checked = f"{Known.PROVED.words() if proof.verify() else FAILS}, checked in rational numbers"
    if type(proof.method) is not type(method):
        checked += f"; of {proof.method.name}, whose steps are those of {method.name} by its card"
    rows: Rows = {
        "method": _configured(method),
        "proof": checked,
        "verdict": account.verdict,
        **rows_of(account),
    }
    rows["certified"] = (
        f"{_statement(proof)}, proved in {1000 * proof.seconds:.0f} ms{rows.get('certified', '')}"
    )
    return _written((name, rows.get(name, "")) for name in _ORDER)


def proof_summary(account: Any) -> dict[str, Any]:
    """Return an account as values of strict JSON; null stands for "none"."""
    proof, (_, values_of) = account.certificate, _kind(account)
    method = getattr(account, "method", proof.method)
    return {
        "method": {"name": method.name, **plain(method)},
        "family": plain(proof.functions),
        "verdict": account.verdict,
        "proof_holds": proof.verify(),
        "seconds": proof.seconds,
        **values_of(account),
        **({} if values_of is clipped_values else {"potential": proof.formula}),
    }


def _statement(proof: Any) -> str:
    """Return the inequality that is proved; its numbers are rounded so that it stays true."""
    if isinstance(proof, Proof):
        return proof.statement(8)
    text = f"f(x+) <= f(x) {subtracted(proof.exact, 8)} M"
    e = written(proof.exact_e, 6, up=True)
    return f"E {text} + {e} sigma^2" if proof.functions.sigma else text


def _written(rows: Iterable[tuple[str, str | list[str]]]) -> str:
    """Write sentences, each behind its word."""
    return "\n".join(
        paragraph(f"{name:12}{line}", hanging=" " * 12, break_on_hyphens=False)
        for name, lines in rows
        for line in ([lines] if isinstance(lines, str) else lines)
        if line
    )


def _configured(method: Method) -> str:
    """Return a method with its parameters."""
    parts = (
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in asdict(method).items()
        if not isinstance(value, list | tuple)
    )
    return f"{method.name}: {', '.join(parts)}{unit_of_step(method)}"


def _step_size(account: Any) -> str:
    """Return the step size of a method; "" if no parameter is one."""
    name = account.step_name
    return "" if name is None else f"{name} = {getattr(account.method, name):.6g}"


# proofs of factors and of descents


def _proof_rows(account: Any) -> Rows:
    proof, functions, now = account.certificate, account.certificate.functions, _step_size(account)
    classes = ", ".join(f"{one.count} with L = {one.L:.6g}" for one in functions.classes)
    worst = f"not attained: {account.unattained}" if account.unattained else ""
    if (attained := account.attained) is not None:
        word = "E[Psi+] =" if attained.exact else "E[Psi+] is at most"
        worst = f"{word} {times_psi(1 - attained.factor)} in one exact step on a quadratic from "
        worst += "the dual of the programme"
    return {
        "family": functions.described_for(account.method),
        "classes": classes and f"clients by smoothness: {classes}",
        "theorem": _theorem(account),
        "potential": _potential(account),
        "certified": _bound(proof),
        "where": proof.proviso,
        "noise": _noise(account),
        "step size": now and _limit(account, now),
        "worst case": worst,
        "divergence": "" if proof.c > 0 or not (worst or attained) else _divergence(account),
    }


def _theorem(account: Any) -> str:
    """Say what is published and, of a descent, certified with its Psi."""
    proof, stated = account.certificate, account.stated
    if account.title is None:
        return "none applies to these parameters"
    noisy = proof.functions.has_variance
    spent = _spent(account.noise, account.unlike) if noisy else ""
    if proof.measure.contracts:
        return (
            f"E[Psi+] <= {times_psi(account.published)}{spent} ({account.title}; {account.status})"
        )
    own = _spent(stated.exact_e, stated.exact_dissimilarity)
    return (
        f"E[Psi+] <= Psi - {account.published:.8g} {proof.measure.symbol}{spent} "
        f"({account.title}; {account.status}); with its Psi {stated.c:.8g}"
        f"{own.replace(' + ', ' with ', 1)} is certified"
    )


def _spent(e: Any, unlike: Any) -> str:
    """Write e sigma^2 and e' zeta^2, where there are."""
    parts = (e, "sigma^2"), (unlike, "zeta^2")
    return "".join(f" + {written(x, 6, up=True)} {unit}" for x, unit in parts if x)


def _limit(account: Any, now: str) -> str:
    """Say up to which step size something is certified, and what was searched for that."""
    contracts, largest = account.certificate.measure.contracts, account.largest_step
    if math.isnan(largest):
        return f"{now}; {UNCERTIFIED}"
    if math.isinf(largest):
        return f"{now}; {UNLIMITED}"
    if account.certificate.c > 0 and not getattr(account.method, account.step_name) <= largest:
        return f"{now}; the largest certified step size was not found"
    what, digits = ("factor below 1", 6) if contracts else ("a descent is", 4)
    text = f"{now}; {what} certified up to {largest:.{digits}g} by {SEARCHED}"
    if math.isnan(account.best):
        return text
    best = f"{account.best:.6g} at {account.best_step:.4g}"
    return f"{text}; the largest c that a search finds is {best}"


def _bound(proof: Proof) -> str:
    """Say what other multipliers could prove if that is more than what is proved."""
    if proof.bound - proof.c <= GAP * abs(proof.c):
        return ""
    if math.isinf(proof.bound):
        return "; no bound on what other multipliers prove was found"
    contracts = proof.measure.contracts
    most = times_psi(proof.bound) if contracts else f"c = {proof.bound:.8g}"
    return f"; other multipliers prove at most {most}"


def _potential(account: Any) -> str:
    """Return Psi as a formula, of a descent with the state at rest that it is compared with."""
    proof = account.certificate
    text, contracts = proof.formula, proof.measure.contracts
    at_solution = proof.functions.has_solution
    if text:
        searched = isinstance(proof.potential, QuadraticPotential)
        state = "the solution" if at_solution else "rest at its model" if searched else ""
        text += f", of differences from the state at {state}" * bool(state)
    elif not contracts:
        text = f"that of {account.title or getattr(proof.potential, 'title', 'a theorem')}"
    if contracts or not at_solution:
        return text or ""
    rest = rest_text(proof.method, proof.functions.n)
    where = f", with {rest}," if rest else ""
    return f"{text}. At the state at rest about any x{where} it is at most |x - x*|^2"


def _noise(account: Any) -> str:
    """Return the pairs of c and the smallest e, or why there is no noise."""
    proof, zeta = account.certificate, bool(account.certificate.functions.zeta)
    if not account.frontier:
        none = "none: that of one sample at two points nearly cancels, and e = 0"
        return none if proof.reduces_variance and proof.c > 0 else ""
    pairs = ", ".join(
        f"{one.c:.4g} with {one.e:.4g}" + f" and {one.dissimilarity:.4g}" * zeta
        for one in account.frontier
    )
    least = "smallest e + zeta^2 e'" if zeta else "smallest e"
    own = "with this Psi" if proof.measure.contracts else "each with its own Psi"
    return f"{least} found for some c, {own}: {pairs}"


def _divergence(account: Any) -> str:
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


def _proof_values(account: Any) -> dict[str, Any]:
    found, proof = account.divergence, account.certificate
    return {
        "where": proof.proviso or None,
        "certified_factor": json_number(proof.factor) if proof.measure.contracts else None,
        "worst_case_decrease": account.attained and 1 - account.attained.factor,
        "divergence": found and {"problem": found.problem.name, "features": found.problem.d}
        | attributes(found, growth="growth", iterations="iterations"),
        **attributes(
            account, measure="certificate.measure.symbol", theorem="title", looseness="looseness",
            status="status",
            published_c="published", published_e="noise", published_dissimilarity="unlike",
            stated_c="stated.c", stated_e="stated.e",
            certified_c="certificate.c", certified_e="certificate.e",
            certified_dissimilarity="certificate.dissimilarity",
            exact_c="certificate.exact", exact_e="certificate.exact_e",
            exact_dissimilarity="certificate.exact_dissimilarity", bound="certificate.bound",
            weights="certificate.weights", multipliers="certificate.multipliers",
            multipliers_below="certificate.below", multipliers_of_equalities="certificate.free",
            multipliers_of_start="certificate.starting",
            step_size="step_name", largest_step_size="largest_step",
            best_step_size="best_step", best_c="best",
        ),
        "frontier": [
            attributes(one, c="c", e="e", dissimilarity="dissimilarity") for one in account.frontier
        ],
    }  # fmt: skip


def describe_limit(decrease: float, whole: float, region: Region | None) -> str:
    """Return the asymptotic rates on quadratics, which bound every potential, in words."""
    contracting = " with contractions of that alpha, of which clipping is one" * bool(region)
    text = (
        f"asymptotic factor {readable_factor(decrease)} on quadratics of one dimension{contracting}"
        ", with the largest allowed errors of messages and local solves; no Lyapunov function of "
        "as much of the state proves a smaller one"
    )
    left = ""
    if whole < (1 - SLOWER) * decrease:
        left = (
            f"Psi does not contain all of the state, whose asymptotic factor is "
            f"{readable_factor(whole)}; of the rest, such as a model left out, nothing is "
            "proved"
        )
    return _written([("other side", text), ("left out", left)])


def _kind(account: Any) -> tuple[Any, Any]:
    """Return what is said of an account beside what is said of all."""
    clipped = hasattr(account, "lemma_5")
    return (clipped_rows, clipped_values) if clipped else (_proof_rows, _proof_values)


# parameters that are searched for


def describe_optimum(optimum: Any, objective: Objective, downlink: float = 0.0) -> str:
    """Say which parameters were found, and what they save: per decade, or for a mean of M."""
    proof, method = optimum.certificate, _configured(optimum.method)
    costs = (optimum.cost, optimum.before)
    after, before = (objective_value(cost, objective, downlink) for cost in costs)
    spent, given = (_cost_text(cost, downlink) for cost in costs)
    if proof.measure.contracts:
        sent = optimum.compressor.name if optimum.method.needs.compressor else "no compressor"
        method, start = f"{method}; {sent}", "than the best rule promises"
        rows = [("per decade", f"certified {spent}"), ("", f"published {given}")]
    else:
        psi = "1/eps, from the start of runs on the problem" if optimum.from_start else "Psi_0/eps"
        mean = f"times {psi}, for a mean of {proof.measure.symbol} of at most eps"
        rows = [("cost", f"{spent}, {mean}"), ("before", given)]
        start = "than with the parameters given"
    counted = "total bits" if downlink and objective == "bits" else objective
    saved = f"{before / after:.3g} times fewer {counted} {start}"
    return _written(
        [
            ("optimised", method),
            ("certified", _statement(proof)),
            *rows,
            ("saved", "; ".join(filter(None, [saved, total_text(downlink)]))),
        ]
    )


def _cost_text(cost: StepCost, downlink: float = 0.0) -> str:
    """Say what a cost is: bits, rounds and gradients."""
    total = f"{objective_value(cost, 'bits', downlink):,.0f} total, " if downlink else ""
    return (
        f"{cost.uplink_bits:,.0f} bits up, {cost.downlink_bits:,.0f} down, {total}"
        f"{cost.rounds:,.0f} rounds, {cost.gradients:,.0f} gradients"
    )


def optimum_summary(optimum: Any, downlink: float = 0.0) -> dict[str, Any]:
    """Return an optimum as values of strict JSON."""
    cost, before = (
        plain(cost) | {"total": json_number(objective_value(cost, "bits", downlink))}
        for cost in (optimum.cost, optimum.before)
    )
    return {
        "method": {"name": optimum.method.name, **plain(optimum.method)},
        "compressor": optimum.compressor.name,
        "certified_c": optimum.certificate.c,
        "downlink_weight": downlink,
        "from_start": optimum.from_start,
        "cost": cost,
        "before": before,
    }


# several steps


def describe_chain(chain: Any, attained: float | None) -> str:
    """Say what several steps prove together, beside what is attained."""
    count = len(chain.links)
    text = (
        f"{chain.promise(6)}, an upper bound of the smallest factor, "
        f"{'proved' if chain.verify() else FAILS} by a chain of {count} "
        f"certificate{'s' * (count > 1)}"
    )
    if attained is not None:
        factor = readable_factor(attained, 6)
        text += f"; {chain.steps} steps attain {factor} each on quadratics"
    return _written([("steps", text)])


def chain_summary(chain: Any, attained: float | None) -> dict[str, Any]:
    """Return a chain as values of strict JSON."""
    return {
        "steps": chain.steps,
        "log_factor": chain.log_factor,
        "decrease_per_step": chain.decrease,
        "attained_per_step": attained,
        "proof_holds": chain.verify(),
        "decreases": [float(link.decrease) for link in chain.links],
        "counts": list(chain.counts),
    }


def plain(values: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as values of strict JSON; null stands for "none"."""
    return {k: json_number(x) if isinstance(x, float) else x for k, x in asdict(values).items()}
