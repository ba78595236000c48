"""The verdicts on all panels, as one JSON object and as text."""

import math
from collections.abc import Hashable, Sequence
from typing import Any

from certibit.data.terminal import paragraph, table
from certibit.figures.locodl.claims import (
    ACCURACIES,
    BitComparison,
    CurveBits,
    JudgedClaim,
    PanelBits,
    across_findings,
    panel_findings,
)
from certibit.figures.locodl.explanation import explanation
from certibit.figures.locodl.panels import Curve, Figure, Panel
from certibit.figures.text.tables import accuracy_name
from certibit.figures.text.verdicts import SUPPORTED, ClaimVerdict, verdicts_text
from certibit.solvers.runs.trace import Trace
from certibit.theory.verdict import FAILS, UNDECIDED

Traces = dict[tuple[Panel, Curve], Trace]
_RULE = (
    "A comparison of two curves is supported if all seeds agree on it or the 10-90 % bands of "
    "their bits are disjoint in its order; it FAILS if the bands are disjoint in the opposite "
    "order; else, and with fewer than three seeds, it is undecided. "
    "A claim is supported if all its comparisons are, FAILS if one does, and else is undecided; "
    "pairs in which neither curve gets there within the axis are left out. A claim about the "
    "same curves in another version of the figure is judged once. "
    "Numbers are medians of {}, with the band; 'never' is beyond the axis."
)
_GIVEN_UP = " A run that was given up costs more than it had spent, and no more is said of it."


def judge(pairs: Sequence[Sequence[Figure]], traces: Traces) -> dict[str, Any]:
    """Judge the claims of the paper on figures, each in the paper's and in the best version.

    Returns
    -------
    dict
        Values of strict JSON; an infinite number of bits is null.
    """
    judged: set[Hashable] = set()
    figures = [_figure(figure, traces, judged) for pair in pairs for figure in pair]
    return {"rule": _rule(pairs), "figures": figures}


def _rule(pairs: Sequence[Sequence[Figure]]) -> str:
    """Return the rule of the verdicts and the definition of the bits, in words."""
    panel = pairs[0][0].panels[0]
    return _RULE.format(panel.counted) + _GIVEN_UP * bool(panel.downlink)


def _figure(figure: Figure, traces: Traces, judged: set[Hashable]) -> dict[str, Any]:
    costs = [
        PanelBits(panel, {curve: traces[panel, curve] for curve in panel.curves})
        for panel in figure.panels
    ]
    return {
        "figure": figure.name,
        "panels": [_panel(each, judged) for each in costs],
        "across panels": _findings(across_findings(costs), judged),
    }


def _findings(found: Sequence[JudgedClaim], judged: set[Hashable]) -> list[dict[str, Any]]:
    """Return the claims that have not been judged yet, on the same curves."""
    new = [each for each in found if each.subject not in judged]
    judged.update(each.subject for each in new)
    return [_finding(each) for each in new]


def _panel(costs: PanelBits, judged: set[Hashable]) -> dict[str, Any]:
    finest = ACCURACIES[-1]
    return {
        "panel": costs.panel.title,
        "curves": [
            {
                "curve": curve.label,
                "rule": curve.rule,
                "parameters": costs.of(curve, finest).parameters,
                "bits": {accuracy_name(a): _cost(costs.of(curve, a)) for a in ACCURACIES},
            }
            for curve in costs.curves()
        ],
        "ranking to 1e-5": [cost.curve.label for cost in costs.ranking(finest)],
        "claims": _findings(panel_findings(costs), judged),
    }


def _finding(found: JudgedClaim) -> dict[str, Any]:
    decisive = found.decisive
    values = {
        "claim": found.claim,
        "source": found.quotation.place,
        "quotation": found.quotation.words,
        "note": found.note,
        "outcome": found.outcome,
        "measured": str(found),
        "decisive": _comparison(decisive),
        "comparisons": [_comparison(each) for each in found.comparisons],
    }
    if found.outcome == FAILS:
        values["why"] = [
            explanation(cost.panel, cost.curve, decisive.accuracy, cost.parameters)
            for cost in (decisive.fewer, decisive.more)
        ]
    return values


def _comparison(each: BitComparison) -> dict[str, Any]:
    return {
        "accuracy": each.accuracy,
        "factor": each.factor,
        "fewer": {"curve": each.fewer.curve.label, "panel": each.fewer.panel.title}
        | _cost(each.fewer),
        "more": {"curve": each.more.curve.label, "panel": each.more.panel.title} | _cost(each.more),
        "outcome": each.outcome,
    }


def _cost(cost: CurveBits) -> dict[str, float | None]:
    low, high = cost.band
    values = {"median": cost.median, "low": low, "high": high}
    return {name: x if math.isfinite(x) else None for name, x in values.items()}


def judgement_text(judgement: dict[str, Any]) -> str:
    """Write verdicts as text: per figure a table of outcomes, then every claim with numbers."""
    blocks = [paragraph(judgement["rule"])]
    for figure in judgement["figures"]:
        blocks.append(f"{figure['figure']}\n{'=' * len(figure['figure'])}")
        blocks.append(_overview(figure))
        for panel in figure["panels"]:
            ranking = "fewest bits to 1e-5, by method: " + "; ".join(panel["ranking to 1e-5"])
            lines = paragraph(ranking, hanging="  ")
            blocks.append(f"{panel['panel']}\n{lines}\n{_claims(panel['claims'])}")
        if figure["across panels"]:
            blocks.append(f"across the panels\n{_claims(figure['across panels'])}")
    return "\n\n".join(blocks)


def judgement_summary(judgement: dict[str, Any]) -> str:
    """Write how many claims have which outcome in every panel, and a line for each that FAILS."""
    blocks = []
    for figure in judgement["figures"]:
        groups = [(panel["panel"], panel["claims"]) for panel in figure["panels"]]
        groups.append(("across the panels", figure["across panels"]))
        failing: dict[str, list[str]] = {}
        for name, claims in groups:
            for claim in claims:
                if claim["outcome"] == FAILS:
                    failing.setdefault(claim["claim"], []).append(name)
        lines = [
            paragraph(f"{FAILS}: {claim} [{'; '.join(names)}]", hanging="  ")
            for claim, names in failing.items()
        ]
        blocks.append("\n".join([f"{figure['figure']}", _overview(figure), *lines]))
    return "\n\n".join(blocks)


def _overview(figure: dict[str, Any]) -> str:
    """Count the outcomes of every panel."""
    outcomes = (SUPPORTED, FAILS, UNDECIDED)
    groups = [(panel["panel"], panel["claims"]) for panel in figure["panels"]]
    groups.append(("across the panels", figure["across panels"]))
    rows = [
        (name, *(str(sum(c["outcome"] == outcome for c in claims)) for outcome in outcomes))
        for name, claims in groups
    ]
    return table(("claims", *outcomes), rows, texts=1)


def _claims(claims: Sequence[dict[str, Any]]) -> str:
    return verdicts_text(
        ClaimVerdict(
            claim["claim"],
            claim["source"],
            claim["measured"] + "".join(f". {why}" for why in claim.get("why", [])),
            claim["outcome"],
            claim["quotation"],
            claim["note"],
        )
        for claim in claims
    )
