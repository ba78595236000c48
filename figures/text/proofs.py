"""Proofs as text and as JSON: what is proved of a method, where, and beside what is published.

Accounts, optima and chains of extensions are read by the names of their attributes.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from fractions import Fraction
from itertools import groupby
from typing import Any

from certibit.data.numbers import exactly
from certibit.data.terminal import paragraph
from certibit.figures.text.tables import json_number
from certibit.solvers.method import Method
from certibit.solvers.registry import extension
from certibit.solvers.total_bits import total_text
from certibit.theory.certificates.largest_step import MOST_DOUBLINGS
from certibit.theory.certificates.search import Objective, objective_value
from certibit.theory.function_class import FunctionClass
from certibit.theory.potential import Region
from certibit.theory.proofs.certificate import Certificate
from certibit.theory.proofs.rational_function import RationalFunction
from certibit.theory.quadratic_potential import QuadraticPotential
from certibit.theory.verdict import (
    FAILS,
    Known,
    readable_factor,
    subtracted,
    times_psi,
    written,
)
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational
from certibit.theory.worlds.orbits import StepCost

SLOWER = 0.01
"""Share by which the decrease of a state is smaller than that of a part of it."""
SEARCHED = "a search that doubles or halves, then bisects; not every step size below is tried"
UNCERTIFIED = f"no step size is certified of this one halved {MOST_DOUBLINGS} times"
UNLIMITED = f"no upper limit was found by doubling it {MOST_DOUBLINGS} times"
"""What was searched for the largest step size."""

GAP = 1e-8
"""Relative distance of what is proved to its bound that is printed."""

Rows = dict[str, str | list[str]]
"""Sentences by the word that they stand behind; an empty one is left out."""

_ORDER = (
    *("method", "family", "classes", "measure", "theorem", "conditions", "potential", "certified"),
    *("where", "proof", "verdict", "regime", "Lemma 5", "attained", "noise", "step size"),
    *("worst case", "divergence"),
)


def describe_proof(account: Any) -> str:
    """Say what an account holds: what is proved, beside what is published and what is attained."""
    proof, (rows_of, _) = account.certificate, _kind(account)
    method = getattr(account, "method", proof.method)
    checked = f"{Known.PROVED.words() if _holds(proof) else FAILS}, checked in rational numbers"
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
        "proof_holds": _holds(proof),
        "seconds": proof.seconds,
        **values_of(account),
        **({} if values_of is _clipped_values else {"potential": _formula(proof)}),
    }


def _statement(proof: Any) -> str:
    """Return the inequality that is proved; its numbers are rounded so that it stays true."""
    if isinstance(proof, Certificate):
        return f"E[Psi+] <= {times_psi(proof.exact)}"
    if not hasattr(proof, "growth"):
        text = f"f(x+) <= f(x) {subtracted(proof.exact, 8)} M"
        e = written(proof.exact_e, 6, up=True)
        return f"E {text} + {e} sigma^2" if proof.functions.sigma else text
    more = f"(1 + {written(proof.growth, 6, up=True)}) " if proof.growth else ""
    least = subtracted(proof.exact, 8)
    spent = _spent(proof.functions, proof.exact_e, proof.exact_dissimilarity)
    return f"E[Psi+] <= {more}Psi {least} {proof.measure.symbol}{spent}"


def _written(rows: Iterable[tuple[str, str | list[str]]]) -> str:
    """Write sentences, each behind its word."""
    return "\n".join(
        paragraph(f"{name:12}{line}", hanging=" " * 12, break_on_hyphens=False)
        for name, lines in rows
        for line in ([lines] if isinstance(lines, str) else lines)
        if line
    )


def _holds(proof: Any) -> bool:
    """Whether the proof is found to hold when the method is run on symbols anew."""
    return bool(proof.verify() == (proof.factor if hasattr(proof, "factor") else proof.c))


def _describe_family(family: FunctionClass, method: Method) -> str:
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


def _configured(method: Method) -> str:
    """Return a method with its parameters."""
    parts = (
        f"{key}={value:.6g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in asdict(method).items()
        if not isinstance(value, list | tuple)
    )
    return f"{method.name}: {', '.join(parts)}"


def _limit(now: str, largest: float, what: str, digits: int = 4) -> str:
    """Say up to which step size something is certified, and what was searched for that."""
    if math.isnan(largest):
        return f"{now}; {UNCERTIFIED}"
    if math.isinf(largest):
        return f"{now}; {UNLIMITED}"
    return f"{now}; {what} certified up to {largest:.{digits}g} by {SEARCHED}"


def _step_size(account: Any) -> str:
    """Return the step size of a method; "" if no parameter is one."""
    name = account.step_name
    return "" if name is None else f"{name} = {getattr(account.method, name):.6g}"


# factors of exact gradients


def _factor_rows(account: Any) -> Rows:
    proof, now = account.certificate, _step_size(account)
    family, attained, largest = proof.functions, account.attained, account.largest_step
    classes = ", ".join(f"{one.count} with L = {one.L:.6g}" for one in family.classes)
    worst = f"not attained: {account.unattained}" if account.unattained else ""
    if attained is not None:
        word = "E[Psi+] =" if attained.exact else "E[Psi+] is at most"
        worst = f"{word} {times_psi(1 - attained.factor)} in one exact step on a quadratic from "
        worst += "the dual of the programme"
    step = now and _limit(now, largest, "factor below 1", 6)
    if now and account.decrease > 0 and not getattr(account.method, account.step_name) <= largest:
        step = f"{now}; the largest certified step size was not found"
    return {
        "family": _describe_family(family, account.method),
        "classes": classes and f"clients by smoothness: {classes}",
        "theorem": "none applies to these parameters"
        if account.title is None
        else f"E[Psi+] <= {times_psi(account.published)} ({account.title})",
        "potential": _formula(proof) or "",
        "certified": _bound(proof),
        "where": proof.proviso,
        "step size": step,
        "worst case": worst,
        "divergence": "" if account.decrease > 0 else _divergence(account),
    }


def _bound(proof: Certificate) -> str:
    """Say what other multipliers could prove if that is more than what is proved."""
    if proof.bound - proof.decrease <= GAP * abs(proof.decrease):
        return ""
    if math.isinf(proof.bound):
        return "; no bound on what other multipliers prove was found"
    return f"; other multipliers prove at most {times_psi(proof.bound)}"


def _formula(proof: Any) -> str | None:
    """Return the potential as a formula if it is one that was searched for."""
    potential = proof.potential
    return str(potential) if isinstance(potential, QuadraticPotential) else None


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


def _factor_values(account: Any) -> dict[str, Any]:
    found = account.divergence
    return {
        "where": account.certificate.proviso or None,
        "worst_case_decrease": account.attained and 1 - account.attained.factor,
        "divergence": found and {"problem": found.problem.name, "features": found.problem.d}
        | _values(found, growth="growth", iterations="iterations"),
        **_values(
            account, theorem="title", published_decrease="published", looseness="looseness",
            certified_decrease="certificate.decrease", certified_factor="certificate.factor",
            exact_decrease="certificate.exact", **_OF_PSI,
        ),
    }  # fmt: skip


_OF_PSI = {
    "bound": "certificate.bound",
    "weights": "certificate.weights",
    "multipliers": "certificate.multipliers",
    "step_size": "step_name",
    "largest_step_size": "largest_step",
}
"""Keys of what has a potential, and the attributes that they are of."""


def _values(account: Any, **paths: str) -> dict[str, Any]:
    """Return attributes as values of strict JSON; what is proved is a fraction."""

    def value(x: Any) -> Any:
        if isinstance(x, Mapping):
            return {name: str(y) for name, y in x.items()}
        if isinstance(x, tuple):
            return [value(each) for each in x]
        return str(x) if isinstance(x, Fraction) else json_number(x)

    def at(path: str) -> Any:
        found = account
        for name in path.split("."):
            found = None if found is None else getattr(found, name)
        return found

    return {key: value(at(path)) for key, path in paths.items()}


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


# descents, and factors with stochastic gradients


def _descent_rows(account: Any) -> Rows:
    proof, now = account.certificate, _step_size(account)
    functions, contracts = proof.functions, proof.measure.name == "potential"
    theorem, stated = "none applies to these parameters", account.stated
    if stated is not None:
        sampled = bool(account.frontier)
        published = _spent(functions, account.noise, account.unlike, sampled)
        own = _spent(functions, stated.exact_e, stated.exact_dissimilarity, sampled)
        theorem = (
            f"E[Psi+] <= Psi - {account.published:.8g} {proof.measure.symbol}{published} "
            f"({account.title}); with its Psi {stated.c:.8g}{own.replace(' + ', ' with ', 1)} is "
            "certified"
        )
    finite = not math.isinf(proof.bound)
    step = now and _limit(now, account.largest_step, "a factor is" if contracts else "a descent is")
    if now and math.isfinite(account.largest_step) and not math.isnan(account.best):
        best = f"{account.best:.6g} at {account.best_step:.4g}"
        step = f"{step}; the largest c that a search finds is {best}"
    return {
        "family": _describe_family(functions, account.method),
        "theorem": theorem,
        "potential": _potential(account, contracts),
        "certified": f"; with this Psi no more than {proof.bound:.8g} is proved" if finite else "",
        "noise": _noise(account, contracts),
        "step size": step,
    }


def _spent(functions: Any, e: Any, unlike: Any, sampled: bool = False) -> str:
    """Write e sigma^2 and e' zeta^2, where there are."""
    parts = (e, functions.noise, "sigma^2"), (unlike, functions.zeta, "zeta^2")
    return "".join(f" + {written(part, 6, up=True)} {unit}"
                   for part, given, unit in parts if (sampled or part) and given)  # fmt: skip


def _potential(account: Any, contracts: bool) -> str:
    potential = account.certificate.potential
    at_solution = account.certificate.functions.has_solution
    state = "the solution" if contracts or at_solution else "rest at its model"
    text = f"{potential}; parts of a state are compared with the state at {state}"
    if not isinstance(potential, QuadraticPotential):
        text = f"that of {account.title or getattr(potential, 'title', 'a theorem')}"
    if contracts or not at_solution:
        return text
    return f"{text}. At the state at rest about any x it is at most |x - x*|^2"


def _noise(account: Any, contracts: bool) -> str:
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
    own = "with this Psi" if contracts else "each with its own Psi"
    return f"{least} found for some c, {own}: {pairs}"


def _descent_values(account: Any) -> dict[str, Any]:
    return _values(
        account, measure="certificate.measure.symbol", theorem="title",
        published_c="published", published_e="noise", published_dissimilarity="unlike",
        stated_c="stated.c", stated_e="stated.e",
        certified_c="certificate.c", certified_e="certificate.e",
        certified_dissimilarity="certificate.dissimilarity",
        exact_c="certificate.exact", exact_e="certificate.exact_e",
        exact_dissimilarity="certificate.exact_dissimilarity",
        multipliers_below="certificate.below", multipliers_of_equalities="certificate.free",
        multipliers_of_start="certificate.starting",
        best_step_size="best_step", best_c="best", **_OF_PSI,
    ) | {
        "frontier": [
            _values(one, c="c", e="e", dissimilarity="dissimilarity") for one in account.frontier
        ]
    }  # fmt: skip


# decreases of methods that clip, over (L0, L1)-smooth functions


def _clipped_rows(account: Any) -> Rows:
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


def _clipped_values(account: Any) -> dict[str, Any]:
    proof, one = account.certificate, account.published
    return _values(
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


def _kind(account: Any) -> tuple[Any, Any]:
    """Return what is said of an account beside what is said of all."""
    if hasattr(account, "lemma_5"):
        return _clipped_rows, _clipped_values
    if hasattr(account, "frontier"):
        return _descent_rows, _descent_values
    return _factor_rows, _factor_values


# parameters that are searched for


def describe_optimum(optimum: Any, objective: Objective, downlink: float = 0.0) -> str:
    """Say which parameters were found, and what they save: per decade, or for a mean of M."""
    proof, method = optimum.certificate, _configured(optimum.method)
    costs = (optimum.cost, optimum.before)
    after, before = (objective_value(cost, objective, downlink) for cost in costs)
    total, start = total_text(downlink), "than with the parameters given"
    spent, given = (_cost_text(cost, downlink) for cost in costs)
    if hasattr(optimum, "from_start"):
        psi = "1/eps, from the start of runs on the problem" if optimum.from_start else "Psi_0/eps"
        mean = f"times {psi}, for a mean of {proof.measure.symbol} of at most eps"
        rows = [("cost", f"{spent}, {mean}"), ("before", given)]
    else:
        sent = optimum.compressor.name if optimum.method.needs.compressor else "no compressor"
        method, start = f"{method}; {sent}", "than the best rule promises"
        rows = [("per decade", f"certified {spent}"), ("", f"published {given}")]
    counted = "total bits" if downlink and objective == "bits" else objective
    saved = f"{before / after:.3g} times fewer {counted} {start}"
    return _written(
        [
            ("optimised", method),
            ("certified", _statement(proof)),
            *rows,
            ("saved", "; ".join(filter(None, [saved, total]))),
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
    method = {"name": optimum.method.name, **plain(optimum.method)}
    if hasattr(optimum, "from_start"):
        return {
            "method": method,
            "certified_c": optimum.certificate.c,
            "from_start": optimum.from_start,
            "cost": asdict(optimum.cost),
            "before": asdict(optimum.before),
        }
    per_decade, published = (
        plain(cost) | {"total": json_number(objective_value(cost, "bits", downlink))}
        for cost in (optimum.cost, optimum.before)
    )
    return {
        "method": method,
        "compressor": optimum.compressor.name,
        "certified_decrease": optimum.certificate.decrease,
        "downlink_weight": downlink,
        "per_decade": per_decade,
        "published_per_decade": published,
    }


# several steps, and whole runs


def describe_chain(chain: Any, attained: float | None) -> str:
    """Say what several steps prove together, beside what is attained."""
    count = len(chain.links)
    text = (
        f"{chain.promise(6)}, an upper bound of the smallest factor, "
        f"{'proved' if _holds(chain) else FAILS} by a chain of {count} "
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
        "proof_holds": _holds(chain),
        "decreases": [float(link.decrease) for link in chain.links],
        "counts": list(chain.counts),
    }


def _chain_holds(chain: Any) -> bool:
    return bool(chain.verify() == chain.factor)


def describe_bits(bits: Any) -> str:
    """Say how many bits a run takes, as proved beside as measured."""
    theorem, certificate, chain, measured = (
        f"{value:.4g}" if math.isfinite(value) else "none"
        for value in (bits.theorem, bits.certificate, bits.chain, bits.measured)
    )
    counted = "; ".join(filter(None, [total_text(bits.downlink_weight), "per client"]))
    text = (
        f"{counted} to f - f* <= {bits.target:g}: proved {theorem} by theorem, {certificate} by "
        f"the certificate of one step, {chain} by a chain; measured {measured}"
    )
    return _written([("bits", text)])


def plain(values: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as values of strict JSON; null stands for "none"."""
    return {k: json_number(x) if isinstance(x, float) else x for k, x in asdict(values).items()}
