""""""

import json
import math

import numpy as np
import pytest
from compared import PROBLEM

from certibit import GD, METHODS, Budget, Experiment, Refusal, compressor
from certibit.cli import main
from certibit.data.files.archive import read_record
from certibit.data.terminal import text_columns
from certibit.figures.comparison.compare import keep_comparison
from certibit.figures.locodl.recipes import all_rules
from certibit.figures.locodl.reproduction import table_2
from certibit.solvers.runs.engine import simulate
from certibit.solvers.total_bits import bits_name, require_weight, total_bits, total_text
from certibit.theory.card import LOWER_BOUND

# Table 2 of arXiv:2403.04348 at d = 9, n = 4, kappa = 16, written out
TABLE_2 = {
    "diana": (1 + 9 / 4) * 16 + 9,
    "ef21": 9 * 16,
    "5gcs-cc": (3 + 9 / 2) * 4 + 9,
    "adiana": (1 + 9 / 2) * 4 + 9,
    "compressed-scaffnew": (3 + 9 / 2) * 4 + 9,
    "fedcomgate": 9 * 16,
    "locodl": (3 + 9 / 2) * 4 + 9,
}


@pytest.mark.parametrize("method", TABLE_2)
def test_leading_orders_are_those_of_the_paper(method):
    assert METHODS[method].orders.reals(4, 9, 16) == TABLE_2[method]


@pytest.mark.parametrize("n", [1, 10, 1000])
@pytest.mark.parametrize("kappa", [2.0, 1e3])
def test_no_method_promises_less_than_the_lower_bound(n, kappa):
    orders = {name: card.orders for name, card in METHODS.items() if card.orders}
    unbiased = [name for name in orders if METHODS[name].method.needs.compressor == "unbiased"]
    assert "adiana" in unbiased
    for name in unbiased:
        assert orders[name].reals(n, 30, kappa) >= LOWER_BOUND.reals(n, 30, kappa) / 2
        for omega in (0.0, 9.0):
            least = LOWER_BOUND.rounds(n, 30, kappa, omega)
            assert orders[name].rounds(n, 30, kappa, omega) >= least / 4
    assert orders["adiana"].reals(n, 30, kappa) <= 2 * LOWER_BOUND.reals(n, 30, kappa)


def test_the_servers_compression_is_in_the_order():
    order = METHODS["ef21p-diana"].orders.reals
    assert order(10, 30, 1e3, alpha_down=0.1) > order(10, 30, 1e3) + 8e3


def test_table_has_a_row_per_curve_with_its_numbers(made):
    panel = all_rules()
    bits = np.array([0.0, 320_000, 640_000])
    reached = made([bits] * 3, [np.array([1, 1e-2, 1e-5])] * 3)
    never = made([bits] * 3, [np.array([1, 1e-2, 1e-4])] * 3)
    traces = {curve: never if curve.method == "gd" else reached for curve in panel.curves}
    text = table_2(panel, traces)
    assert max(map(len, text.splitlines())) <= text_columns()
    rows = [line.split() for line in text.splitlines() if line.startswith(("LoCoDL  ", "GD"))]
    letter = next(line[0] for line in text.splitlines() if line.endswith(" = d*kappa"))
    assert [row[:3] for row in rows] == [
        ["LoCoDL", "published", "A"],
        ["LoCoDL", "ours", "A"],
        ["GD", "1/L", letter],
        ["GD", "optimal", letter],
    ]
    bound = next(line.split() for line in text.splitlines() if line.startswith("lower bound"))
    assert bound[3:5] == [f"{((1 + 10) * math.sqrt(1e3) + 30) * math.log(1e5):,.0f}", "-"]
    order = ((math.sqrt(30) + 10) * math.sqrt(1e3) + 30) * math.log(1e5)
    for row in rows[:2]:
        promised = float(row[4].replace(",", ""))
        assert row[3] == f"{order:,.0f}"
        assert row[5] == "20,000"
        assert float(row[6]) == pytest.approx(20_000 / promised, abs=6e-4)
        assert row[7] == "6"
    assert [row[5:] for row in rows[2:]] == [["-", "-", "-"]] * 2
    assert "A = (sqrt(d) + d/sqrt(n))*sqrt(kappa) + d" in text


def test_published_parameters_that_diverge_are_shown(made):
    """FedCOMGATE's own ones, on rand-k with omega > 1; the damped ones beside them converge."""
    panel = all_rules()
    bits = np.array([0.0, 320_000])
    ends = {"published": "diverged", "damped": "gap"}
    traces = {
        curve: made([bits], [np.array([1, 1e-6])], [ends[curve.rule]])
        for curve in panel.curves
        if curve.method == "fedcomgate"
    }
    rows = [line.split() for line in table_2(panel, traces).splitlines()]
    measured = {row[1]: row[5] for row in rows if row and row[0] == "FedCOMGATE"}
    assert measured == {"published": "diverges", "damped": "10,000"}


INF = math.inf


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


def test_the_report_has_what_was_weighed(found, tmp_path):
    kept = keep_comparison(found, "mine", tmp_path, 0.5)
    (panel,) = read_record(kept)["panels"]
    assert panel["downlink_weight"] == 0.5
    assert kept.with_suffix(".svg").is_file()


@pytest.mark.parametrize("flag", [[], ["--downlink-weight", "0.5"]])
def test_a_run_as_json_has_the_total(capsys, flag):
    words = ["run", "quadratic:d=4@3", "gd", "--kappa", "10", "--until", "1e-3", "--seeds", "1"]
    assert main([*words, "--json", *flag]) == 0
    told = json.loads(capsys.readouterr().out)
    weight = 0.5 if flag else 0.0
    (run,) = told["runs"]
    assert told["downlink_weight"] == weight
    assert run["bits_to"]["1e-3"] == run["uplink_bits"] + weight * run["downlink_bits"]
