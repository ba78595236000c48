"""The claims of the LoCoDL paper about its figures, judged on the traces.

A claim consists of comparisons: curve A needs fewer bits than curve B to an accuracy, possibly by a
factor. The bits of a seed are infinite if its run does not reach the accuracy within the axis. A
comparison

* is supported if it is true for all seeds, or if the 10-90 % bands are disjoint in its order,
* FAILS if the bands are disjoint in the opposite order, that is, beyond the spread between seeds,
* is undecided otherwise, and with fewer than three seeds.

A claim is supported if all its comparisons are, FAILS if one of them FAILS, and is undecided
otherwise. Comparisons in which neither curve reaches the accuracy are left out, and counted.

If received bits count as well, runs stop at different costs. A run that stopped early costs more
than it has spent, and nothing else is assumed about it.
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.figures.bands import BAND
from certibit.figures.locodl.panels import Curve, Panel
from certibit.figures.text.tables import accuracy_name
from certibit.figures.text.verdicts import OWN, SEEDS, SUPPORTED, Quotation
from certibit.solvers.runs.trace import Trace
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.verdict import FAILS, UNDECIDED

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
    ("5gcs-cc", "best"): "5GCS-CC with constants of our own theorem and adaptive local solves",
    ("5gcs-cc", "paper"): "5GCS-CC with K local steps and constants of our own theorem",
    ("diana", "a"): "DIANA with the step of arXiv:1905.11261, as the paper names none",
}
"""Notes on methods with parameters or theorems of ours."""
ACCURACIES = (1e-3, 1e-5)
LIKE = 1.25
"""Two curves behave alike if each needs at most so many times the bits of the other."""
LOCAL_TRAINING = ("compressed-scaffnew", "5gcs-cc", "locodl")
_NEVER = 1e300


@dataclass(frozen=True)
class CurveBits:
    """The cost of a curve to an accuracy: its parameters, and the bits of every seed, (S,).

    ``spent`` are the bits of every run at its end, (S,); None if all runs have the same limit.
    """

    panel: Panel
    curve: Curve
    parameters: Mapping[str, Any]
    bits: NDArray[np.float64]
    spent: NDArray[np.float64] | None = None

    @property
    def least(self) -> NDArray[np.float64]:
        """The bits, (S,); for a run that missed the accuracy, a lower bound."""
        if self.spent is None:
            return self.bits
        return np.where(np.isfinite(self.bits), self.bits, self.spent)

    @property
    def median(self) -> float:
        """Median over seeds; infinite if half of them or more miss the accuracy."""
        return float(np.median(self.bits))

    @cached_property
    def band(self) -> tuple[float, float]:
        """The 10-90 % band, of log(bits)."""
        ends = zip((self.least, self.bits), BAND, strict=True)
        low, high = (
            float(10 ** np.percentile(np.log10(np.clip(bits, 1.0, _NEVER)), end))
            for bits, end in ends
        )
        most = self.panel.bits
        return (low if low <= 2 * most else np.inf), (high if high <= 2 * most else np.inf)

    def __str__(self) -> str:
        if not np.isfinite(self.median):
            least = min(self.panel.bits, float(np.median(self.least)))
            return f"{self.curve.label}: more than {least:,.0f}"
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
        left, right = self.factor * self.fewer.bits, self.more.least
        if right.size < SEEDS:
            return UNDECIDED
        ends, others = (self.factor * end for end in self.fewer.band), self.more.band
        low, high = ends
        if bool(np.all(left < right)) or high < others[0]:
            return SUPPORTED
        if low > others[1]:
            return FAILS
        return UNDECIDED

    @property
    def ratio(self) -> float:
        """Median bits of ``more`` over those of ``fewer``; NaN if both are infinite."""
        with np.errstate(invalid="ignore"):
            return float(np.float64(self.more.median) / np.float64(self.fewer.median))

    def __str__(self) -> str:
        limit = f", {self.factor:g} asked for" if self.factor != 1 else ""
        times = f" [x {self.ratio:.3g}{limit}]" if np.isfinite(self.ratio) else ""
        return f"to {accuracy_name(self.accuracy)} {self.fewer}; {self.more}{times}"


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its comparisons, and the sentence of the paper that makes it."""

    claim: str
    comparisons: tuple[BitComparison, ...]
    quotation: Quotation = OWN
    remark: str = ""
    """Further remarks on the verdict."""

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
    def note(self) -> str:
        """Notes on the two curves of the decisive comparison, and the remark."""
        curves = (self.decisive.fewer.curve, self.decisive.more.curve)
        notes = (OUR_PART.get((curve.method, curve.rule or ""), "") for curve in curves)
        return "; ".join(dict.fromkeys(filter(None, (*notes, self.remark))))

    @property
    def subject(self) -> Hashable:
        """The data that determine the outcome; claims with the same data are counted once."""
        ends = [end for c in self.comparisons for end in (c.fewer, c.more)]
        return self.claim, tuple((end.curve, end.panel.problem) for end in ends)

    def __str__(self) -> str:
        beyond = len(self.comparisons) - len(self.measured)
        left_out = f"; {beyond} of {len(self.comparisons)} pairs are beyond the axis"
        return f"{self.decisive}{left_out if beyond else ''}"


class PanelBits:
    """The bits of all curves of a panel that claims are about."""

    def __init__(self, panel: Panel, traces: Mapping[Curve, Trace]) -> None:
        self.panel = panel
        self.traces = {curve: trace for curve, trace in traces.items() if curve.claimed}

    def of(self, curve: Curve, accuracy: float) -> CurveBits:
        """Return the bits of a curve to an accuracy."""
        trace = self.traces[curve]
        downlink, parameters = self.panel.downlink, trace.specification["method"]["parameters"]
        bits = trace.bits_to(accuracy, downlink)
        diverged = np.array(trace.ending) == "diverged"
        spent = np.where(diverged, np.inf, trace.final_bits(downlink)) if downlink else None
        return CurveBits(
            self.panel, curve, parameters, np.where(np.isnan(bits), np.inf, bits), spent
        )

    def curves(self, *methods: str, kind: str | None = None) -> list[Curve]:
        """Return the curves of some methods, of all if none is named, with a kind of compressor."""
        return [
            curve
            for curve in self.traces
            if (not methods or curve.method in methods) and kind in (None, curve.kind)
        ]

    def best(self, accuracy: float, *methods: str) -> CurveBits:
        """Return the curve with the fewest bits (median) of some methods."""
        return min(
            (self.of(curve, accuracy) for curve in self.curves(*methods)),
            key=lambda cost: cost.median,
        )

    def ranking(self, accuracy: float) -> list[CurveBits]:
        """Return the best curve of every method that reaches the accuracy, fewest bits first."""
        methods = dict.fromkeys(curve.method for curve in self.traces)
        costs = sorted((self.best(accuracy, m) for m in methods), key=lambda cost: cost.median)
        return [cost for cost in costs if np.isfinite(cost.median)]


def panel_findings(costs: PanelBits) -> list[JudgedClaim]:
    """Judge what the paper claims about every panel."""
    combined = costs.curves("locodl", kind="rand-k+natural")[0]
    found: list[JudgedClaim] = []

    def add(claim: str, comparisons: Iterable[BitComparison], quotation: Quotation = OWN) -> None:
        made = tuple(comparisons)
        if made:
            found.append(JudgedClaim(claim, made, quotation))

    both = " and ".join(map(accuracy_name, ACCURACIES))
    others = [curve for curve in costs.curves() if curve.method != "locodl"]

    def against(curves: Iterable[Curve]) -> list[BitComparison]:
        return [
            BitComparison(costs.of(combined, accuracy), costs.of(curve, accuracy), accuracy)
            for accuracy in ACCURACIES
            for curve in curves
        ]

    add(
        f"LoCoDL with rand-k and natural compression needs fewer bits to {both} than all other "
        "algorithms",
        against(others),
        FASTEST,
    )
    add(
        f"LoCoDL outperforms CompressedScaffnew to {both}",
        against(costs.curves("compressed-scaffnew")),
        OUTPERFORMS,
    )
    add(
        f"ADIANA improves on DIANA with the same kind of compressor to {both}",
        (
            each
            for accuracy in ACCURACIES
            for each in _same_kind(costs, "adiana", "diana", accuracy)
        ),
        BEHIND,
    )
    add(
        f"ADIANA is not competitive with CompressedScaffnew, 5GCS-CC and LoCoDL to {both}",
        (
            BitComparison(costs.best(accuracy, method), costs.best(accuracy, "adiana"), accuracy)
            for accuracy in ACCURACIES
            for method in LOCAL_TRAINING
        ),
        BEHIND,
    )
    finest = ACCURACIES[-1]
    add(
        "LoCoDL reaches 1e-5 with at least 5 times fewer bits than DIANA with the same kind of "
        "compressor",
        _same_kind(costs, "locodl", "diana", finest, 5.0),
    )
    add(
        f"l1-selection behaves like rand-1: within a factor of {LIKE:g} to 1e-5",
        _alike(costs, finest),
        L1,
    )
    return found


def _same_kind(
    costs: PanelBits, fewer: str, more: str, accuracy: float, factor: float = 1.0
) -> list[BitComparison]:
    return [
        BitComparison(costs.of(mine, accuracy), costs.of(other, accuracy), accuracy, factor)
        for mine in costs.curves(fewer)
        for other in costs.curves(more)
        if mine.kind == other.kind
    ]


def _alike(costs: PanelBits, accuracy: float) -> list[BitComparison]:
    pairs = [
        (costs.of(one, accuracy), costs.of(other, accuracy))
        for one in costs.curves(kind="l1")
        for other in costs.curves(one.method, kind="rand-k")
        if other.k == 1
    ]
    return [
        BitComparison(a, b, accuracy, 1 / LIKE) for pair in pairs for a, b in (pair, pair[::-1])
    ]


def across_findings(panels: Sequence[PanelBits]) -> list[JudgedClaim]:
    """Judge that every method needs fewer bits for larger n; panels of one data set, by n."""
    finest = ACCURACIES[-1]
    found = []
    for method, card in METHODS.items():
        comparisons = [
            BitComparison(larger.of(one, finest), smaller.of(other, finest), finest)
            for smaller, larger in pairwise(panels)
            for one in larger.curves(method)
            for other in smaller.curves(method)
            if (one.kind, one.rule) == (other.kind, other.rule)
        ]
        if comparisons:
            claim = f"{card.label} needs fewer bits to 1e-5 for larger n"
            found.append(JudgedClaim(claim, tuple(comparisons), LARGER_N, OTHER_PROBLEM))
    return found
