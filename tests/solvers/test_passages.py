"""Bits to an accuracy are those of its first round, whatever else is recorded."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from certibit import Budget, Experiment, Quadratic, Record, compare, compressor, parameters, problem
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.points import Passages

PROBLEMS = {
    "quadratic": lambda: Quadratic.random(3, 6, mu=1.0, L=30.0),
    "logistic": lambda: problem("breast-cancer@9", kappa=30),
    "nonconvex": lambda: problem("quadratic:d=5@3:nonconvex"),
}
RUNS = {
    "gd": ("gd", None, "gap"),
    "locodl": ("locodl", "rand-k:1", "gap"),
    "diana": ("diana", "rand-k:1", "gap"),
    "agd": ("agd", None, "gap"),
    "ef21": ("ef21", "top-k:1", "gap"),
}
POWERS = [float(f"1e-{k}") for k in range(1, 5)]
ASKED = 0.0372


def experiment(name, solved):
    method, sent, _ = RUNS[name]
    sent = compressor(sent) if sent else None
    return Experiment.of(parameters(method, solved, sent), solved, sent)


def passages(trace, measure="gap", downlink=1.0):
    return [trace.bits_to(accuracy, downlink, measure) for accuracy in (*POWERS, ASKED)]


COARSE = Record(ratio=1.3, every=7, accuracies=(ASKED,))
BUDGET = Budget(rounds=500)


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("solved", ["quadratic", "logistic"])
@pytest.mark.parametrize("name", RUNS)
def test_bits_to_an_accuracy_are_those_of_its_first_round(name, solved):
    made = experiment(name, PROBLEMS[solved]())
    every = simulate(made, seeds=3, budget=BUDGET, record=Record(ratio=1))
    few = simulate(made, seeds=3, budget=BUDGET, record=COARSE)
    np.testing.assert_array_equal(passages(few), passages(every))
    assert not np.isnan(every.bits_to(1e-1)).any()
    assert len(few.columns["run"]) < len(every.columns["run"]) / 5
    for run in range(3):
        rounds = few.run(run)["iteration"]
        assert all(a < b for a, b in pairwise(rounds))


@pytest.mark.parametrize("measure", ["gap", "squared_gradient"])
def test_nonconvex_runs_too(measure):
    solved = PROBLEMS["nonconvex"]()
    made = Experiment.of(parameters("gd", solved), solved)
    start = {
        "gap": solved.gap,
        "squared_gradient": lambda x: np.sum(solved.grad(x).mean(0) ** 2, 0),
    }
    budget = Budget(rounds=600).aimed(1e-4 * float(np.max(start[measure](solved.x_0))), measure)
    every = simulate(made, seeds=1, budget=budget, record=Record(ratio=1))
    few = simulate(made, seeds=1, budget=budget, record=COARSE)
    np.testing.assert_array_equal(passages(few, measure), passages(every, measure))
    assert few.ending == every.ending == (measure,)
    assert few.final("rounds") == every.final("rounds")


@pytest.mark.parametrize("name", RUNS)
def test_a_run_ends_at_the_first_round_of_its_accuracy(name):
    made = experiment(name, PROBLEMS["logistic"]())
    every, few = (
        simulate(made, seeds=2, budget=Budget(gap=3.7e-3), record=record, keep_model=True)
        for record in (Record(ratio=1), COARSE)
    )
    assert few.ending == every.ending == ("gap", "gap")
    for column in ("rounds", "uplink_bits", "downlink_bits", "gradients", "iteration"):
        np.testing.assert_array_equal(few.final(column), every.final(column))
    np.testing.assert_array_equal(few.bits_to(3.7e-3), few.final("uplink_bits"))
    np.testing.assert_allclose(few.x, every.x, rtol=1e-9)


@pytest.mark.long
def test_batches_and_libraries_agree():
    made = experiment("locodl", PROBLEMS["quadratic"]())
    together = simulate(made, seeds=3, budget=BUDGET, record=COARSE)
    for seed in range(3):
        alone = simulate(made, seeds=[seed], budget=BUDGET, record=COARSE)
        np.testing.assert_array_equal(
            np.ravel(passages(alone)), np.array(passages(together))[:, seed]
        )
    strict = simulate(made, seeds=3, budget=BUDGET, record=COARSE, library="array-api-strict")
    np.testing.assert_array_equal(passages(strict), passages(together))


def test_values_are_computed_near_an_accuracy_only(monkeypatch):
    """Not in every round."""
    made, evaluated, whole = (
        experiment("gd", problem("breast-cancer@9", kappa=300)),
        [],
        Passages._measured,
    )
    monkeypatch.setattr(
        Passages,
        "_measured",
        lambda self, X, *more: evaluated.append(X.shape[1]) or whole(self, X, *more),
    )
    trace = simulate(made, seeds=1, budget=Budget(gap=1e-5), record=Record(ratio=1.3))
    assert sum(evaluated) < trace.final("rounds")[0] / 3


def test_a_comparison_has_no_tie_of_the_grid():
    solved = PROBLEMS["logistic"]()
    targets = (2.3e-2, 1.7e-3)
    found = compare(solved, ["gd", "ef21+top-k:5"], target=targets, seeds=1)
    for one in found.contestants:
        budget = replace(Budget(), gap=targets[-1])
        every = simulate(one.experiment, seeds=1, budget=budget, record=Record(ratio=1))
        for target in targets:
            assert found.costs("bits", target)[one.name] == every.bits_to(target)
