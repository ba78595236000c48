import json
import re

import numpy as np
import pytest

from certibit.figures.locodl import claims
from certibit.figures.locodl.claims import (
    CHOICES,
    DEPENDS,
    BitComparison,
    ComparedClaim,
    CurveBits,
    PanelBits,
    across_findings,
    open_claims,
    panel_findings,
)
from certibit.figures.locodl.recipes import VERSIONS, data_figures, paper_figure
from certibit.figures.text.verdicts import FAILS, OWN, SUPPORTED, UNDECIDED

PANEL = paper_figure(2).panels[1]
FIRST = {name: values[0] for name, values in CHOICES.items()}
CURVE, OTHER = PANEL.curves[:2]
INF = np.inf


def comparison(fewer, more, factor=1.0):
    costs = [
        CurveBits(PANEL, curve, np.array(bits, dtype=float))
        for curve, bits in ((CURVE, fewer), (OTHER, more))
    ]
    return BitComparison(*costs, 1e-5, factor)


OUTCOMES = [
    ([1, 2, 3], [4, 5, 6], 1, SUPPORTED),
    ([4, 5, 6], [1, 2, 3], 1, FAILS),
    ([1, 5, 9], [2, 6, 10], 1, SUPPORTED),  # the bands overlap, all seeds agree
    ([2, 6, 10], [1, 5, 9], 1, UNDECIDED),  # by less than the spread between seeds
    ([1, 2, 3], [2.5, 3.5, 2], 1, UNDECIDED),  # the medians agree
    ([2, 3, 4], [3, 2, 5], 1, UNDECIDED),
    ([1, 1, 1], [1, 1, 1], 1, UNDECIDED),
    ([1, 1.1, 1.2], [6, 6, 6.1], 5, SUPPORTED),
    ([1, 1.1, 1.3], [6, 6, 6.1], 5, UNDECIDED),
    ([2, 2.1, 2.2], [6, 6, 6.1], 5, FAILS),
    ([10, 10, 10], [INF, INF, INF], 1, SUPPORTED),
    ([INF, INF, INF], [10, 10, 10], 1, FAILS),
    ([INF, INF, INF], [INF, INF, INF], 1, UNDECIDED),
    ([10, 10, INF], [INF, INF, INF], 1, UNDECIDED),  # one seed is a tie of two that never arrive
]


@pytest.mark.parametrize(("fewer", "more", "factor", "outcome"), OUTCOMES)
def test_outcome_of_a_comparison(fewer, more, factor, outcome):
    assert comparison(fewer, more, factor).outcome == outcome


@pytest.mark.parametrize("seeds", [1, 2])
def test_few_seeds_decide_nothing(seeds):
    assert comparison([1] * seeds, [9] * seeds).outcome == UNDECIDED


def test_claims_of_the_paper_are_quoted_with_their_lines(made):
    found = panel_findings(PanelBits(PANEL, artificial(made, PANEL), FIRST))
    own = [each.claim for each in found if each.quoted == OWN]
    assert len(own) == 1
    assert "5 times" in own[0]
    for each in found:
        quoted = each.quoted
        assert quoted == OWN or re.fullmatch(r"LoCoDL, section 4, lines? \d+(-\d+)?", quoted.place)
        assert bool(quoted.words) == (quoted != OWN)


def test_the_same_curves_are_judged_once(judged):
    first, second = judged["figures"]
    claims = [c["claim"] for c in first["across panels"]]
    again = [c["claim"] for c in second["across panels"]]
    assert "GradSkip needs fewer bits to 1e-5 for larger n" in claims
    assert "GradSkip needs fewer bits to 1e-5 for larger n" not in again
    assert "LoCoDL needs fewer bits to 1e-5 for larger n" in again


def test_disjoint_bands_decide_although_one_seed_disagrees():
    many = np.arange(1, 101.0)
    low, high = np.append(many, 500), np.append(many + 200, 1)
    assert comparison(low, high).outcome == SUPPORTED
    assert comparison(high, low).outcome == FAILS


def test_numbers_of_a_cost():
    cost = comparison([100, 1000, 10000], [1, INF, INF]).fewer
    low, high = (10 ** float(p) for p in np.percentile([2, 3, 4], (10, 90)))
    assert cost.median == 1000
    assert cost.band == pytest.approx((low, high))
    assert str(cost) == f"{CURVE.label}: 1,000 ({low:,.0f} to {high:,.0f})"
    never = comparison([1], [1, INF, INF]).more
    assert never.median == INF
    assert never.band[1] == INF
    assert "more than 400,000" in str(never)


def test_a_claim_fails_if_one_comparison_does_and_holds_if_all_do():
    good, bad = comparison([1] * 3, [2] * 3), comparison([2] * 3, [1] * 3)
    tie = comparison([1] * 3, [1] * 3)
    assert ComparedClaim("", (good, good)).outcome == SUPPORTED
    assert ComparedClaim("", (good, tie)).outcome == UNDECIDED
    assert ComparedClaim("", (good, tie, bad)).outcome == FAILS
    assert ComparedClaim("", (good, tie, bad)).decisive == bad
    beyond = comparison([INF] * 3, [INF] * 3)
    assert ComparedClaim("", (good, beyond)).outcome == SUPPORTED
    told = f"{good}; 1 of 2 pairs are beyond the axis"
    assert ComparedClaim("", (good, beyond)).measured_text == told
    assert ComparedClaim("", (beyond,)).outcome == UNDECIDED
    closer = comparison([1] * 3, [1.5] * 3)
    assert ComparedClaim("", (good, closer)).decisive == closer
    undecided, slightly_bad = comparison([1, 5, 5], [2, 3, 3]), comparison([1.1] * 3, [1] * 3)
    assert undecided.ratio < slightly_bad.ratio
    assert ComparedClaim("", (undecided, slightly_bad)).decisive == slightly_bad


# Bits to 1e-5 of every method with rand-k and natural compression; others need 30 % more, and
# l1-selection 5 % more than rand-1. To 1e-3 all need a tenth.
BITS = {
    "locodl": 1e4, "5gcs-cc": 2e4, "compressed-scaffnew": 3e4, "adiana": 5e4, "diana": 9e4,
    "gradskip": 1e5, "scaffold": 2e5, "gd": 3e5,
}  # fmt: skip
KINDS = {"rand-k+natural": 1.0, "natural": 1.3, "rand-k": 1.4, "l1": 1.45, None: 1.0}


def artificial(made, panel, bits=BITS, seeds=3):
    traces = {}
    for curve in panel.curves:
        end = bits.get((curve.method, curve.rule), bits[curve.method]) * KINDS[curve.kind]
        runs = [np.array([0, end / 10, end]) * (1 + 0.01 * seed) for seed in range(seeds)]
        traces[curve] = made(runs, [np.array([1, 1e-3, 1e-5])] * seeds)
    return traces


def outcomes(findings):
    return {found.claim: found.outcome for found in findings}


def test_claims_of_a_panel_as_the_paper_has_them(made):
    found = outcomes(panel_findings(PanelBits(PANEL, artificial(made, PANEL), FIRST)))
    fivefold = [claim for claim in found if "5 times" in claim]
    assert len(found) == 6
    assert set(found.values()) == {SUPPORTED}
    assert len(fivefold) == 1


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"5gcs-cc": 5e3}, {"all other algorithms"}),
        (
            {"compressed-scaffnew": 5e3},
            {"all other algorithms", "outperforms CompressedScaffnew"},
        ),
        ({"adiana": 2e5}, {"improves on DIANA"}),
        ({"diana": 3e4}, {"improves on DIANA", "5 times"}),
        ({"locodl": 6e4}, {
            "all other algorithms", "outperforms CompressedScaffnew",
            "not competitive", "5 times",
        }),
    ],
)  # fmt: skip
def test_claims_that_a_changed_method_breaks(made, changed, words):
    costs = PanelBits(PANEL, artificial(made, PANEL, BITS | changed), FIRST)
    failing = [
        claim for claim, outcome in outcomes(panel_findings(costs)).items() if outcome == FAILS
    ]
    assert {word for word in words if any(word in claim for claim in failing)} == words
    assert all(any(word in claim for word in words) for claim in failing)


def judged_with(made, bits, scaled=None, busiest=None):
    """Judge a panel of the paper's version: bits, on scaled data, and times them of one client."""
    by_data = {}
    for data, changed in (("raw data", bits), ("scaled data", bits | (scaled or {}))):
        traces = artificial(made, PANEL, BITS | changed)
        for curve, trace in traces.items():
            trace.columns["busiest_bits"] = trace.columns["uplink_bits"] * (
                (busiest or {}).get(curve.method, 1)
            )
        by_data[data] = PANEL, traces
    found = open_claims([by_data], lambda panels: panel_findings(panels[0]))
    return {each.first.claim: each for each in found}


ON = {
    "data": (
        {"compressed-scaffnew": 5e3}, {"scaled": {"compressed-scaffnew": 3e4}},
        "outperforms", "FAILS with raw data; supported with scaled data",
    ),
    "bits": (
        {"compressed-scaffnew": 5e3}, {"busiest": {"compressed-scaffnew": 8}}, "outperforms",
        "FAILS with bits of the mean client; supported with bits of the busiest client",
    ),
    "ADIANA": (
        {"adiana": 1.5e5}, {}, "improves",
        "FAILS with both messages of ADIANA; supported with one message of ADIANA",
    ),
    "5GCS-CC": (
        {("5gcs-cc", "ours-adaptive"): 5e3}, {}, "all other",
        "supported with constants of 5GCS for 5GCS-CC; FAILS with our constants for 5GCS-CC",
    ),
    "DIANA": (
        {("diana", "b"): 3e4}, {}, "5 times",
        "supported with constants of arXiv:1905.11261 for DIANA; "
        "FAILS with constants of arXiv:1901.09269 for DIANA",
    ),
}  # fmt: skip


@pytest.mark.parametrize("choice", CHOICES)
def test_a_verdict_says_on_which_choice_it_depends(made, choice):
    bits, changed, word, verdict = ON[choice]
    found = judged_with(made, bits, **changed)
    (claim,) = (each for name, each in found.items() if word in name)
    assert claim.verdict == verdict
    assert claim.outcome == DEPENDS
    assert claim.changing(lambda each: each.outcome) == (choice,)


def test_a_verdict_on_two_choices_names_the_fewest_values(made):
    """Australian, n = 225: one case of four fails."""
    found = judged_with(
        made, {"compressed-scaffnew": 5e3}, {"compressed-scaffnew": 3e4}, {"compressed-scaffnew": 8}
    )
    (claim,) = (each for name, each in found.items() if "outperforms" in name)
    assert claim.verdict == (
        "FAILS with raw data, bits of the mean client; supported with raw data, bits of the "
        "busiest client or with scaled data"
    )
    assert len(claim.record()["cases"]) == 3


def test_a_verdict_that_no_choice_changes_counts_those_that_change_numbers(made):
    found = judged_with(made, {}, {"locodl": 1.1e4}, {"compressed-scaffnew": 2})
    verdicts = {each.verdict for each in found.values()}
    (claim,) = (each for name, each in found.items() if "outperforms" in name)
    assert claim.verdict == "supported under all 4 choices"
    assert claim.record()["choices"] == ["data", "bits"]
    assert all(verdict.startswith("supported") for verdict in verdicts)


def test_l1_selection_is_compared_with_rand_1_only(made):
    first, second = paper_figure(2).panels[:2]  # LoCoDL with rand-2, and with rand-1
    methods = []
    for panel in (first, second):
        (alike,) = (
            found
            for found in panel_findings(PanelBits(panel, artificial(made, panel), FIRST))
            if found.claim.startswith("l1")
        )
        assert alike.outcome == SUPPORTED
        methods.append({each.fewer.curve.method for each in alike.comparisons})
    assert methods == [{"diana", "5gcs-cc"}, {"diana", "5gcs-cc", "locodl"}]


def test_larger_n_is_judged_between_neighbouring_panels(made):
    panels = paper_figure(2).panels
    shrinking = [
        PanelBits(
            panel, artificial(made, panel, {m: b / (1 + place) for m, b in BITS.items()}), FIRST
        )
        for place, panel in enumerate(panels)
    ]
    assert set(outcomes(across_findings(shrinking)).values()) == {SUPPORTED}
    assert set(outcomes(across_findings(shrinking[::-1])).values()) == {FAILS}
    found = across_findings(shrinking)
    assert len(found) == len(BITS) - 1  # gradient descent is not in the paper's figure
    assert len(found[0].comparisons) == 8  # LoCoDL, four kinds, two steps


@pytest.fixture(scope="module")
def judged(made):
    """A judgement of figure 2 in which 5GCS-CC is ahead with our constants."""
    figures = [data_figures(2, version) for version in VERSIONS]
    bits = BITS | {("5gcs-cc", "ours-adaptive"): 5e3, "gd": INF, "adiana": 2e5}
    traces = {
        (panel, curve): trace
        for by_data in figures
        for figure in by_data.values()
        for panel in figure.panels
        for curve, trace in artificial(made, panel, bits).items()
    }
    return claims.judge(figures, traces)


def test_judgement_is_strict_json_with_numbers_and_reasons(judged):
    again = json.loads(json.dumps(judged, allow_nan=False))
    assert again == judged
    assert [figure["figure"] for figure in judged["figures"]] == ["figure2-paper", "figure2-best"]
    for figure, curves in zip(judged["figures"], (29, 20), strict=True):
        assert len(figure["panels"]) == 3
        for panel in figure["panels"]:
            assert list(panel["data"]) == ["raw data", "scaled data"]
            for shown in panel["data"].values():
                assert len(shown) == curves
                assert ("published", "ours")[curves == 20] == shown[0]["rule"]
                (gd,) = (curve for curve in shown if curve["curve"] == "GD")
                assert gd["uplink"]["1e-5"] is None
            for claim in panel["claims"]:
                assert (claim["outcome"] == DEPENDS) == (len(claim["cases"]) > 1)
                for case in claim["cases"]:
                    assert case["decisive"] in case["comparisons"]


def test_text_of_a_judgement_fits_a_terminal(judged):
    text = claims.judgement_text(judged)
    assert max(map(len, text.splitlines())) <= 80
    words = " ".join(text.split())
    assert (
        "fewer bits to 1e-3 and 1e-5 than all other algorithms: supported with constants of 5GCS "
        "for 5GCS-CC; FAILS with our constants for 5GCS-CC [LoCoDL, section 4, lines 298-299]"
    ) in words
    assert '"We can see that LoCoDL, when combined with rand-k' in text
    assert "our constants for 5GCS-CC: to 1e-3 LoCoDL: rand-1 + natural: 1,010" in words


def test_words_of_claims(made, judged):
    """A claim is supported, not measured; ratios have digits; what is ours and what changes."""
    assert SUPPORTED == "supported"
    assert "[x 0.00123]" in str(comparison([1e5] * 3, [123] * 3))
    notes = {c["note"] for figure in judged["figures"] for c in figure["across panels"]}
    assert all("the problem change as well" in note for note in notes)
    labels = {curve.label for curve in paper_figure(2).panels[0].curves}
    assert len(labels) == 29  # those of one name and compressor say whose constants they have


def test_a_sentence_counts_once_for_both_accuracies(made):
    found = panel_findings(PanelBits(PANEL, artificial(made, PANEL), FIRST))
    quoted = [each.quoted for each in found if each.quoted.words]
    assert sorted(quoted.count(each) for each in set(quoted)) == [1, 1, 1, 2]  # ADIANA: two claims
    assert all({c.accuracy for c in each.comparisons} == {1e-3, 1e-5} for each in found[:4])


def test_the_summary_has_a_line_for_each_claim_that_fails(judged):
    text = claims.judgement_summary(judged)
    assert len(text.splitlines()) < 40
    assert max(map(len, text.splitlines())) <= 80
    failing = {
        claim["claim"]
        for figure in judged["figures"]
        for claims in (*(p["claims"] for p in figure["panels"]), figure["across panels"])
        for claim in claims
        if claim["outcome"] == FAILS
    }
    assert failing
    told = " ".join(text.split())
    assert all(f"{claim}: FAILS" in told for claim in failing)
