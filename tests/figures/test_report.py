from dataclasses import replace

import numpy as np
import pytest

from certibit.data.terminal import text_columns
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.figures.locodl.reproduction import panel_table
from certibit.figures.text.tables import accuracy_name, cost_table, short_cost


@pytest.mark.parametrize(
    ("accuracy", "name"),
    [(1e-3, "1e-3"), (0.1, "1e-1"), (2.5e-4, "2.5e-4"), (1.0, "1e0"), (1e-12, "1e-12")],
)
def test_accuracy_name(accuracy, name):
    assert accuracy_name(accuracy) == name
    assert float(name) == accuracy


@pytest.mark.parametrize("number", FIGURES)
def test_comparison_of_all_curves_fits_a_terminal(made, number):
    for panel in paper_figure(number).panels:
        bits = np.array([0, panel.bits - 1, panel.bits])
        trace = made([bits] * 5, [np.array([1, 1e-3, 1e-5])] * 5)
        trace.columns["rounds"][:] = 125_000
        trace.columns["gradients"][:] = 1_250_000
        text = panel_table(panel, dict.fromkeys(panel.curves, trace))
        assert max(map(len, text.splitlines())) <= text_columns()
        assert len(text.splitlines()) >= len(panel.curves) + 4


def test_comparison_has_medians_with_never_as_latest(made):
    panel = demonstration().panels[0]
    curve = panel.curves[0]
    bits = [np.array([0, 10, 20]), np.array([0, 30, 1000]), np.array([0, 50, 60])]
    gaps = [np.array([1, 1e-3, 1e-6])] + [np.array([1, 1e-3, 1e-4])] * 2
    trace = made(bits, gaps, ["gap", "bits", "bits"])
    row = panel_table(panel, {curve: trace}).splitlines()[-1].split()
    assert row == [curve.method, curve.compressor, "30", "-", "2", "6"]
    reached = panel_table(replace(panel, floor=1e-4), {curve: trace}).splitlines()[-1].split()
    assert reached[3] == "60"


def test_costs_count_the_runs_that_got_there(made):
    bits = [np.array([0, 1000, 2000]), np.array([0, 3000, 4000])]
    gaps = [np.array([1, 0.05, 1e-7]), np.array([1, 0.05, 0.04])]
    lines = cost_table(made(bits, gaps, ["gap", "bits"]), [0.1, 1e-6, 1e-9]).splitlines()
    assert lines[2].split() == ["1e-1", "2,000", "1,000", "to", "3,000", "1", "3", "2", "of", "2"]
    assert lines[3].split() == ["1e-6", "-", "2,000", "to", "2,000", "-", "-", "1", "of", "2"]
    assert lines[4].split() == ["1e-9", "-", "-", "-", "-", "0", "of", "2"]
    assert max(map(len, lines)) <= text_columns()


def test_bits_received_count_by_their_weight(made):
    bits = [np.array([0, 1000, 2000])] * 2
    trace = made(bits, [np.array([1, 0.05, 1e-7])] * 2, ["gap", "gap"])
    trace.columns["downlink_bits"][:] = [0, 400, 800] * 2
    down = 400
    told, _, _, *lines = cost_table(trace, [0.1, 1e-6], 0.5).splitlines()
    assert told == "total = up + 0.5 down"
    assert lines[0].split()[:4] == ["1e-1", "1k", short_cost(down), short_cost(1000 + 0.5 * down)]
