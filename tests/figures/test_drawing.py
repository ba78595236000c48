""""""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib import style
from matplotlib.colors import to_hex

from certibit.figures.costs import POINTS, band
from certibit.figures.drawing import FORMATS, STYLE, Line
from certibit.figures.locodl.panel_drawing import (
    LINES,
    _canvas,
    _direct_canvas,
    draw_figure,
    look,
)
from certibit.figures.locodl.panels import COMPRESSOR_LABELS, Curve, Figure
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.figures.looks import in_legend_order, method_look
from certibit.figures.text.tables import short_cost
from certibit.theory.catalogue.catalogue import CLIPPING, METHODS


def straight(made, rate, runs=3):
    """Runs that gain ``rate`` and a bit more decimal digits over 1e5 bits."""
    bits = [np.linspace(0, 1e5, 50)] * runs
    return made(bits, [10 ** (-rate * (1 + 0.1 * run) * bits[0] / 1e5) for run in range(runs)])


@pytest.fixture
def full(made):
    """A figure of two panels with all curves, and traces of them."""
    figure = replace(paper_figure(1), name="made")
    traces = {
        (panel, curve): straight(made, 0.3 + 0.4 * place)
        for panel in figure.panels
        for place, curve in enumerate(panel.curves)
    }
    return figure, traces


def shown(panel):
    """Return the curves of a panel that are drawn; others have traces, too."""
    return [curve for curve in panel.curves if curve.drawn]


@pytest.fixture
def few(full):
    """The first panel of the same figure with every fifth curve."""
    figure, traces = full
    panel = figure.panels[0]
    kept = replace(panel, curves=panel.curves[::5])
    return replace(figure, panels=(kept,)), {(kept, c): traces[panel, c] for c in kept.curves}


@pytest.mark.parametrize("number", FIGURES)
def test_no_two_curves_of_a_panel_look_alike(number):
    for panel in paper_figure(number).panels:
        looks = [str(sorted(look(curve).items(), key=str)) for curve in shown(panel)]
        assert len(set(looks)) == len(looks) == 22


def test_every_method_and_compressor_has_a_look_and_a_name():
    assert len({method_look(name) for name in [*METHODS, "mine"]}) == len(METHODS) + 1
    assert set(LINES) == set(COMPRESSOR_LABELS)


def test_methods_of_one_figure_differ_in_colour():
    for cards in (METHODS, CLIPPING):
        colours = [card.colour for card in cards.values()]
        assert len(set(colours)) == len(colours)


def test_legends_have_the_order_of_the_catalogue_and_strangers_last():
    assert in_legend_order({"yours", "gd", "mine", "locodl"}) == ["locodl", "gd", "mine", "yours"]


DEUTERANOPE = np.array([[1, 0, 0], [0.494207, 0, 1.24827], [0, 0, 1]])
PROTANOPE = np.array([[0, 2.02344, -2.52581], [0, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("panel", [paper_figure(1).panels[0], *demonstration().panels])
@pytest.mark.parametrize("blind", [DEUTERANOPE, PROTANOPE], ids=["deuteranope", "protanope"])
def test_colours_can_be_told_apart_without_red_or_green_receptors(blind, panel):
    """Distances in RGB after the projections of Vienot, Brettel and Mollon (1999)."""
    methods = {curve.method for curve in panel.curves}
    colours = [method_look(method)[0] for method in sorted(methods)]
    assert len(colours) >= 8
    to_lms = np.array(
        [[17.8824, 43.5161, 4.11935], [3.45565, 27.1554, 3.86714], [0.02996, 0.18431, 1.46709]]
    )
    rgb = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colours])
    seen = np.linalg.solve(to_lms, np.array(blind) @ to_lms @ (rgb**2.2).T).T.clip(0, 1) ** (
        1 / 2.2
    )
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 0.14


def test_lines_are_the_medians_and_axes_those_of_the_recipe(full):
    figure, traces = full
    canvas = _canvas(figure, traces)
    for panel, place in zip(figure.panels, canvas.axes, strict=True):
        assert place.get_xlim()[1] == panel.bits
        assert place.get_ylim() == (panel.floor, 1)
        assert place.get_yscale() == "log"
        assert len(place.lines) == len(shown(panel))
        for line, curve in zip(place.lines, shown(panel), strict=True):
            expected = band(traces[panel, curve], panel.bits, panel.floor)
            assert np.array_equal(line.get_xdata(), expected.bits)
            assert np.array_equal(line.get_ydata(), expected.median)
            drawn = to_hex(line.get_color()).upper(), line.get_marker()
            assert drawn == method_look(curve.method)


def test_bands_are_filled_between_the_percentiles(full):
    figure, traces = full
    place, panel = _canvas(figure, traces).axes[0], figure.panels[0]
    assert len(place.collections) == len(shown(panel))
    expected = band(traces[panel, panel.curves[0]], panel.bits, panel.floor)
    outline = place.collections[0].get_paths()[0].vertices
    corners = np.concatenate([expected.low, expected.high])
    assert set(np.round(corners, 15)) == set(np.round(outline[:, 1], 15))


def test_a_panel_alone_has_room_for_its_curves(full):
    """The picture of the papers page: words inside and below leave the axes their width."""
    figure, traces = full
    panel = figure.panels[1]
    alone = {pair: trace for pair, trace in traces.items() if pair[0] is panel}
    with style.context(STYLE):
        canvas = _canvas(replace(figure, panels=(panel,)), alone)
        canvas.draw_without_rendering()
    (place,) = canvas.axes
    assert place.get_window_extent().width > 0.45 * canvas.bbox.width
    (words,) = (text for text in place.texts if "rand-k with" in text.get_text())
    told = " ".join(words.get_text().split())
    assert told == "rand-k with k = 1 (LoCoDL, DIANA, 5GCS-CC), 30 (ADIANA)"
    assert words.get_window_extent().x0 > place.get_window_extent().x0


def test_legend_names_what_is_drawn_and_nothing_else(made):
    panel = replace(demonstration().panels[0], curves=(Curve("locodl", "natural"), Curve("gd")))
    traces = {(panel, curve): straight(made, 2) for curve in (*panel.curves, Curve("diana"))}
    (legend,) = _canvas(Figure("two", (panel,)), traces).legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["method", "LoCoDL", "GD", "compressor", "natural", "none, or its own"]


def test_curves_of_unknown_methods_and_compressors_are_drawn_and_named(made):
    panel = replace(demonstration().panels[0], curves=(Curve("mine", "ternary"),))
    traces = {(panel, panel.curves[0]): straight(made, 2)}
    (legend,) = _canvas(Figure("own", (panel,)), traces).legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert texts == ["method", "mine", "compressor", "ternary"]


def test_few_curves_are_named_where_they_end_with_their_costs(made):
    """Also one that does not arrive, by how far it gets."""
    panel = replace(demonstration().panels[1], floor=1e-2)
    rates = {"gd": 1, "agd": 3, "diana": 4}
    panel = replace(panel, curves=tuple(c for c in panel.curves if c.method in rates))
    traces = {(panel, curve): straight(made, rates[curve.method]) for curve in panel.curves}
    (place,) = _direct_canvas(Figure("three", (panel,), direct=True), traces).axes
    told = {text.get_text().partition(": ")[0]: text.get_text() for text in place.texts}
    assert set(told) == {"GD", "AGD", "DIANA"}
    assert "gets to" in told["GD"]
    for name in ("AGD", "DIANA"):
        (curve,) = (each for each in panel.curves if each.method_name == name)
        cost = np.median(traces[panel, curve].bits_to(1e-2))
        assert told[name] == f"{name}: {short_cost(cost)}"


def test_files_are_the_same_when_drawn_again(few, tmp_path):
    figure, traces = few
    first = draw_figure(figure, traces, tmp_path / "a")
    again = draw_figure(figure, dict(reversed(traces.items())), tmp_path / "b")
    assert [path.name for path in first] == [f"made.{suffix}" for suffix in FORMATS]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["made.png", "made.svg"]
    svg, png = first
    assert b"<dc:date>" not in svg.read_bytes()
    assert png.read_bytes().startswith(b"\x89PNG")


def test_a_failing_drawing_leaves_the_old_file(few, tmp_path, monkeypatch):
    for suffix in FORMATS:
        (tmp_path / f"made.{suffix}").write_bytes(b"whole")

    def fail(self, file, **options):
        file.write(b"half")
        raise RuntimeError

    monkeypatch.setattr("certibit.figures.locodl.panel_drawing.Canvas.savefig", fail)
    with pytest.raises(RuntimeError):
        draw_figure(*few, tmp_path)
    assert {(tmp_path / f"made.{suffix}").read_bytes() for suffix in FORMATS} == {b"whole"}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_panel_says_what_is_solved_and_who_is_ahead(full):
    figure, traces = full
    place, panel = _canvas(figure, traces).axes[0], figure.panels[0]
    assert place.get_xscale() == "log"
    assert "$\\kappa$ = 10000, d = 3, 3 seeds" in place.get_title(loc="left")
    costs = {c: np.median(traces[panel, c].bits_to(panel.floor)) for c in shown(panel)}
    winner = min((c for c in costs if np.isfinite(costs[c])), key=costs.get)
    texts = [text for text in place.texts if text.get_weight() == "bold"]
    assert [text.get_text() for text in texts] == [f"{winner.label}: {costs[winner] / 1e3:.3g}k"]


RATES = np.array([1.0, 1.3, 2.0, 2.2, 4.0])
"""Decimal digits gained by five runs in 1000 bits."""


@pytest.fixture
def lines(made):
    """Five runs with f - f* = 10^(-rate bits/1000), recorded every 7 bits until below 1e-6."""
    bits = [np.arange(0, 1000 * 6 / rate + 7, 7) for rate in RATES]
    return made(bits, [10 ** (-rate * b / 1000) for rate, b in zip(RATES, bits, strict=True)])


def test_percentiles_are_those_of_numpy(lines):
    result = band(lines, bits=1000, floor=1e-6)
    assert result.bits.size == POINTS
    assert result.bits[[0, -1]].tolist() == pytest.approx([7, 1000])
    logs = -RATES[:, None] * result.bits / 1000
    assert np.allclose(np.log10(result.median), np.median(logs, axis=0), rtol=0, atol=1e-12)
    assert np.allclose(np.log10(result.low), np.percentile(logs, 10, axis=0), rtol=0, atol=1e-12)
    assert np.allclose(np.log10(result.high), np.percentile(logs, 90, axis=0), rtol=0, atol=1e-12)


def test_ends_where_the_median_is_below_the_floor(lines):
    result = band(lines, bits=1e9, floor=1e-4)
    assert result.median[-1] <= 1e-4 < result.median[-2]
    # the median of the runs is the third: it is at 1e-4 after 4/2 thousand bits
    step = result.bits[1] / result.bits[0]
    assert 2000 <= result.bits[-1] <= 2000 * step


def test_a_run_that_ended_below_the_floor_stays_below(made):
    bits = [np.array([0, 100]), np.array([0, 100]), np.array([0, 400])]
    gaps = [np.array([1, 1e-6]), np.array([1, 1e-6]), np.array([1, 0.5])]
    result = band(made(bits, gaps, ["gap", "gap", "bits"]), bits=400, floor=1e-5)
    assert result.bits[-1] <= 100
    assert result.median[-1] <= 1e-5
    assert np.all(np.isfinite(result.high))


def test_a_run_that_ended_above_the_floor_is_unknown_afterwards(made):
    bits = [np.array([0, 100]), np.array([0, 400])]
    result = band(made(bits, [np.array([1, 0.5])] * 2, ["iterations", "bits"]), 400, 1e-5)
    known = result.bits <= 100
    assert np.all(np.isfinite(result.median[known]))
    assert np.all(np.isnan(result.median[~known]))


def test_a_diverged_run_counts_as_high(made):
    bits = [np.array([0.0, 50, 60]), np.array([0.0, 200]), np.array([0.0, 200])]
    gaps = [np.array([1, 1e3, np.nan]), np.array([1, 0.1]), np.array([1, 0.01])]
    result = band(made(bits, gaps, ["diverged", "bits", "bits"]), 200, 1e-5)
    assert np.all(np.isfinite(result.median))
    assert result.median[-1] == pytest.approx(0.1)
    assert result.high[-1] > 1e100


def test_zero_gap_is_drawn_as_below(made):
    result = band(made([np.array([0, 10])], [np.array([1.0, 0.0])]), 10, 1e-5)
    assert result.median[-1] <= 1e-5


def test_a_line_of_runs_is_their_median_with_its_band():
    line = Line.of_runs([1, 2], np.arange(22.0).reshape(2, 11), {})
    np.testing.assert_allclose([*line.band, line.y], [[1, 12], [9, 20], [5, 16]])
