"""The report: one HTML file that makes no network request."""

import json
import math
from base64 import b64encode
from functools import cache
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from certibit.data.files.cache import write_text
from certibit.figures.report.records import outcome_kind
from certibit.figures.report.results import Results, read_results
from certibit.figures.text.tables import count_text, late_median
from certibit.theory.verdict import FAILS, NOT_TESTED, ONLY_IF, UNDECIDED, Known

_PACKAGE = "certibit.figures.report"
_COLUMNS = ("bits", "downlink bits", "rounds", "gradients")


def write_report(folder: Path, path: Path) -> Path:
    """Write the page of everything in a folder of results, and return the file."""
    write_text(path, page(read_results(folder)))
    return path


def page(results: Results) -> str:
    """Return the page as one text: style, script, data and pictures stand inside it."""
    template = _environment().get_template("report.html")
    return template.render(
        results=results,
        panels=_panels(results),
        weight=_weight(results),
        counts=_counts(results),
        verdicts=_verdicts(results),
        titles={part.anchor: part.title for part in results.parts},
        version=version("certibit"),
        slider=_slider_place(_weight(results)),
        style=_part("report.css"),
        script=_part("report.js"),
    )


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "picture": _picture,
        "caption": _caption,
        "count": count_text,
        "kind": outcome_kind,
        "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False),
        "json": _embedded,
        "never": lambda value: "never" if value is None else count_text(value),
        "four": lambda value: "–" if value is None else f"{value:.4g}",
    }
    return environment


def _panels(results: Results) -> dict[str, list[dict[str, Any]]]:
    """Return by figure its panels with their rows, in the order of bits."""
    found: dict[str, list[dict[str, Any]]] = {}
    for figure in results.figures:
        for panel in figure["panels"]:
            target = panel["targets"][-1]
            rows = [
                {
                    "curve": curve,
                    "costs": [_median(curve["costs"][target][name]) for name in _COLUMNS],
                    "coarse": _median(curve["costs"][panel["targets"][0]]["bits"]),
                    "up": curve["costs"][target]["bits"],
                    "down": curve["costs"][target]["downlink bits"],
                    "made": curve["specification"] | {"versions": figure["versions"]},
                }
                for curve in panel["curves"]
            ]
            rows.sort(key=lambda row: row["costs"][0])
            found.setdefault(figure["figure"], []).append({"panel": panel, "rows": rows})
    return found


def _weight(results: Results) -> float:
    """Return the weight of a bit received that all figures were drawn with; 0 if they differ."""
    weights = {panel["downlink_weight"] for each in results.figures for panel in each["panels"]}
    return float(weights.pop()) if len(weights) == 1 else 0.0


def _counts(results: Results) -> dict[str, str]:
    """Return by anchor what a reader must know first about a part."""
    counts = {}
    if results.judgement:
        counts["verdicts"] = _outcomes(_claim_outcomes(results))
    if results.episode:
        counts["episode"] = _outcomes([each["outcome"] for each in results.episode["verdicts"]])
    if results.deep:
        counts["deep"] = _outcomes([each["outcome"] for each in results.deep["verdicts"]])
    if results.theory:
        failing = sum(not row["holds"] for row in results.theory)
        counts["theory"] = f"{failing} of {len(results.theory)} rows fail"
    if results.scaling:
        failing = sum(not row["holds"] for row in results.scaling)
        counts["scaling"] = f"{failing} of {len(results.scaling)} exponents fail"
    if results.rates:
        central = [rate for rate in results.rates if not rate["varied"]]
        certified = sum(rate["certified"] is not None for rate in central)
        counts["certified"] = f"{certified} of {len(central)} rules have a certificate"
    if results.audits:
        counts["audit"] = "; ".join(
            f"{audit['proof']} ({_outcomes([outcome_kind(s['verdict']) for s in audit['steps']])})"
            for audit in results.audits
        )
    for line in results.faults.splitlines():
        if "faults are caught" in line or "false alarms" in line:
            counts["faults"] = f"{counts['faults']}; {line}" if "faults" in counts else line
    if results.bench:
        counts["bench"] = f"{len(results.bench['ratios'])} ratios, {results.bench['date'][:10]}"
    return counts


def _claim_outcomes(results: Results) -> list[str]:
    """Return the outcomes of the claims about the figures of LoCoDL."""
    figures = results.judgement["figures"] if results.judgement else []
    return [
        claim["outcome"]
        for figure in figures
        for group in (*figure["panels"], {"claims": figure["across panels"]})
        for claim in group["claims"]
    ]


def _verdicts(results: Results) -> list[tuple[str, int, int, int]]:
    """Return by anchor how many verdicts hold, are neither, and FAIL; parts without are left out.

    Holding under a hypothesis that is added counts as failing, as what was stated does.
    """
    episode, deep = (
        [each["outcome"] for each in found["verdicts"]] if found else []
        for found in (results.episode, results.deep)
    )
    outcomes = {
        "verdicts": _claim_outcomes(results),
        "episode": episode,
        "deep": deep,
        "theory": [outcome_kind(row["outcome"]) for row in results.theory],
        "scaling": [Known.MEASURED.words() if fit["holds"] else FAILS for fit in results.scaling],
        "audit": [outcome_kind(s["verdict"]) for audit in results.audits for s in audit["steps"]],
    }
    neither, failing = (UNDECIDED, NOT_TESTED), (FAILS, ONLY_IF)
    return [
        (
            anchor,
            sum(outcome not in (*neither, *failing) for outcome in found),
            sum(outcome in neither for outcome in found),
            sum(outcome in failing for outcome in found),
        )
        for anchor, found in outcomes.items()
        if found
    ]


def _outcomes(outcomes: list[str]) -> str:
    return ", ".join(f"{each}: {outcomes.count(each)}" for each in dict.fromkeys(outcomes))


def _part(name: str) -> Markup:
    return Markup((files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8"))


def _picture(path: Path) -> Markup:
    """Return a picture that a command has drawn; as an image it runs no script."""
    try:
        drawn = b64encode(path.read_bytes()).decode("ascii")
    except OSError:
        return Markup("")
    source = f"data:image/svg+xml;base64,{drawn}"
    return Markup('<figure><img alt="{}" src="{}"></figure>').format(path.stem, source)


def _median(costs: list[float | None]) -> float:
    """Return the median over the seeds, infinite where half of the runs or more never arrive."""
    return late_median(np.array(costs, dtype=float))


def _caption(panel: dict[str, Any]) -> str:
    """Say what a panel shows: the measure, data, n, d, kappa and seeds."""
    kappa = f", kappa = {panel['kappa']:g}" if panel["kappa"] else ""
    seeds = f"medians of {panel['seeds']} seeds" if panel["seeds"] > 1 else "one seed"
    return (
        f"{panel['measure']} on {panel['problem']}, n = {panel['n']}, d = {panel['d']}{kappa}; "
        f"{seeds}, per client"
    )


def _slider_place(weight: float) -> int:
    """Return the place of a weight of a bit received on the slider, which ``report.js`` reads."""
    return min(100, max(0, round(20 * (math.log10(weight) + 4)))) if weight else 0


def _embedded(value: Any) -> Markup:
    """Return values for a script element, in which nothing may end that element."""
    return Markup(json.dumps(value, allow_nan=False).replace("<", "\\u003c"))
