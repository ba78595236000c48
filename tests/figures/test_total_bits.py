"""Bits received count by one weight, wherever bits sent are a column or an axis."""

import json
import math

import numpy as np
import pytest
from compared import PROBLEM

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.data.files.archive import read_record
from certibit.figures.comparison.compare import keep_comparison
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.gd import GD
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import bits_name, require_weight, total_bits, total_text
from certibit.theory.catalogue.catalogue import METHODS

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
