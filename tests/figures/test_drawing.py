""""""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from certibit.figures.drawing import FORMATS, Line
from certibit.figures.locodl.panel_drawing import _canvas, draw_figure, look
from certibit.figures.locodl.panels import Curve, Figure
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.figures.looks import method_look
from certibit.figures.text.tables import late_median, short_cost
from certibit.theory.catalogue.catalogue import METHODS


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


def test_every_method_has_a_look_and_a_name():
    assert len({method_look(name) for name in [*METHODS, "mine"]}) == len(METHODS) + 1


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


def test_every_curve_drawn_has_its_name_and_what_it_costs(full):
    figure, traces = full
    for panel, place in zip(figure.panels, _canvas(figure, traces).axes, strict=True):
        told = dict(text.get_text().rsplit(": ", 1) for text in place.texts)
        assert set(told) == {curve.label for curve in shown(panel)}
        lines = [line for line in place.lines if len(line.get_xdata()) > 2]
        ends = {}
        for curve, line in zip(shown(panel), lines, strict=True):
            ends[curve.label] = cost = late_median(traces[panel, curve].bits_to(panel.floor))
            words = short_cost(cost) if np.isfinite(cost) else "gets to"
            assert told[curve.label].startswith(words)
            assert to_hex(line.get_color()).upper() == method_look(curve.method)[0]
        (best,) = (text for text in place.texts if text.get_weight() == "bold")
        assert best.get_text().rsplit(": ", 1)[0] == min(ends, key=ends.get)
        title = place.get_title(loc="left")
        assert "$\\kappa$ = 10000, d = 3, 3 seeds" in title
        assert "rand-k" not in title


def test_a_panel_with_one_curve_a_method_says_its_compressors_above(made):
    panel = replace(demonstration().panels[0], curves=(Curve("mine", "ternary"), Curve("gd")))
    traces = {(panel, curve): straight(made, 2) for curve in panel.curves}
    (place,) = _canvas(Figure("own", (panel,)), traces).axes
    assert {text.get_text().partition(": ")[0] for text in place.texts} == {"mine", "GD"}
    assert place.get_title(loc="left").endswith("3 seeds; ternary")


def test_few_curves_are_named_where_they_end_with_their_costs(made):
    """Also one that does not arrive, by how far it gets."""
    panel = replace(demonstration().panels[1], floor=1e-2)
    rates = {"gd": 1, "agd": 3, "diana": 4}
    panel = replace(panel, curves=tuple(c for c in panel.curves if c.method in rates))
    traces = {(panel, curve): straight(made, rates[curve.method]) for curve in panel.curves}
    (place,) = _canvas(Figure("three", (panel,)), traces).axes
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

    monkeypatch.setattr("certibit.figures.drawing.Canvas.savefig", fail)
    with pytest.raises(RuntimeError):
        draw_figure(*few, tmp_path)
    assert {(tmp_path / f"made.{suffix}").read_bytes() for suffix in FORMATS} == {b"whole"}
    assert len(list(tmp_path.iterdir())) == 2


def test_a_line_of_runs_is_their_median_with_its_band():
    line = Line.of_runs([1, 2], np.arange(22.0).reshape(2, 11), {})
    np.testing.assert_allclose([*line.band, line.y], [[1, 12], [9, 20], [5, 16]])
