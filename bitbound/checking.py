"""The commands that confront theory with code: check, theory, scaling."""

import argparse
import json
import math
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bitbound.data.files.cache import write_atomically
from bitbound.data.problems.selector import KAPPA, problem
from bitbound.figures.text.tables import WIDTH, describe, summary_of_parts, table
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.fit import fitting_view
from bitbound.theory.checks.examination import Examination, Promised, examine
from bitbound.theory.theorems.from_file import find_entry, make_method, read_settings
from bitbound.theory.verdict import Verdict

FAILED = 1


def add_checking(commands: Any, count: Callable[[str], int]) -> None:
    """Add the commands to a parser; ``count`` reads a whole number of at least 1."""
    checking = commands.add_parser("check", help="confront a method with its theorems")
    checking.set_defaults(command=_check)
    checking.add_argument("problem", metavar="PROBLEM", help="such as breast-cancer@9")
    checking.add_argument("method", metavar="METHOD", help="such as locodl, or path/to/method.py")
    checking.add_argument("compressor", metavar="COMPRESSOR", nargs="?", help="such as rand-k:2")
    checking.add_argument("--kappa", type=float, default=KAPPA, help="condition number L/mu")
    checking.add_argument("--parameters", metavar="RULE", help="the rule for the parameters")
    checking.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter, such as p=1"
    )
    checking.add_argument("--seeds", type=count, default=5, help="number of whole runs")
    checking.add_argument("--until", type=float, default=1e-6, help="f - f* of the whole runs")
    checking.add_argument(
        "--strict", action="store_true", help="refuse parameters outside every theorem"
    )
    checking.add_argument("--json", action="store_true", help="print one JSON object")

    everything = commands.add_parser("theory", help="check every theorem on standard problems")
    everything.set_defaults(command=_theory)
    laws = commands.add_parser("scaling", help="fit exponents of bits in kappa, d, n and omega")
    laws.set_defaults(command=_scaling)
    for command, folder in ((everything, "results/theory"), (laws, "results/scaling")):
        command.add_argument("--seeds", type=count, default=4, help="number of runs")
        command.add_argument("--output", type=Path, default=Path(folder), help="folder")


def _check(chosen: argparse.Namespace) -> int:
    entry = find_entry(chosen.method)
    sent = compressor(chosen.compressor) if chosen.compressor else None
    solved = problem(chosen.problem, kappa=chosen.kappa)
    settings = read_settings(entry.method, chosen.set)
    method = make_method(entry, solved, sent, chosen.parameters, settings)
    with tqdm(desc=method.name, bar_format="{desc} {elapsed} {postfix}", file=sys.stderr) as bar:
        found = examine(
            entry,
            method,
            solved,
            sent,
            rule=chosen.parameters,
            by_rule=not settings,
            seeds=chosen.seeds,
            accuracy=chosen.until,
            strict=chosen.strict,
            tell=bar.set_postfix_str,
        )
    if chosen.json:
        parts = summary_of_parts(solved, method, sent)
        print(json.dumps(parts | _as_json(found), allow_nan=False))
    else:
        print(describe(solved, method, sent))
        print(_constants(found, fitting_view(method, solved).view))
        for promised in found.promised:
            print("\n" + _promised(promised))
        print("\nWhatever the theorem\n" + _verdicts(found.sound))
        print("\n" + ("all checks hold" if found.holds else "A CHECK FAILS"))
    return 0 if found.holds else FAILED


def _constants(found: Examination, view: str) -> str:
    """Say which constants the theorems are evaluated at."""
    setting = found.setting
    c = setting.constants
    text = (
        f"constants   of the {view} view: L = max_i L_i = {c.L:.6g}, mu = {c.mu:.6g}, "
        f"kappa = L/mu = {c.kappa:.6g}, L_f = {c.L_f:.6g} (of the average of the f_i), "
        f"L_tilde = {c.L_tilde:.6g} (root mean square of the L_i)"
    )
    if setting.compressor.unbiased:
        text += f"; omega = {setting.omega:.6g}, omega_av = {setting.omega_av:.6g}"
    else:
        text += f"; alpha = {setting.compressor.alpha(setting.d):.6g}"
    return textwrap.fill(text, WIDTH, subsequent_indent=" " * 12)


def _promised(promised: Promised) -> str:
    """Write a theorem with its hypotheses and what came of it."""
    if promised.theorem is None:
        title = "No theorem: the Lyapunov function must not grow in the mean"
        return f"{title}\n{_verdicts(promised.verdicts)}"
    rows = [
        (
            condition.statement,
            f"{condition.left:.6g}",
            f"{condition.right:.6g}",
            f"{condition.used:.2f} of its limit"
            if min(condition.left, condition.right) > 0
            else "",
            "holds" if condition.holds else "FAILS",
        )
        for condition in promised.conditions
    ]
    hypotheses = table(("hypothesis", "left", "right", "at", ""), rows, texts=1)
    if not promised.met:
        return f"{promised.theorem.title}: not met\n{hypotheses}"
    text = f"{promised.theorem.title}: factor tau = 1 - {1 - promised.rate:.6g}\n{hypotheses}\n"
    text += _verdicts(promised.verdicts)
    runs = promised.runs
    if runs is not None and runs.promised:
        text += (
            f"\nlog of the factor: measured {runs.measured:.4g} +- {runs.error:.2g} (95 %), "
            f"promised {runs.promised:.4g}"
            f"\nbits to the accuracy: measured {runs.bits.value:,.0f}, "
            f"promised {runs.promised_bits:,.0f}"
        )
    return text


def _verdicts(verdicts: tuple[Verdict, ...]) -> str:
    rows = [
        (v.check, v.note, f"{v.value:.8g}", f"{v.limit:.8g}", "holds" if v.holds else "FAILS")
        for v in verdicts
    ]
    return table(("check", "", "value", "limit", ""), rows, texts=2)


def _as_json(found: Examination) -> dict[str, Any]:
    return {
        "holds": found.holds,
        "sound": list(map(_json_verdict, found.sound)),
        "theorems": [
            {
                "title": None if p.theorem is None else p.theorem.title,
                "met": p.met,
                "factor": p.rate,
                "hypotheses": [
                    {
                        "statement": c.statement,
                        "left": _finite(c.left),
                        "right": _finite(c.right),
                        "used": _finite(c.used),
                        "holds": c.holds,
                    }
                    for c in p.conditions
                ],
                "verdicts": list(map(_json_verdict, p.verdicts)),
            }
            for p in found.promised
        ],
    }


def _json_verdict(v: Verdict) -> dict[str, Any]:
    return {
        "check": v.check,
        "value": _finite(v.value),
        "limit": _finite(v.limit),
        "holds": v.holds,
        "note": v.note,
    }


def _finite(value: float) -> float | None:
    number = float(value)
    return number if abs(number) < float("inf") else None


def _theory(chosen: argparse.Namespace) -> int:
    from bitbound.figures.checks.looseness import draw_looseness  # noqa: PLC0415  (heavy)
    from bitbound.theory.checks.standard import as_json, rows, tasks  # noqa: PLC0415

    found = []
    for some in tqdm(rows(chosen.seeds), total=len(tasks()), desc="theory", file=sys.stderr):
        found += some
    lines = [
        (
            row.theorem,
            row.family,
            f"{row.rule}, {row.compressor}",
            "holds" if row.holds else "FAILS",
            f"{row.tightest.used:.2f}",
            "-" if math.isnan(row.worst) else f"{row.worst:.5f}",
            f"{row.step:.2f}",
            f"{row.rate:.2f}",
            f"{row.bits:.1f}",
        )
        for row in found
    ]
    header = ("theorem", "problem", "parameters", "", "margin", "worst", "step", "rate", "bits")
    text = "\n".join(
        [
            table(header, lines, texts=3),
            "",
            "margin: how much of its limit the tightest hypothesis uses",
            "worst: exact worst case over all states of small quadratics / tau; 1 is tight,",
            "       - where the rule meets the theorem on none of them",
            "step: least progress of one step of a run, exact / promised",
            "rate: log of the factor of whole runs, measured / promised",
            "bits: promised / measured",
            f"{sum(row.holds for row in found)} of {len(found)} rows hold",
        ]
    )
    failing = [
        f"{row.theorem}, {row.family}, {row.rule}, {row.compressor}: {v.check} is {v.value:.8g} "
        f"and may be {v.limit:.8g}"
        for row in found
        for v in row.verdicts
        if not v.holds
    ]
    text = "\n".join([text, *failing])
    _write(chosen.output / "report.txt", text)
    _write(chosen.output / "report.json", json.dumps([*map(as_json, found)], allow_nan=False))
    draw_looseness(found, chosen.output)
    print(text)
    return FAILED if failing else 0


def _scaling(chosen: argparse.Namespace) -> int:
    from bitbound.figures.checks.scaling_laws import draw_scaling  # noqa: PLC0415  (heavy)
    from bitbound.theory.checks.scaling import LAWS, scaling  # noqa: PLC0415

    with tqdm(total=len(LAWS), desc="scaling", file=sys.stderr) as bar:
        fits = []
        for fit in scaling(seeds=chosen.seeds, tell=lambda law: bar.set_postfix_str(law.method)):
            fits.append(fit)
            bar.update()
    lines = [
        (
            fit.law.quantity,
            fit.law.method,
            f"{fit.law.values[0]:g} to {fit.law.values[-1]:g}",
            f"{fit.exponent:.2f} +- {fit.error:.2f}",
            f"{fit.table:.2f}",
            "holds" if fit.holds else "FAILS",
        )
        for fit in fits
    ]
    header = ("in", "method", "values", "bits grow like", "table", "")
    text = table(header, lines, texts=2)
    _write(chosen.output / "scaling.txt", text)
    draw_scaling(fits, chosen.output)
    print(text)
    return 0 if all(fit.holds for fit in fits) else FAILED


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, lambda file: file.write((text + "\n").encode()))
