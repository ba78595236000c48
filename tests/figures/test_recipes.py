import pytest

from bitbound.data.catalogue import CATALOGUE
from bitbound.data.errors import Refusal
from bitbound.figures.recipes import FIGURES, Curve, demonstration, paper_figure
from bitbound.theory.catalogue import METHODS

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
    ks = {"LoCoDL": k, "ADIANA": adiana, "DIANA": 1, "5GCS-CC": 1}
    compressed = [
        f"{method}: {kind}"
        for method, number in ks.items()
        for kind in (f"rand-{number}", "natural", f"rand-{number} + natural", "l1-selection")
    ]
    others = ["CompressedScaffnew: s = 2", "GradSkip", "Scaffold", "GD"]
    assert [curve.label for curve in panel.curves] == compressed + others
    assert panel.problem == f"{data}@{n}"
    assert panel.title == f"({'abc'[place]}) {data}, n = {n}"
    assert (panel.bits, panel.floor, panel.kappa) == (bits, 1e-5, 1e4)
    assert (panel.budget.bits, panel.budget.gap) == (bits, 1e-5)


def test_all_ten_panels_are_there():
    counts = [len(paper_figure(number).panels) for number in FIGURES]
    assert counts == [2, 3, 3, 2]
    assert len(PAPER) == 10


@pytest.mark.parametrize("number", FIGURES)
def test_locodl_has_the_parameters_of_the_paper(number):
    for panel in paper_figure(number).panels:
        assert {c.rule for c in panel.curves if c.method == "locodl"} == {"paper"}


@pytest.mark.parametrize("number", FIGURES)
def test_what_the_catalogue_lacks_is_named(number):
    for panel in paper_figure(number).panels:
        assert {curve.method for curve in panel.available} <= set(METHODS)
        assert not {curve.method for curve in panel.left_out} & set(METHODS)
        assert len(panel.available) + len(panel.left_out) == len(panel.curves) == 20


@pytest.mark.parametrize(
    ("number", "data", "name"),
    [
        (1, "a5a", "figure1"),
        (2, "diabetes_scale", "figure2-scaled"),
        (3, "australian_scale", "figure3-scaled"),
        (4, "w1a", "figure4"),
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


def test_demonstration_has_every_method_and_the_four_compressors():
    methods, compressors = demonstration().panels
    assert sorted(curve.method for curve in methods.curves) == sorted(METHODS)
    for curve in methods.curves:
        assert (curve.compressor is None) == (METHODS[curve.method].method.needs.compressor is None)
    assert len(set(compressors.curves)) == 8
    assert {curve.method for curve in compressors.curves} == {"locodl", "diana"}


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
