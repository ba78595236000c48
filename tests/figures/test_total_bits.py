"""Bits received count by one weight, wherever bits sent are a column or an axis."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from compared import PROBLEM

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.data.files.records import read_record
from certibit.data.terminal import text_columns
from certibit.figures.comparison.compare import keep_comparison
from certibit.figures.costs import band
from certibit.figures.locodl.claims import BitComparison, CurveBits, PanelBits, judge
from certibit.figures.locodl.recipes import all_rules, paper_figure
from certibit.figures.locodl.reproduction import table_2, weighed
from certibit.figures.text.verdicts import FAILS, SUPPORTED, UNDECIDED
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.gd import GD
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import bits_name, require_weight, total_bits, total_text
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.orders import LOWER_BOUND

INF = math.inf
PANEL = paper_figure(2).panels[1]
CURVE, OTHER = PANEL.curves[:2]


def received(trace: Trace, per_bit: float) -> Trace:
    """Return a trace in which so many bits are received for each that is sent."""
    down = per_bit * trace.columns["uplink_bits"]
    return replace(trace, columns={**trace.columns, "downlink_bits": down})


@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0, 8.0])
def test_the_total(weight):
    assert total_bits(100.0, 40.0, weight) == 100 + 40 * weight
    assert bool(total_text(weight)) == ("received" in bits_name(weight)) == (weight > 0)
    assert total_bits(1.0, INF, 0.0) == 1  # what is not counted is not looked at


@pytest.mark.parametrize("weight", [-1.0, INF, math.nan])
def test_what_is_no_weight(weight):
    with pytest.raises(Refusal, match=f"the weight {weight:g} of the downlink"):
        require_weight(weight)
    trace = simulate(Experiment.of(GD(0.1), PROBLEM), budget=Budget(rounds=2))
    with pytest.raises(Refusal, match="of the downlink"):
        trace.plot("total_bits", weight)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_a_trace_is_drawn_against_its_total(weight):
    sent = compressor("rand-k:2")
    method = METHODS["locodl"].parameters(PROBLEM, sent)
    trace = simulate(Experiment.of(method, PROBLEM, sent), seeds=2, budget=Budget(rounds=30))
    place = trace.plot("total_bits", weight).axes[0]
    for run, line in enumerate(place.lines):
        own = trace.run(run)
        total = own["uplink_bits"] + weight * own["downlink_bits"]
        np.testing.assert_array_equal(line.get_xdata(), total)
    assert place.get_xlabel() == bits_name(weight)
    gap = trace.final("gap").max()
    total = trace.cost_to(gap, "uplink_bits") + weight * trace.cost_to(gap, "downlink_bits")
    np.testing.assert_array_equal(trace.bits_to(gap, weight), total)


def test_a_band_is_over_the_total(made):
    bits = [np.array([0, 100.0, 200.0])] * 2
    trace = received(made(bits, [np.array([1, 1e-2, 1e-4])] * 2), 3.0)
    alone, both = band(trace, INF, 1e-5), band(trace, INF, 1e-5, 0.5)
    np.testing.assert_allclose(both.bits, 2.5 * alone.bits)
    np.testing.assert_allclose(both.median, alone.median)
    assert band(trace, 300.0, 1e-5, 0.5).bits[-1] == 300


COMPARED = [  # bits sent to the accuracy, those where a run was given up, received for each sent
    ([10] * 3, 20, [30] * 3, 40, 1.0, SUPPORTED),
    ([30] * 3, 40, [10] * 3, 20, 1.0, FAILS),
    ([10] * 3, 20, [30] * 3, 40, 9.0, FAILS),  # 10 x 10 against 30 x 2
    ([10] * 3, 20, [INF] * 3, 40, 1.0, SUPPORTED),  # 20 against more than 80
    ([10] * 3, 20, [INF] * 3, 40, 9.0, UNDECIDED),  # 100 against more than 80
    ([INF] * 3, 90, [10] * 3, 20, 1.0, FAILS),  # more than 180 against 20
    ([INF] * 3, 5, [10] * 3, 20, 1.0, UNDECIDED),  # more than 10 against 20
]


@pytest.mark.parametrize(("fewer", "end", "more", "other_end", "per_bit", "outcome"), COMPARED)
def test_who_was_given_up_early_is_not_beaten(made, fewer, end, more, other_end, per_bit, outcome):
    def runs(costs, last, down):
        arrives = [
            np.array([0, cost]) if math.isfinite(cost) else np.array([0, last]) for cost in costs
        ]
        gaps = [np.array([1, 1e-5 if math.isfinite(cost) else 0.1]) for cost in costs]
        return received(made(arrives, gaps), down)

    traces = {CURVE: runs(fewer, end, per_bit), OTHER: runs(more, other_end, 1.0)}
    costs = PanelBits(replace(PANEL, downlink=1.0), traces)
    found = BitComparison(costs.of(CURVE, 1e-5), costs.of(OTHER, 1e-5), 1e-5)
    assert found.outcome == outcome
    if not math.isfinite(more[0]):
        assert f"more than {2 * other_end:,.0f}" in str(found)


def test_what_diverges_never_arrives(made):
    arrives = received(made([np.array([0, 50.0])] * 3, [np.array([1, 1e-5])] * 3), 1.0)
    gone = made([np.array([0, 1.0])] * 3, [np.array([1, 9.0])] * 3, ["diverged"] * 3)
    costs = PanelBits(replace(PANEL, downlink=1.0), {CURVE: arrives, OTHER: gone})
    assert BitComparison(costs.of(CURVE, 1e-5), costs.of(OTHER, 1e-5), 1e-5).outcome == SUPPORTED


def test_verdicts_say_which_bits_they_count(made, monkeypatch):
    monkeypatch.setattr(CurveBits, "explanation", lambda *asked: "")
    trace = received(made([np.array([0, 50.0])] * 3, [np.array([1, 1e-5])] * 3), 1.0)
    traces = {(panel, curve): trace for panel in paper_figure(1).panels for curve in panel.curves}
    figure, shown = weighed(paper_figure(1), traces, 0.5)
    judged = judge([[figure]], shown)
    assert bits_name(0.5) in judged["rule"]
    bits = judged["figures"][0]["panels"][0]["curves"][0]["bits"]["1e-5"]["median"]
    assert bits == 75
    assert "received" not in judge([[paper_figure(1)]], traces)["rule"]


def test_table_2_has_the_total(made):
    panel = replace(all_rules(), downlink=0.5)
    trace = received(made([np.array([0.0, 640_000])] * 3, [np.array([1, 1e-5])] * 3), 3.0)
    text = table_2(panel, dict.fromkeys(panel.curves, trace))
    assert max(map(len, text.splitlines())) <= text_columns()
    rows = [line.split() for line in text.splitlines() if line.startswith("GD")]
    assert {row[-3] for row in rows} == {f"{640_000 * 2.5 / 32:,.0f}"}
    log, d = math.log(1e5), 30
    assert {row[3] for row in rows} == {f"{1.5 * d * panel.kappa * log:,.0f}"}
    bound = next(line.split() for line in text.splitlines() if line.startswith("lower bound"))
    assert bound[3] == f"{LOWER_BOUND.reals(9, d, panel.kappa) * log:,.0f}"
    assert "sent + 0.5 × bits received" in " ".join(text.split())


def test_the_report_has_what_was_weighed(found, tmp_path):
    kept = keep_comparison(found, "mine", tmp_path, 0.5)
    (panel,) = read_record(kept)["panels"]
    assert panel["downlink_weight"] == 0.5
    assert kept.with_suffix(".svg").is_file()


def test_a_report_of_figures_that_are_drawn_takes_no_weight(found, tmp_path, capsys):
    keep_comparison(found, "mine", tmp_path, 0.5)
    words = ["report", "--output", str(tmp_path)]
    assert main([*words, "--downlink-weight", "1"]) == 2
    assert "drawn already" in capsys.readouterr().err
    assert main(words) == 0
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert 'data-weight="0.5"' in text


@pytest.mark.parametrize("flag", [[], ["--downlink-weight", "0.5"]])
def test_a_run_as_json_has_the_total(capsys, flag):
    words = ["run", "quadratic:d=4@3", "gd", "--kappa", "10", "--until", "1e-3", "--seeds", "1"]
    assert main([*words, "--json", *flag]) == 0
    told = json.loads(capsys.readouterr().out)
    weight = 0.5 if flag else 0.0
    (run,) = told["runs"]
    assert told["downlink_weight"] == weight
    assert run["bits_to"]["1e-3"] == run["uplink_bits"] + weight * run["downlink_bits"]
