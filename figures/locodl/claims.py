"""The claims of the LoCoDL paper about its figures, judged on the traces; as JSON and as text.

A claim consists of comparisons: curve A needs fewer bits than curve B to an accuracy, possibly by a
factor. The bits of a seed are infinite if its run does not reach the accuracy within the axis. A
comparison

* is supported if it is true for all seeds, or if the 10-90 % bands are disjoint in its order,
* FAILS if the bands are disjoint in the opposite order, that is, beyond the spread between seeds,
* is undecided otherwise, and with fewer than three seeds.

A claim is supported if all its comparisons are, FAILS if one of them FAILS, and is undecided
otherwise. Comparisons in which neither curve reaches the accuracy are left out, and counted.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.terminal import paragraph, table
from certibit.figures.costs import BAND
from certibit.figures.locodl.panels import COUNTED, Curve, Figure, Panel, strongest_promise
from certibit.figures.text.tables import accuracy_name, json_number
from certibit.figures.text.verdicts import (
    OWN,
    SEEDS,
    SUPPORTED,
    ClaimVerdict,
    Quotation,
    verdicts_text,
)
from certibit.solvers.runs.trace import Trace
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.verdict import FAILS, UNDECIDED

Traces = dict[tuple[Panel, Curve], Trace]
FASTEST = Quotation(
    "We can see that LoCoDL, when combined with rand-k and Natural Compression, converges faster "
    "than all other algorithms, with respect to the total number of communicated bits per client.",
    "LoCoDL, section 4, lines 298-299",
)
OUTPERFORMS = Quotation(
    "LoCoDL outperforms CompressedScaffnew in both cases.", "LoCoDL, section 4, line 302"
)
LARGER_N = Quotation(
    "As expected, all methods exhibit faster convergence with larger n.",
    "LoCoDL, section 4, lines 302-303",
)
BEHIND = Quotation(
    "ADIANA, which has the best theoretical complexity for large n, improves upon DIANA but is not "
    "competitive with the LT-based methods CompressedScaffnew, 5GCS-CC, and LoCoDL.",
    "LoCoDL, section 4, lines 303-305",
)
OTHER_PROBLEM = "with n the rows of a client, the L_i, mu and so the problem change as well"
L1 = Quotation("Like with rand-1, we have omega = d - 1.", "LoCoDL, section 4, line 296")
OUR_PART = {
    (
        "5gcs-cc",
        "ours-adaptive",
    ): "5GCS-CC with constants of our own theorem and adaptive local solves",
    ("5gcs-cc", "paper"): "5GCS-CC with K local steps and constants of our own theorem",
    ("diana", "a"): "DIANA with the step of arXiv:1905.11261, as the paper names none",
}
"""Notes on methods with parameters or theorems of ours."""
ACCURACIES = (1e-3, 1e-5)
LIKE = 1.25
"""Two curves behave alike if each needs at most so many times the bits of the other."""
LOCAL_TRAINING = ("compressed-scaffnew", "5gcs-cc", "locodl")
_NEVER = 1e300
_RULE = (
    "A comparison of two curves is supported if all seeds agree on it or the 10-90 % bands of "
    "their bits are disjoint in its order; it FAILS if the bands are disjoint in the opposite "
    "order; else, and with fewer than three seeds, it is undecided. "
    "A claim is supported if all its comparisons are, FAILS if one does, and else is undecided; "
    "pairs in which neither curve gets there within the axis are left out. A claim about the "
    "same curves in another version of the figure is judged once. "
    "Numbers are medians of {}, with the band; 'never' is beyond the axis."
)


@dataclass(frozen=True)
class CurveBits:
    """The cost of a curve to an accuracy: its parameters, and the bits of every seed, (S,)."""

    panel: Panel
    curve: Curve
    parameters: Mapping[str, Any]
    bits: NDArray[np.float64]

    @property
    def median(self) -> float:
        """Median over seeds; infinite if half of them or more miss the accuracy."""
        return float(np.median(self.bits))

    @cached_property
    def band(self) -> tuple[float, float]:
        """The 10-90 % band, of log(bits)."""
        logs = np.log10(np.clip(self.bits, 1.0, _NEVER))
        low, high = (float(10**end) for end in np.percentile(logs, BAND))
        most = 2 * self.panel.bits
        return (low if low <= most else np.inf), (high if high <= most else np.inf)

    def record(self) -> dict[str, Any]:
        """Return median and band as JSON values."""
        low, high = json_number(self.band)
        return {"median": json_number(self.median), "low": low, "high": high}

    def explanation(self, accuracy: float) -> str:
        """Say what is promised to an accuracy, and with which parameters."""
        best = strongest_promise(self.panel, self.curve)
        bits = f"{best.bits_to(accuracy):,.0f} bits promised" if best else "nothing promised"
        values = ", ".join(
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}"
            for name, value in self.parameters.items()
            if not isinstance(value, list | tuple)
        )
        return f"{self.curve.label}: {bits}; {values}"

    def __str__(self) -> str:
        if not np.isfinite(self.median):
            return f"{self.curve.label}: more than {self.panel.bits:,.0f}"
        low, high = self.band
        above = f"{high:,.0f}" if np.isfinite(high) else "never"
        return f"{self.curve.label}: {self.median:,.0f} ({low:,.0f} to {above})"


@dataclass(frozen=True)
class BitComparison:
    """That ``factor`` times the bits of ``fewer`` are less than the bits of ``more``."""

    fewer: CurveBits
    more: CurveBits
    accuracy: float
    factor: float = 1.0

    @property
    def outcome(self) -> str:
        """The verdict, as defined in the docstring of this module."""
        left, right = self.factor * self.fewer.bits, self.more.bits
        low, high = (self.factor * end for end in self.fewer.band)
        if right.size < SEEDS:
            return UNDECIDED
        if bool(np.all(left < right)) or high < self.more.band[0]:
            return SUPPORTED
        return FAILS if low > self.more.band[1] else UNDECIDED

    @property
    def ratio(self) -> float:
        """Median bits of ``more`` over those of ``fewer``; NaN if both are infinite."""
        with np.errstate(invalid="ignore"):
            return float(np.float64(self.more.median) / np.float64(self.fewer.median))

    def record(self) -> dict[str, Any]:
        """Return both costs and the outcome as JSON values."""
        ends = {
            name: {"curve": cost.curve.label, "panel": cost.panel.title} | cost.record()
            for name, cost in (("fewer", self.fewer), ("more", self.more))
        }
        return {"accuracy": self.accuracy, "factor": self.factor, **ends, "outcome": self.outcome}

    def __str__(self) -> str:
        limit = f", {self.factor:g} asked for" if self.factor != 1 else ""
        times = f" [x {self.ratio:.3g}{limit}]" if np.isfinite(self.ratio) else ""
        return f"to {accuracy_name(self.accuracy)} {self.fewer}; {self.more}{times}"


@dataclass(frozen=True)
class ComparedClaim:
    """A claim with its comparisons, the sentence of the paper that makes it, and a remark."""

    claim: str
    comparisons: tuple[BitComparison, ...]
    quoted: Quotation = OWN
    remark: str = ""

    @property
    def measured(self) -> tuple[BitComparison, ...]:
        """The comparisons in which at least one curve reaches the accuracy."""
        return tuple(
            c for c in self.comparisons if np.isfinite([*c.fewer.bits, *c.more.bits]).any()
        )

    @property
    def outcome(self) -> str:
        """Supported if all measured comparisons are, FAILS if one does, else undecided."""
        outcomes = {comparison.outcome for comparison in self.measured}
        return FAILS if FAILS in outcomes else SUPPORTED if outcomes == {SUPPORTED} else UNDECIDED

    @property
    def decisive(self) -> BitComparison:
        """The comparison that decides: among those with this outcome, the least favourable one."""
        outcome = self.outcome
        same = [c for c in self.measured or self.comparisons if c.outcome == outcome]
        return min(same, key=lambda c: c.ratio / c.factor if c.ratio == c.ratio else np.inf)

    @property
    def verdict(self) -> ClaimVerdict:
        """The verdict, with notes on the two curves of the decisive comparison and the remark."""
        decisive, beyond = self.decisive, len(self.comparisons) - len(self.measured)
        left_out = f"; {beyond} of {len(self.comparisons)} pairs are beyond the axis"
        curves = (decisive.fewer.curve, decisive.more.curve)
        notes = (OUR_PART.get((curve.method, curve.rule or ""), "") for curve in curves)
        note = "; ".join(dict.fromkeys(filter(None, (*notes, self.remark))))
        measured = f"{decisive}{left_out if beyond else ''}"
        return ClaimVerdict(self.claim, self.quoted, measured, self.outcome, note)

    @property
    def subject(self) -> Hashable:
        """The data that determine the outcome; claims with the same data are counted once."""
        ends = [end for c in self.comparisons for end in (c.fewer, c.more)]
        return self.claim, tuple((end.curve, end.panel.problem) for end in ends)

    def record(self) -> dict[str, Any]:
        """Return the verdict as JSON values; of one that FAILS with what was promised."""
        decisive = self.decisive
        values = self.verdict.record() | {
            "decisive": decisive.record(),
            "comparisons": [each.record() for each in self.comparisons],
        }
        if self.outcome == FAILS:
            ends = (decisive.fewer, decisive.more)
            values["why"] = [cost.explanation(decisive.accuracy) for cost in ends]
        return values


class PanelBits:
    """The bits of all curves of a panel that claims are about."""

    def __init__(self, panel: Panel, traces: Mapping[Curve, Trace]) -> None:
        self.panel = panel
        self.traces = {curve: trace for curve, trace in traces.items() if curve.claimed}

    def of(self, curve: Curve, accuracy: float) -> CurveBits:
        """Return the bits of a curve to an accuracy."""
        trace = self.traces[curve]
        bits = trace.bits_to(accuracy)
        parameters = trace.specification["method"]["parameters"]
        return CurveBits(self.panel, curve, parameters, np.where(np.isnan(bits), np.inf, bits))

    def curves(self, *methods: str, kind: str | None = None) -> list[Curve]:
        """Return the curves of some methods, of all if none is named, with a kind of compressor."""
        return [
            curve
            for curve in self.traces
            if (not methods or curve.method in methods) and kind in (None, curve.kind)
        ]

    def best(self, accuracy: float, *methods: str) -> CurveBits:
        """Return the curve with the fewest bits (median) of some methods."""
        costs = (self.of(curve, accuracy) for curve in self.curves(*methods))
        return min(costs, key=lambda cost: cost.median)

    def ranking(self, accuracy: float) -> list[CurveBits]:
        """Return the best curve of every method that reaches the accuracy, fewest bits first."""
        methods = dict.fromkeys(curve.method for curve in self.traces)
        costs = sorted((self.best(accuracy, m) for m in methods), key=lambda cost: cost.median)
        return [cost for cost in costs if np.isfinite(cost.median)]

    def against(
        self, fewer: Curve, more: Iterable[Curve], accuracies: Sequence[float] = ACCURACIES
    ) -> list[BitComparison]:
        """Compare a curve with others."""
        return [
            BitComparison(self.of(fewer, accuracy), self.of(curve, accuracy), accuracy)
            for accuracy in accuracies
            for curve in more
        ]

    def same_kind(
        self, fewer: str, more: str, accuracies: Sequence[float] = ACCURACIES, factor: float = 1.0
    ) -> list[BitComparison]:
        """Compare two methods with the same kind of compressor."""
        return [
            BitComparison(self.of(mine, accuracy), self.of(other, accuracy), accuracy, factor)
            for accuracy in accuracies
            for mine in self.curves(fewer)
            for other in self.curves(more, kind=mine.kind)
            if other.kind == mine.kind
        ]


def panel_findings(costs: PanelBits) -> list[ComparedClaim]:
    """Judge what the paper claims about every panel."""
    combined = costs.curves("locodl", kind="rand-k+natural")[0]
    both, finest = " and ".join(map(accuracy_name, ACCURACIES)), ACCURACIES[-1]
    alike = [
        (costs.of(one, finest), costs.of(other, finest))
        for one in costs.curves(kind="l1")
        for other in costs.curves(one.method, kind="rand-k")
        if other.k == 1
    ]
    claims = {
        f"LoCoDL with rand-k and natural compression needs fewer bits to {both} than all other "
        "algorithms": (
            costs.against(combined, [c for c in costs.curves() if c.method != "locodl"]),
            FASTEST,
        ),
        f"LoCoDL outperforms CompressedScaffnew to {both}": (
            costs.against(combined, costs.curves("compressed-scaffnew")),
            OUTPERFORMS,
        ),
        f"ADIANA improves on DIANA with the same kind of compressor to {both}": (
            costs.same_kind("adiana", "diana"),
            BEHIND,
        ),
        f"ADIANA is not competitive with CompressedScaffnew, 5GCS-CC and LoCoDL to {both}": (
            [
                BitComparison(costs.best(a, method), costs.best(a, "adiana"), a)
                for a in ACCURACIES
                for method in LOCAL_TRAINING
            ],
            BEHIND,
        ),
        "LoCoDL reaches 1e-5 with at least 5 times fewer bits than DIANA with the same kind of "
        "compressor": (costs.same_kind("locodl", "diana", [finest], 5.0), OWN),
        f"l1-selection behaves like rand-1: within a factor of {LIKE:g} to 1e-5": (
            [
                BitComparison(*ends, finest, 1 / LIKE)
                for pair in alike
                for ends in (pair, pair[::-1])
            ],
            L1,
        ),
    }
    return [
        ComparedClaim(claim, tuple(comparisons), quoted)
        for claim, (comparisons, quoted) in claims.items()
        if comparisons
    ]


def across_findings(panels: Sequence[PanelBits]) -> list[ComparedClaim]:
    """Judge that every method needs fewer bits for larger n; panels of one data set, by n."""
    finest = ACCURACIES[-1]
    claims = []
    for method, card in METHODS.items():
        comparisons = tuple(
            BitComparison(larger.of(one, finest), smaller.of(other, finest), finest)
            for smaller, larger in pairwise(panels)
            for one in larger.curves(method)
            for other in smaller.curves(method)
            if (one.kind, one.rule) == (other.kind, other.rule)
        )
        if comparisons:
            claim = f"{card.label} needs fewer bits to 1e-5 for larger n"
            claims.append(ComparedClaim(claim, comparisons, LARGER_N, OTHER_PROBLEM))
    return claims


def judge(pairs: Sequence[Sequence[Figure]], traces: Traces) -> dict[str, Any]:
    """Judge the claims of the paper on figures, each in the paper's and in the best version.

    Returns
    -------
    dict
        Values of strict JSON; an infinite number of bits is null.
    """
    judged: set[Hashable] = set()

    def new(claims: Sequence[ComparedClaim]) -> list[dict[str, Any]]:
        """Return the claims that have not been judged yet, on the same curves."""
        some = [each for each in claims if each.subject not in judged]
        judged.update(each.subject for each in some)
        return [each.record() for each in some]

    figures = []
    for figure in (figure for pair in pairs for figure in pair):
        costs = [PanelBits(p, {c: traces[p, c] for c in p.curves}) for p in figure.panels]
        panels = [_panel(each) | {"claims": new(panel_findings(each))} for each in costs]
        across = new(across_findings(costs))
        figures.append({"figure": figure.name, "panels": panels, "across panels": across})
    return {"rule": _RULE.format(COUNTED), "figures": figures}


def _panel(costs: PanelBits) -> dict[str, Any]:
    finest = ACCURACIES[-1]
    return {
        "panel": costs.panel.title,
        "curves": [
            {
                "curve": curve.label,
                "rule": curve.rule,
                "parameters": costs.of(curve, finest).parameters,
                "bits": {accuracy_name(a): costs.of(curve, a).record() for a in ACCURACIES},
            }
            for curve in costs.curves()
        ],
        "ranking to 1e-5": [cost.curve.label for cost in costs.ranking(finest)],
    }


def judgement_text(judgement: dict[str, Any]) -> str:
    """Write verdicts as text: per figure a table of outcomes, then every claim with numbers."""
    blocks = [paragraph(judgement["rule"])]
    for figure in judgement["figures"]:
        blocks += [f"{figure['figure']}\n{'=' * len(figure['figure'])}", _overview(figure)]
        for panel in figure["panels"]:
            ranking = "fewest bits to 1e-5, by method: " + "; ".join(panel["ranking to 1e-5"])
            lines = paragraph(ranking, hanging="  ")
            blocks.append(f"{panel['panel']}\n{lines}\n{verdicts_text(panel['claims'])}")
        if figure["across panels"]:
            blocks.append(f"across the panels\n{verdicts_text(figure['across panels'])}")
    return "\n\n".join(blocks)


def judgement_summary(judgement: dict[str, Any]) -> str:
    """Write how many claims have which outcome in every panel, and a line for each that FAILS."""
    blocks = []
    for figure in judgement["figures"]:
        failing: dict[str, list[str]] = {}
        for name, claims in claim_groups(figure):
            for claim in claims:
                if claim["outcome"] == FAILS:
                    failing.setdefault(claim["claim"], []).append(name)
        lines = [
            paragraph(f"{FAILS}: {claim} [{'; '.join(names)}]", hanging="  ")
            for claim, names in failing.items()
        ]
        blocks.append("\n".join([f"{figure['figure']}", _overview(figure), *lines]))
    return "\n\n".join(blocks)


def claim_groups(figure: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the claims of the record of a judged figure, by panel and across the panels."""
    groups = [(panel["panel"], panel["claims"]) for panel in figure["panels"]]
    return [*groups, ("across the panels", figure["across panels"])]


def _overview(figure: dict[str, Any]) -> str:
    """Count the outcomes of every panel."""
    outcomes = (SUPPORTED, FAILS, UNDECIDED)
    rows = [
        (name, *(str(sum(c["outcome"] == outcome for c in claims)) for outcome in outcomes))
        for name, claims in claim_groups(figure)
    ]
    return table(("claims", *outcomes), rows, texts=1)
