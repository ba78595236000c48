"""The claims of the LoCoDL paper about its figures, judged on the traces; as JSON and as text.

A claim consists of comparisons: curve A needs fewer bits than curve B to an accuracy, possibly by a
factor. The bits of a seed are infinite if its run does not reach the accuracy within the axis. A
comparison

* is supported if it is true for all seeds, or if the 10-90 % bands are disjoint in its order,
* FAILS if the bands are disjoint in the opposite order, that is, beyond the spread between seeds,
* is undecided otherwise, and with fewer than three seeds.

A claim is supported if all its comparisons are, FAILS if one of them FAILS, and is undecided
otherwise. Comparisons in which neither curve reaches the accuracy are left out, and counted. It is
judged under every choice that the paper leaves open, `CHOICES`: its verdict is the outcome under
all of them, or says on which it depends.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.terminal import paragraph, table
from certibit.figures.costs import BAND
from certibit.figures.locodl.panels import COUNTED, Curve, Figure, Panel
from certibit.figures.text.tables import ABSENT, accuracy_name, count_text, json_number, late_median
from certibit.figures.text.verdicts import OWN, SEEDS, SUPPORTED, Quotation, verdicts_text
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
CHOICES = {
    "data": ("raw data", "scaled data"),
    "bits": ("bits of the mean client", "bits of the busiest client"),
    "ADIANA": ("both messages of ADIANA", "one message of ADIANA"),
    "5GCS-CC": ("constants of 5GCS for 5GCS-CC", "our constants for 5GCS-CC"),
    "DIANA": ("constants of arXiv:1905.11261 for DIANA", "constants of arXiv:1901.09269 for DIANA"),
}
"""What the paper leaves open. Of ADIANA's two messages per round one may be meant; the constants of
5GCS-CC itself are not available here. The data have features as LibSVM has them, or scaled."""
Choice = Mapping[str, str]
"""A value of each choice."""
_CONSTANTS = {"5gcs-adaptive": 0, "ours-adaptive": 1, "a": 0, "b": 1}
"""Which of the two constants a rule of 5GCS-CC or DIANA has."""
DEPENDS = "depends"
"""The outcome of a claim that has several, under what is left open."""
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
    "same curves in another version of the figure is judged once. A claim is judged under every "
    "choice that the paper leaves open and that changes a number: raw or scaled data; bits of the "
    "mean client, or of the busiest one of every message; both messages of ADIANA, or one; whose "
    "constants DIANA and 5GCS-CC have (those of 5GCS-CC itself are not available here). "
    "Numbers are medians of {}, with the band; 'never' is beyond the axis."
)


@dataclass(frozen=True)
class CurveBits:
    """The cost of a curve to an accuracy: the bits of every seed, (S,)."""

    panel: Panel
    curve: Curve
    bits: NDArray[np.float64]
    share: float = 1.0
    """The part of the axis that counts: 1/2 where one of two messages does."""

    @property
    def median(self) -> float:
        """Median over seeds; infinite if half of them or more miss the accuracy."""
        return float(np.median(self.bits))

    @cached_property
    def band(self) -> tuple[float, float]:
        """The 10-90 % band, of log(bits)."""
        logs = np.log10(np.clip(self.bits, 1.0, _NEVER))
        low, high = (float(10**end) for end in np.percentile(logs, BAND))
        most = 2 * max(self.panel.bits, np.max(self.bits, where=self.bits < np.inf, initial=0.0))
        return (low if low <= most else np.inf), (high if high <= most else np.inf)

    def record(self) -> dict[str, Any]:
        """Return median and band as JSON values."""
        low, high = json_number(self.band)
        return {"median": json_number(self.median), "low": low, "high": high}

    def __str__(self) -> str:
        if not np.isfinite(self.median):
            return f"{self.curve.label}: more than {self.share * self.panel.bits:,.0f}"
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
    """A claim with its comparisons under one choice, the sentence that makes it, and a remark."""

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
    def measured_text(self) -> str:
        """The comparison that decides, and how many are beyond the axis."""
        beyond = len(self.comparisons) - len(self.measured)
        left_out = f"; {beyond} of {len(self.comparisons)} pairs are beyond the axis"
        return f"{self.decisive}{left_out if beyond else ''}"

    @property
    def subject(self) -> Hashable:
        """The data that determine the outcome; claims with the same data are counted once."""
        ends = [end for c in self.comparisons for end in (c.fewer, c.more)]
        return self.claim, tuple((end.curve, end.panel.problem) for end in ends)

    @property
    def numbers(self) -> Hashable:
        """The numbers that determine the outcome."""
        return tuple(end.bits.tobytes() for c in self.comparisons for end in (c.fewer, c.more))

    def record(self) -> dict[str, Any]:
        """Return outcome and comparisons as JSON values."""
        return {
            "outcome": self.outcome,
            "measured": self.measured_text,
            "decisive": self.decisive.record(),
            "comparisons": [each.record() for each in self.comparisons],
        }


@dataclass(frozen=True)
class OpenClaim:
    """A claim under every choice that the paper leaves open."""

    cases: tuple[tuple[Choice, ComparedClaim], ...]

    @property
    def first(self) -> ComparedClaim:
        """The claim under the first choice."""
        return self.cases[0][1]

    def changing(self, of: Callable[[ComparedClaim], Hashable]) -> tuple[str, ...]:
        """Return the names of the choices that alone can change a property of the claim."""
        names = []
        for name in CHOICES:
            alike: dict[Hashable, set[Hashable]] = {}
            for choice, claim in self.cases:
                rest = tuple(value for key, value in choice.items() if key != name)
                alike.setdefault(rest, set()).add(of(claim))
            if any(len(values) > 1 for values in alike.values()):
                names.append(name)
        return tuple(names)

    @property
    def outcome(self) -> str:
        """The outcome under all choices, or that it depends on them."""
        outcomes = {claim.outcome for _, claim in self.cases}
        return outcomes.pop() if len(outcomes) == 1 else DEPENDS

    @property
    def leaves(self) -> list[tuple[tuple[str, ...], ComparedClaim]]:
        """The fewest values of choices that decide the outcome, each with a claim that has it."""
        return _leaves(self.cases, self.changing(lambda claim: claim.outcome))

    @property
    def verdict(self) -> str:
        """The outcome in words, with what it depends on."""
        if self.outcome != DEPENDS:
            open_names = self.changing(lambda claim: claim.numbers)
            count = len({tuple(choice[name] for name in open_names) for choice, _ in self.cases})
            return f"{self.outcome} under all {count} choices" if count > 1 else self.outcome
        ways: dict[str, list[str]] = {}
        for values, claim in self.leaves:
            ways.setdefault(claim.outcome, []).append(", ".join(values))
        return "; ".join(f"{outcome} with {' or with '.join(w)}" for outcome, w in ways.items())

    def record(self) -> dict[str, Any]:
        """Return the verdict as JSON values, with the numbers of every case that differs."""
        quoted, leaves = self.first.quoted, self.leaves
        measured = [
            f"{', '.join(values)}: {claim.measured_text}" if values else claim.measured_text
            for values, claim in leaves
        ]
        return {
            "claim": self.first.claim,
            "source": quoted.place,
            "quotation": quoted.words,
            "note": self.first.remark,
            "outcome": self.outcome,
            "verdict": self.verdict,
            "choices": list(self.changing(lambda claim: claim.numbers)),
            "measured": ". ".join(measured),
            "cases": [{"with": list(values)} | claim.record() for values, claim in leaves],
        }


def _leaves(
    cases: Sequence[tuple[Choice, ComparedClaim]], names: Sequence[str]
) -> list[tuple[tuple[str, ...], ComparedClaim]]:
    """Split cases by the choice that leaves most of them with one outcome, until all have one."""
    if len({claim.outcome for _, claim in cases}) == 1:
        return [((), cases[0][1])]

    def parts(name: str) -> dict[str, list[tuple[Choice, ComparedClaim]]]:
        return {
            value: some
            for value in CHOICES[name]
            if (some := [case for case in cases if case[0][name] == value])
        }

    def settled(name: str) -> int:
        each = parts(name).values()
        return sum(len(some) for some in each if len({c.outcome for _, c in some}) == 1)

    split = max((name for name in names if len(parts(name)) > 1), key=settled)
    return [
        ((value, *values), claim)
        for value, some in parts(split).items()
        for values, claim in _leaves(some, names)
    ]


class PanelBits:
    """The bits of all curves of a panel that claims are about, under one choice."""

    def __init__(self, panel: Panel, traces: Mapping[Curve, Trace], choice: Choice) -> None:
        self.panel, self.choice = panel, choice
        self.traces = {c: trace for c, trace in traces.items() if c.claimed and self._has(c)}

    def _has(self, curve: Curve) -> bool:
        """Whether a curve has the constants chosen for its method."""
        name = METHODS[curve.method].label
        return (
            curve.rule not in _CONSTANTS
            or self.choice[name] == CHOICES[name][_CONSTANTS[curve.rule]]
        )

    def of(self, curve: Curve, accuracy: float) -> CurveBits:
        """Return the bits of a curve to an accuracy."""
        trace = self.traces[curve]
        mean, one = (
            self.choice[name] == CHOICES[name][at] for name, at in (("bits", 0), ("ADIANA", 1))
        )
        share = 0.5 if one and curve.method == "adiana" else 1.0
        bits = share * trace.cost_to(accuracy, "uplink_bits" if mean else "busiest_bits")
        bits[np.isnan(bits)] = np.inf
        return CurveBits(self.panel, curve, bits, share)

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


Panels = Mapping[str, tuple[Panel, Mapping[Curve, Trace]]]
"""A panel with its traces for every choice of the data."""


def choices(panels: Panels) -> list[Choice]:
    """Return every choice that some panels have the runs for, the first of each name first."""
    curves = [curve for _, traces in panels.values() for curve in traces]
    kept = {"data": [data for data in CHOICES["data"] if data in panels]}
    for name in ("5GCS-CC", "DIANA"):
        rules = {
            _CONSTANTS[c.rule]
            for c in curves
            if c.rule in _CONSTANTS and METHODS[c.method].label == name
        }
        kept[name] = [CHOICES[name][at] for at in sorted(rules)]
    values = [kept.get(name) or CHOICES[name] for name in CHOICES]
    return [dict(zip(CHOICES, each, strict=True)) for each in product(*values)]


def open_claims(
    each: Sequence[Panels], findings: Callable[[list[PanelBits]], list[ComparedClaim]]
) -> list[OpenClaim]:
    """Judge what is found in some panels under every choice."""
    cases: dict[str, list[tuple[Choice, ComparedClaim]]] = {}
    for choice in choices(each[0]):
        bits = [PanelBits(*panels[choice["data"]], choice) for panels in each]
        for claim in findings(bits):
            cases.setdefault(claim.claim, []).append((choice, claim))
    return [OpenClaim(tuple(some)) for some in cases.values()]


def judge(figures: Sequence[Mapping[str, Figure]], traces: Traces) -> dict[str, Any]:
    """Judge the claims of the paper on figures, each by what was done to its data.

    Returns
    -------
    dict
        Values of strict JSON; an infinite number of bits is null.
    """
    judged: set[Hashable] = set()

    def new(claims: Sequence[OpenClaim]) -> list[dict[str, Any]]:
        """Return the claims that have not been judged yet, on the same curves."""
        some = [each for each in claims if each.first.subject not in judged]
        judged.update(claim.subject for each in some for _, claim in each.cases)
        return [each.record() for each in some]

    records = []
    for by_data in figures:
        shown = next(iter(by_data.values()))
        each = [
            {
                data: (panel, {c: traces[panel, c] for c in panel.curves})
                for data, figure in by_data.items()
                for panel in [figure.panels[place]]
            }
            for place in range(len(shown.panels))
        ]
        panels = [
            {
                "panel": next(iter(panel.values()))[0].title,
                "data": {data: _panel(*of_data) for data, of_data in panel.items()},
                "claims": new(open_claims([panel], lambda bits: panel_findings(bits[0]))),
            }
            for panel in each
        ]
        across = new(open_claims(each, across_findings))
        records.append({"figure": shown.name, "panels": panels, "across panels": across})
    return {"rule": _RULE.format(COUNTED), "figures": records}


def _panel(panel: Panel, traces: Mapping[Curve, Trace]) -> list[dict[str, Any]]:
    """Return the costs of the curves of a panel, of the mean and the busiest client."""
    return [
        {
            "curve": curve.label,
            "method": curve.method_name,
            "rule": curve.rule,
            "parameters": trace.specification["method"]["parameters"],
            **{
                column: {
                    accuracy_name(a): json_number(late_median(trace.cost_to(a, f"{column}_bits")))
                    for a in ACCURACIES
                }
                for column in ("uplink", "busiest")
            },
        }
        for curve, trace in traces.items()
    ]


def bits_table(figure: Mapping[str, Any]) -> str:
    """Tabulate the bits to 1e-5 of every method of a judged figure, with its best compressor.

    Where the busiest client sends more than the mean one, its bits stand in brackets.
    """
    columns = [
        (
            panel["panel"].split(")")[0][1:] + (" scaled" if data == CHOICES["data"][1] else ""),
            curves,
        )
        for panel in figure["panels"]
        for data, curves in panel["data"].items()
    ]
    names = dict.fromkeys(curve["method"] for _, curves in columns for curve in curves)

    def cell(curves: Sequence[Mapping[str, Any]], name: str) -> str:
        costs = [
            tuple(curve[column]["1e-5"] for column in ("uplink", "busiest"))
            for curve in curves
            if curve["method"] == name
        ]
        arrived = [cost for cost in costs if cost[0] is not None]
        if not arrived:
            return ABSENT
        mean, busiest = min(arrived)
        return count_text(mean) + (f" ({count_text(busiest)})" if busiest > 1.001 * mean else "")

    rows = [(name, *(cell(curves, name) for _, curves in columns)) for name in names]
    return table(("method", *(name for name, _ in columns)), rows, texts=1)


def judgement_text(judgement: dict[str, Any]) -> str:
    """Write verdicts as text: per figure a table of outcomes, then every claim with numbers."""
    blocks = [paragraph(judgement["rule"])]
    for figure in judgement["figures"]:
        blocks += [f"{figure['figure']}\n{'=' * len(figure['figure'])}", bits_table(figure)]
        blocks += [_overview(figure)]
        blocks += [
            f"{name}\n{verdicts_text(claims)}" for name, claims in claim_groups(figure) if claims
        ]
    return "\n\n".join(blocks)


def judgement_summary(judgement: dict[str, Any]) -> str:
    """Write how many claims have which outcome in every panel, and what is not supported."""
    blocks = []
    for figure in judgement["figures"]:
        panels: dict[str, list[str]] = {}
        for name, claims in claim_groups(figure):
            for each in claims:
                if each["outcome"] in (FAILS, DEPENDS) and each["source"] != OWN.place:
                    panels.setdefault(f"{each['claim']}: {each['verdict']}", []).append(name)
        lines = [
            paragraph(f"{verdict} [{'; '.join(names)}]", hanging="  ")
            for verdict, names in panels.items()
        ]
        blocks.append("\n".join([f"{figure['figure']}", _overview(figure), *lines]))
    return "\n\n".join(blocks)


def claim_groups(figure: dict[str, Any]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Return the claims of the record of a judged figure, by panel and across the panels."""
    groups = [(panel["panel"], panel["claims"]) for panel in figure["panels"]]
    return [*groups, ("across the panels", figure["across panels"])]


def _overview(figure: dict[str, Any]) -> str:
    """Count the outcomes of the paper's claims in every panel."""
    outcomes = (SUPPORTED, DEPENDS, FAILS, UNDECIDED)
    rows = [
        (name, *(str(sum(c["outcome"] == outcome for c in claims)) for outcome in outcomes))
        for name, every in claim_groups(figure)
        for claims in [[each for each in every if each["source"] != OWN.place]]
    ]
    return table(("claims of the paper", *outcomes), rows, texts=1)
