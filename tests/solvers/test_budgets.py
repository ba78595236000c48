"""Budgets end runs, recording leaves them alone, and what is impossible is refused."""

import re
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from worlds import simulate

from certibit import GD, Budget, LoCoDL, LogisticRegression, Quadratic, Record, Refusal, compressor
from certibit.data.files.own_data import Dataset
from certibit.solvers.runs import engine

RAND_2, THREE = compressor("rand-k:2"), np.full((1, 1, 3), 0.1)
SMALL, LOCODL = Quadratic.random(3, 5), LoCoDL(0.1, 0.3, 0.3, 0.5, 1.5)


@pytest.mark.parametrize(
    ("budget", "ending", "column", "limit"),
    [
        (Budget(bits=500), "bits", "uplink_bits", 500),
        (Budget(rounds=9), "rounds", "rounds", 9),
        (Budget(iterations=33), "iterations", "iteration", 33),
    ],
)
def test_budgets_end_a_run_at_once(problem, locodl, budget, ending, column, limit):
    trace = simulate(locodl, problem, RAND_2, seeds=4, budget=budget)
    assert trace.ending == (ending,) * 4
    for run_number in range(4):
        spent = trace.run(run_number)[column]
        assert spent[-1] >= limit
        assert (spent[:-1] < limit).all()
    step = {"bits": RAND_2.bits(5), "rounds": 1}.get(ending, np.inf)  # the first round beyond
    assert (trace.final(column) < limit + step).all()


def test_a_budget_of_gradients(problem):
    trace = simulate(GD(0.01), problem, seeds=2, budget=Budget(gradients=7))
    assert trace.ending == ("gradients",) * 2
    assert trace.final("gradients").tolist() == [7, 7]


def test_accuracy_ends_each_run_by_itself(problem, locodl):
    trace = simulate(
        locodl, problem, RAND_2, seeds=6, budget=Budget(gap=1e-7), record=Record(1.0, 1)
    )
    assert trace.ending == ("gap",) * 6
    assert len(set(trace.final("iteration"))) > 1
    for run_number in range(6):
        gaps = trace.run(run_number)["gap"]
        assert gaps[-1] <= 1e-7
        assert (gaps[:-1] > 1e-7).all()
    np.testing.assert_array_equal(trace.bits_to(1e-7), trace.final("uplink_bits"))
    assert np.isnan(trace.bits_to(1e-30)).all()


def test_bits_to_an_accuracy_is_the_first_recorded_point_there(problem, locodl):
    trace = simulate(
        locodl, problem, RAND_2, seeds=3, budget=Budget(gap=1e-6), record=Record(1.0, 1)
    )
    for run_number, bits in enumerate(trace.bits_to(1e-3)):
        rows = trace.run(run_number)
        first = np.flatnonzero(rows["gap"] <= 1e-3)[0]
        assert rows["uplink_bits"][first] == bits


def test_record_spacing_is_geometric(problem, locodl):
    record = Record(ratio=1.5, every=2)
    trace = simulate(locodl, problem, RAND_2, seeds=1, budget=Budget(rounds=40), record=record)
    spaced = {0, 2, 4, 6, 9, 14, 21, 32, 40}
    others = [place for place, r in enumerate(trace.columns["rounds"]) if r not in spaced]
    assert spaced <= set(trace.columns["rounds"])
    for place in others:  # where a power of ten is reached
        before = np.min(trace.columns["gap"][:place])
        assert np.floor(np.log10(trace.columns["gap"][place])) < np.floor(np.log10(before))


def asked(**arguments):
    options = {"method": LOCODL, "chosen": RAND_2, "budget": Budget(rounds=1), **arguments}
    return simulate(options.pop("method"), SMALL, **options)


REFUSED = {
    "a biased compressor": (lambda: asked(chosen=compressor("top-k:2")), "top-k:2 is biased and "),
    "too many entries": (lambda: asked(chosen=compressor("rand-k:6")), "rand-k:6 keeps 6 of d = 5"),
    "no seeds": (lambda: asked(seeds=[]), "must be at least one"),
    "equal seeds": (lambda: asked(seeds=[1, 1]), "all different"),
    "a negative seed": (lambda: asked(seeds=[-1]), "whole numbers >= 0"),
    "half a seed": (lambda: asked(seeds=[0.5]), "whole numbers >= 0"),
    "a number of seeds": (lambda: asked(seeds=1.5), "the seeds 1.5 are not all whole numbers >= 0"),
    "no budget": (lambda: asked(budget=1e-3), "0.001 is no budget; give such as Budget"),
    "a library": (lambda: asked(library="jax"), "'jax' is unknown"),
    "a batch": (lambda: asked(method=GD(np.full((1, 1, 3), 0.1)), chosen=None, seeds=2),
                "2 seeds and parameters for 3 runs"),
    "sizes": (lambda: asked(method=replace(LOCODL, gamma=THREE, omega=THREE[..., :2]), seeds=3),
              "for 2 and for 3 runs"),
    **{f"{limit} {bad}": (lambda limit=limit, bad=bad: Budget(**{limit: bad}),
                          f"{limit} is not possible")
       for limit in ("bits", "rounds", "gap", "iterations", "squared_gradient")
       for bad in (0, -1, float("nan"), float("inf"))},
    **{str(bad): (lambda bad=bad: Record(**bad), "both must be at least 1")
       for bad in ({"ratio": 0.5}, {"every": 0}, {"ratio": float("nan")})},
    "two accuracies": (lambda: Budget(gap=0.1, squared_gradient=0.2),
                       "0.1 gap and 0.2 squared_gradient; give one accuracy"),
    "a measure": (lambda: Budget().aimed(1e-3, "distance"), "the measure 'distance' is unknown"),
}  # fmt: skip


@pytest.mark.parametrize(("call", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_run_is_refused(call, sentence):
    with pytest.raises(Refusal, match=re.escape(sentence)):
        call()


class Silent(GD):
    """A method that keeps all for itself."""

    name = "silent"

    def communicate(self, s, problem, channel):
        return s


def test_bits_of_a_method_that_sends_nothing_are_not_waited_for(problem):
    with pytest.raises(Refusal, match="can never be met: nothing was sent in 1000 rounds"):
        simulate(Silent(0.01), problem, seeds=2, budget=Budget(bits=1e6))
    for budget in (Budget(rounds=1100), Budget(bits=1e6, rounds=1100)):
        assert simulate(Silent(0.01), problem, seeds=2, budget=budget).final("rounds")[0] == 1100


class Memory:
    """A machine with 60 kB."""

    total = 60_000


@pytest.mark.parametrize(
    ("seeds", "told"),
    [
        (100_000, "a batch of 100000 runs would take about 0.0192 GB of memory and this machine"),
        (300, "gd with 3 clients, 5 features and 300 runs at once would take about 7.2e-05"),
    ],
)
def test_what_the_machine_cannot_hold_is_refused_before_the_run(monkeypatch, problem, seeds, told):
    monkeypatch.setattr("psutil.virtual_memory", Memory)
    monkeypatch.setattr(engine, "simulated_world", None)
    with pytest.raises(Refusal, match=told):
        simulate(GD(0.01), problem, seeds=seeds, budget=Budget(rounds=1))


def test_problems_that_the_machine_cannot_hold_are_refused(monkeypatch):
    monkeypatch.setattr("psutil.virtual_memory", Memory)
    with pytest.raises(Refusal, match="a quadratic of 9 clients and 300 features would take about"):
        Quadratic.random(9, 300)
    data = Dataset("wide", scipy.sparse.csr_array(([1.0], ([0], [10**6]))), np.ones(1), (0, 1), "")
    with pytest.raises(Refusal, match="wide with 1000001 features over 1 clients would take about"):
        LogisticRegression.from_data(data, 1, kappa=10.0)
