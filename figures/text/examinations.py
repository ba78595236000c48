"""The examination of one method as text and as JSON."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from certibit.data.problem import RelaxedConstants
from certibit.data.terminal import paragraph, table
from certibit.figures.text.tables import json_number
from certibit.theory.checks.examination import Examination
from certibit.theory.checks.method.whole_runs import RunsCheck
from certibit.theory.checks.promises import Promised
from certibit.theory.setting import Setting
from certibit.theory.theorem import Condition
from certibit.theory.verdict import FAILS, NOT_TESTED, Known, Verdict, readable

OUTCOME = 38
"""Columns for the outcome of a check and what is noted beside it."""
CLOSE = 1e-2
"""Numbers that are relatively nearer to each other are written with more digits."""


_LINES = 10
"""Checks that are printed although they hold, unless all are asked for."""

_TELLING = (
    "worst case on quadratics / tau",
    "worst case on small quadratics",
    "worst descent on small quadratics",
    "worst case / tau at the boundary",
    "Psi^t/(tau^t Psi^0) (log)",
    "median bits to the accuracy",
    "f - f* does not grow",
    "comes back to the solution",
    "stays at the solution",
    "rests without gradients",
    "bits counted are bits sent",
    "the server uses only what was sent",
    "moments of C(x) - constants",
    "L_i, L_f, mu and eigenvalues",
    "L0, L1, kappa and rho",
)
"""The most telling checks first; all others come behind, in the order in which they are made."""


def describe_examination(found: Examination, view: str, every: bool = False) -> str:
    """Say at which constants, of a view, the theorems are evaluated, and what came of each.

    Without ``every``, the theorem that promises most is printed with its hypotheses, of the others
    one line each, and of all checks the ten most telling ones. Failing checks are always printed.
    """
    met = [one for one in found.promised if one.met]
    best = min(met, key=lambda one: math.inf if one.factor is None else one.factor, default=None)
    if every:
        theorems = [_promised(promised) for promised in found.promised]
        checks = f"Whatever the theorem\n{_verdicts(found.sound)}"
    else:
        theorems = [_in_short(promised, promised is best) for promised in found.promised]
        of_it = best.verdicts if best else ()
        checks = _verdicts(_telling([*of_it, *found.sound]))
    untold = "" if found.with_noise else "No factor is promised, by no theorem and no certificate: "
    return "\n\n".join(
        [
            _constants(found.setting, view),
            *theorems,
            *([paragraph(f"{untold}{found.unpromised}")] if found.unpromised else []),
            checks,
            _summary(found, every),
        ]
    )


def _telling(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Return the most telling verdicts first, and behind them all that fail."""
    rank = {check: place for place, check in enumerate(_TELLING)}
    ordered = sorted(verdicts, key=lambda verdict: rank.get(verdict.check, len(rank)))
    return [verdict for place, verdict in enumerate(ordered) if place < _LINES or not verdict.holds]


def _in_short(promised: Promised, best: bool) -> str:
    """Write one line of a theorem, the hypotheses of the best one, and what fails of the others."""
    failing = [verdict for verdict in promised.verdicts if not verdict.holds]
    if best:
        return _promised(promised, ())
    return _promised(promised, failing) if failing else paragraph(str(promised))


_VIEWS = {
    "plain": "of the f_i with all of the ridge in them",
    "composite": "of the f_i without the half of the ridge that is in g",
}
"""The views in words."""


def _summary(found: Examination, every: bool) -> str:
    if not found.holds:
        failing = (verdict.check for verdict in found.verdicts if not verdict.holds)
        return paragraph(
            f"A CHECK {FAILS}: {', '.join(dict.fromkeys(failing)) or 'no theorem is met'}"
        )
    parts = [f"no check fails of {len(found.verdicts)}"]
    untested = [verdict.check for verdict in found.verdicts if not verdict.tested]
    if untested:
        parts.append(f"{NOT_TESTED}: {', '.join(dict.fromkeys(untested))}")
    if not every:
        parts.append("--all prints every check")
    return paragraph("; ".join(parts))


def _constants(setting: Setting, view: str) -> str:
    c: Any = setting.constants
    if isinstance(c, RelaxedConstants):
        known = ", ".join(f"{name} = {value:.6g}" for name, value in asdict(c).items())
        return paragraph(f"constants   {known}", hanging=" " * 12)
    text = (
        f"constants   {_VIEWS[view]}: L = max_i L_i = {c.L:.6g}, mu = {c.mu:.6g}, "
        f"L/mu = {c.kappa:.6g}, L_f = {c.L_f:.6g} (of the average of the f_i), "
        f"L_tilde = {c.L_tilde:.6g} (root mean square of the L_i)"
    )
    if setting.compressor.unbiased:
        text += f"; omega = {setting.omega:.6g}, omega_av = {setting.omega_av:.6g}"
    elif setting.by_variance:
        text += "; bias = {:.6g}, omega = {:.6g}, omega_av = {:.6g}".format(
            *setting.bias_and_variance
        )
    else:
        text += f"; alpha = {setting.alpha:.6g}"
    return paragraph(text, hanging=" " * 12)


def _promised(promised: Promised, verdicts: Sequence[Verdict] | None = None) -> str:
    """Write a theorem with its hypotheses and what came of it: all verdicts, or some."""
    verdicts = promised.verdicts if verdicts is None else verdicts
    if promised.theorem is None:
        title = "No theorem: the Lyapunov function must not grow in the mean"
        return "\n".join([title, *_table(verdicts)])
    hypotheses = _hypotheses(promised.conditions)
    if not promised.met:
        return f"{promised.theorem.title} ({promised.theorem.status}): not met\n{hypotheses}"
    said = str(promised.promise).replace("factor ", "factor tau = ")
    title = f"{promised.theorem.title} ({promised.theorem.status}): {said}"
    text = "\n".join([title, hypotheses, *_table(verdicts)])
    if promised.runs is not None and promised.runs.promised:
        text += f"\n{_whole_runs(promised.runs)}"
    return text


def _whole_runs(runs: RunsCheck) -> str:
    """Write what whole runs measure beside what is promised."""
    spread = f" +- {runs.error:.2g} (95 %)" if 0 < runs.error < math.inf else ""
    least = "" if runs.bits.tested else "at least "
    bits = f"total bits, up + {runs.downlink:g} down," if runs.downlink else "bits"
    return (
        f"log of the factor: measured {readable(runs.measured, 4)}{spread}, "
        f"promised {readable(runs.promised, 4)}\n"
        f"{bits} to the accuracy: measured {least}{_whole(runs.bits.value)}, "
        f"promised {_whole(runs.promised_bits)}"
    )


def _whole(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else readable(value)


def _hypotheses(conditions: Iterable[Condition]) -> str:
    rows = [
        (
            condition.statement,
            readable(condition.left, 6),
            readable(condition.right, 6),
            f"{condition.used:.2f} of its limit"
            if min(condition.left, condition.right) > 0 and math.isfinite(condition.used)
            else "",
            Known.PROVED.words() if condition.holds else FAILS,
        )
        for condition in conditions
    ]
    return table(("hypothesis", "left", "right", "at", ""), rows, texts=1)


def _table(verdicts: Sequence[Verdict]) -> list[str]:
    """Return the table of some verdicts, if there are any."""
    return [_verdicts(verdicts)] if verdicts else []


def _verdicts(verdicts: Sequence[Verdict]) -> str:
    """Write a table of at most 100 columns; notes are wrapped, and what fails is said below."""
    rows = [
        (v.check, f"{v.outcome}; {v.note}" if v.note else v.outcome, *_numbers(v)) for v in verdicts
    ]
    header = ("check", "outcome", "value", "limit")
    text = table(header, rows, texts=2, wrapped_at={"outcome": OUTCOME})
    advice = dict.fromkeys(v.advice for v in verdicts if v.advice and not v.holds)
    return "\n".join([text, *(paragraph(sentence) for sentence in advice)])


def _numbers(verdict: Verdict) -> tuple[str, str]:
    """Write value and limit with few digits, or with as many as tell them apart."""
    value, limit = verdict.value, verdict.limit
    near = math.isfinite(value) and abs(value - limit) < CLOSE * abs(limit)
    digits = 8 if near else 4
    return readable(value, digits), readable(limit, digits)


def examination_summary(found: Examination) -> dict[str, Any]:
    """Return an examination as strict JSON values; null stands for "not finite"."""
    return {
        "holds": found.holds,
        "unpromised": found.unpromised,
        "sound": [verdict_summary(verdict) for verdict in found.sound],
        "theorems": [
            {
                "title": None if promised.theorem is None else promised.theorem.title,
                "status": None if promised.theorem is None else promised.theorem.status,
                "met": promised.met,
                "factor": promised.factor,
                "promise": str(promised.promise),
                "hypotheses": [
                    {
                        "statement": condition.statement,
                        "left": json_number(condition.left),
                        "right": json_number(condition.right),
                        "used": json_number(condition.used),
                        "holds": condition.holds,
                    }
                    for condition in promised.conditions
                ],
                "verdicts": [verdict_summary(verdict) for verdict in promised.verdicts],
            }
            for promised in found.promised
        ],
    }


def verdict_summary(verdict: Verdict) -> dict[str, Any]:
    """Return a verdict as strict JSON values."""
    return {
        "check": verdict.check,
        "value": json_number(verdict.value),
        "limit": json_number(verdict.limit),
        "holds": verdict.holds,
        "tested": verdict.tested,
        "known": verdict.known,
        "points": verdict.points,
        "note": verdict.note,
        "advice": "" if verdict.holds else verdict.advice,
    }
