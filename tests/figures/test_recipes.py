import math

import pytest

from certibit import METHODS, Refusal, compressor
from certibit.data.files.manifest import CATALOGUE
from certibit.figures.locodl.panels import Curve
from certibit.figures.locodl.recipes import (
    FIGURES,
    VERSIONS,
    all_rules,
    demonstration,
    paper_figure,
    recommended_k,
)

# figure, panel, data, n, end of the axis, k of LoCoDL, k of ADIANA: the paper's legends and axes
PAPER = [
    (1, 0, "a5a", 87, 2e6, 2, 30),
    (1, 1, "a5a", 288, 2e6, 1, 30),
    (2, 0, "diabetes", 6, 4e5, 2, 2),
    (2, 1, "diabetes", 37, 4e5, 1, 2),
    (2, 2, "diabetes", 73, 4e5, 1, 2),
    (3, 0, "australian", 9, 3e5, 2, 3),
    (3, 1, "australian", 41, 3e5, 1, 3),
    (3, 2, "australian", 225, 3e5, 1, 3),
    (4, 0, "w1a", 87, 2e6, 4, 75),
    (4, 1, "w1a", 619, 2e6, 1, 75),
]


@pytest.mark.parametrize(("figure", "place", "data", "n", "bits", "k", "adiana"), PAPER)
def test_panel_has_the_curves_of_the_paper(figure, place, data, n, bits, k, adiana):
    panel = paper_figure(figure).panels[place]
    ks = {"LoCoDL": k, "ADIANA": adiana, "DIANA": 1, "5GCS-CC (ours)": 1}
    compressed = [
        f"{method}: {kind}"
        for method, number in ks.items()
        for kind in (f"rand-{number}", "natural", f"rand-{number} + natural", "l1-selection")
    ]
    others = ["CompressedScaffnew: s = 2", "GradSkip", "SCAFFOLD", "GD"]
    beside = [f"LoCoDL (ours): rand-{k} + natural", "5GCS-CC (5GCS): rand-1 + natural"]
    drawn = [curve.label for curve in panel.curves if curve.drawn]
    assert drawn == compressed + others + beside
    assert [curve.label for curve in panel.curves if not curve.claimed] == ["GD", beside[0]]
    assert {c.method_name for c in panel.curves if c.ours} == {"LoCoDL (ours)", "5GCS-CC (ours)"}
    assert panel.problem == f"{data}@{n}"
    assert panel.title == f"({'abc'[place]}) {data}, n = {n}"
    assert (panel.bits, panel.floor, panel.kappa) == (bits, 1e-5, 1e4)
    assert (panel.budget.bits, panel.budget.gap) == (bits, 1e-5)


def test_all_ten_panels_are_there():
    counts = [len(paper_figure(number).panels) for number in FIGURES]
    assert counts == [2, 3, 3, 2]
    assert len(PAPER) == 10


RULES = {
    "paper": {
        "locodl": "published", "adiana": "published", "diana": "a", "scaffold": "published",
        "gd": "1/L", "compressed-scaffnew": "published",
    },
    "best": {
        "locodl": "ours", "adiana": "best", "diana": "b", "scaffold": "best", "gd": "optimal",
        "compressed-scaffnew": "best",
    },
}  # fmt: skip


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("number", FIGURES)
def test_every_curve_has_the_rule_of_its_version(number, version):
    other = {"5gcs-cc": "ours-adaptive", "gradskip": "published"}
    for panel in paper_figure(number, version).panels:
        for curve in panel.curves[:20]:
            assert curve.rule == (RULES[version] | other)[curve.method]
            assert curve.rule in METHODS[curve.method].rules
        assert all(curve.drawn for curve in panel.curves[:20])
        beside = [(curve.method, curve.rule, curve.drawn) for curve in panel.curves[20:]]
        open_constants = [("5gcs-cc", "5gcs-adaptive", kind == 2) for kind in range(4)]
        open_constants += 4 * [("diana", "b", False)]
        ours = [("locodl", "ours", True)]
        assert beside == ([*ours, *open_constants] if version == "paper" else [])


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("number", FIGURES)
def test_versions_differ_in_parameters_only(number):
    paper, best = (paper_figure(number, version) for version in VERSIONS)
    assert (paper.name, best.name) == (f"figure{number}-paper", f"figure{number}-best")
    for one, other in zip(paper.panels, best.panels, strict=True):
        assert other.title == f"{one.title}, best"
        assert (one.problem, one.kappa, one.budget) == (other.problem, other.kappa, other.budget)
        named = [[(c.method, c.kind) for c in panel.curves[:20]] for panel in (one, other)]
        assert named[0] == named[1]


@pytest.mark.parametrize("form", ["rand-k:K", "rand-k:K+natural"])
@pytest.mark.parametrize(("n", "d"), [(6, 8), (225, 14)])
def test_recommended_k_of_diana_has_the_fewest_promised_bits(form, n, d):
    """Written out for version B: tau = 1 - min{4 gamma mu L/(L + mu), alpha/2}, kappa 100."""
    mu, L = 2.0, 101.0

    def bits(k):
        sent = compressor(form.replace("K", str(k)))
        omega = sent.omega(d)
        alpha = 1 / (1 + omega)
        gamma = min(alpha / (2 * mu), 2 / ((L + mu) * (1 + 6 * omega / n)))
        return sent.bits(d) / -math.log1p(-min(2 * gamma * mu * L / (mu + L), alpha / 2))

    least = min(map(bits, range(1, d + 1)))
    expected = next(k for k in range(1, d + 1) if bits(k) <= 1.01 * least)
    assert recommended_k("diana", "b", form, n, d, 100.0) == expected


def test_recommended_k_is_in_the_panels():
    panel = paper_figure(4, "best").panels[0]
    ks = {(c.method, c.kind): c.k for c in panel.curves if c.k}
    for (method, kind), k in ks.items():
        form = kind.replace("rand-k", "rand-k:K")
        rule = "ours-adaptive" if method == "5gcs-cc" else RULES["best"][method]
        assert k == recommended_k(method, rule, form, 87, 300, 1e4)
    assert ks["adiana", "rand-k"] > 75
    assert ks["locodl", "rand-k"] < 4


def test_table_2_has_every_method_with_rules_that_fit():
    panel = all_rules()
    assert (panel.kappa, panel.bits, panel.floor) == (1e3, 2e7, 1e-5)
    assert {curve.method for curve in panel.curves} == set(METHODS)
    for curve in panel.curves:
        assert curve.rule in METHODS[curve.method].rules


@pytest.mark.parametrize(
    ("number", "data", "name"),
    [
        (1, "a5a", "figure1-paper"),
        (2, "diabetes_scale", "figure2-scaled-paper"),
        (3, "australian_scale", "figure3-scaled-paper"),
        (4, "w1a", "figure4-paper"),
    ],
)
def test_scaled_data_where_there_are_some(number, data, name):
    scaled, raw = paper_figure(number, scaled=True), paper_figure(number)
    assert scaled.name == name
    assert data in CATALOGUE
    for one, other in zip(scaled.panels, raw.panels, strict=True):
        assert one.problem.split("@") == [data, other.problem.split("@")[1]]
        assert one.curves == other.curves


def test_unknown_figure_is_refused():
    with pytest.raises(Refusal, match="no recipe for figure 5; choose one of 1, 2, 3, 4"):
        paper_figure(5)


def test_demonstration_has_every_method_once_and_few_in_a_panel():
    local, others = demonstration().panels
    assert sorted(c.method for c in local.curves + others.curves) == sorted(METHODS)
    for curve in local.curves + others.curves:
        assert (curve.compressor is None) == (METHODS[curve.method].method.needs.compressor is None)
    assert max(len(local.curves), len(others.curves)) <= 12
    assert {"locodl", "scaffnew", "5gcs-cc", "scaffold"} <= {c.method for c in local.curves}
    assert {"diana", "gd", "ef21"} <= {curve.method for curve in others.curves}


@pytest.mark.parametrize(
    ("compressor", "kind", "k"),
    [
        (None, None, None),
        ("natural", "natural", None),
        ("rand-k:75", "rand-k", 75),
        ("rand-k:3+natural", "rand-k+natural", 3),
    ],
)
def test_kind_and_k_of_a_compressor(compressor, kind, k):
    curve = Curve("locodl", compressor)
    assert (curve.kind, curve.k) == (kind, k)
