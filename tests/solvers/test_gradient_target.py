"""|grad f|^2 as a target: where runs end, what it costs, and what the methods promise of it."""

import numpy as np
import pytest

from certibit import CARDS, EF, GD, Budget, LoCoDL, Quartics, Refusal, compressor, problem
from certibit.solvers.runs import budget as runs_budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.covered_run import run, usual_measure

CONVEX = problem("breast-cancer@9", kappa=50)
MODEL = problem("breast-cancer@9:nonconvex")
QUADRATIC = problem("quadratic:d=6@5:nonconvex")
EPSILON = 1e-3
SENT = {"ef21": "top-k:3", "marina": "rand-k:3", "dasha": "rand-k:3", "diana": "rand-k:3",
        "econtrol": "top-k:3"}  # fmt: skip
GIVEN = {"diana": {"gamma": 0.02, "alpha": 0.1}, "econtrol": {"gamma": 0.005, "b": 0.1},
         }  # fmt: skip


def made(name, solved):
    card, sent = CARDS[name], SENT.get(name)
    sent = compressor(sent) if sent else None
    method = card.method(**GIVEN[name]) if name in GIVEN else card.parameters(solved, sent)
    return Experiment.of(method, solved, sent)


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(
    ("name", "solved"),
    [
        *((name, MODEL) for name in ("gd", "ef21", "marina", "dasha", "diana", "econtrol")),
        *((name, QUADRATIC) for name in ("gd", "ef21", "marina", "dasha")),
    ],
)
def test_methods_reach_a_small_gradient(name, solved):
    """And the trace is recorded to the first point below the target, with the gap f - f_inf."""
    experiment = made(name, solved)
    trace = simulate(experiment, seeds=2, budget=Budget(squared_gradient=EPSILON, rounds=50_000))
    assert trace.ending == ("squared_gradient",) * 2
    assert trace.measure == "squared_gradient"
    for seed in range(2):
        columns = trace.run(seed)
        below = columns["squared_gradient"] <= EPSILON
        assert below.nonzero()[0].tolist() == [len(below) - 1]
        assert trace.bits_to(EPSILON)[seed] == columns["uplink_bits"][-1]
        assert columns["gap"][-1] < columns["gap"][0]
        assert (columns["gap"] > 0).all()


def test_a_strongly_convex_problem_may_have_the_target_too():
    """Of a composite view it is the gradient of f + g."""
    locodl = CARDS["locodl"].parameters(CONVEX, compressor("rand-k:3"))
    assert isinstance(locodl, LoCoDL)
    trace = simulate(
        Experiment.of(locodl, CONVEX, compressor("rand-k:3")),
        seeds=1, budget=Budget(squared_gradient=1e-3), keep_model=True,
    )  # fmt: skip
    whole = CONVEX.plain.grad(trace.x).mean(axis=0)
    assert trace.final("squared_gradient")[0] == pytest.approx((whole**2).sum(), rel=1e-9)
    assert trace.ending == ("squared_gradient",)
    # mu-strongly convex: f - f* <= |grad f|^2/(2 mu)
    mu = CONVEX.plain.constants.mu
    columns = trace.columns
    assert (columns["gap"] <= columns["squared_gradient"] / (2 * mu) * (1 + 1e-9)).all()


def test_a_run_with_another_target_may_be_asked_for_it():
    trace = simulate(made("gd", QUADRATIC), seeds=1, budget=Budget(gap=1e-6))
    by_gap, by_slope = trace.bits_to(1e-4), trace.bits_to(1e-4, measure="squared_gradient")
    assert by_gap == trace.bits_to(1e-4, measure="gap")
    assert 0 < by_slope < by_gap
    assert np.isnan(trace.bits_to(1e-30, measure="squared_gradient"))
    with pytest.raises(Refusal, match="the measure 'slope' is unknown; choose gap or squared_grad"):
        trace.bits_to(1e-4, measure="slope")


def test_a_run_whose_gradient_does_not_fall_stagnates(monkeypatch):
    """EF with clients that differ, and a step that is not small: it stays at a distance."""
    monkeypatch.setattr(runs_budget, "PATIENCE", 1000)
    experiment = Experiment.of(EF(gamma=0.3), QUADRATIC, compressor("top-k:1"))
    trace = simulate(experiment, seeds=1, budget=Budget(squared_gradient=1e-12))
    assert trace.ending == ("stagnated",)
    assert trace.columns["squared_gradient"].min() > 1e-8


def test_progress_is_that_of_the_gradient():
    told = []
    simulate(made("gd", MODEL), seeds=1, budget=Budget(squared_gradient=1e-8), progress=told.append)
    assert told == sorted(told)
    assert told[-1] == 1
    assert any(0.3 < fraction < 0.7 for fraction in told)


def test_a_trace_draws_what_it_aimed_at():
    axes = run("gd", MODEL, seeds=1).plot().axes[0]
    assert axes.get_ylabel() == "|grad f|^2"
    assert axes.lines[0].get_ydata()[-1] <= 1e-6


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("solved", "target"), [(MODEL, 0.1), (QUADRATIC, 0.4)], ids=["model", "quadratic"]
)
def test_they_run_on_a_strict_library(solved, target):
    settings = {"seeds": 2, "budget": Budget(squared_gradient=target)}
    plain = simulate(made("ef21", solved), **settings)
    strict = simulate(made("ef21", solved), **settings, library="array-api-strict")
    for name in ("squared_gradient", "gap", "uplink_bits"):
        np.testing.assert_allclose(strict.columns[name], plain.columns[name], rtol=1e-9)


def test_the_usual_target_is_that_of_the_problem():
    assert (usual_measure(CONVEX), usual_measure(MODEL)) == ("gap", "squared_gradient")
    assert run("ef21", MODEL, "top-k:6", seeds=1).ending == ("squared_gradient",)
    assert run("gd", CONVEX, seeds=1).ending == ("gap",)


def test_they_run_on_relaxed_problems_too():
    trace = run(GD(0.005), Quartics.of(H=2), seeds=1)
    assert trace.ending == ("squared_gradient",)


def test_a_target_replaces_another():
    assert Budget(gap=0.1, rounds=5).aimed(0.2, "squared_gradient") == Budget(
        squared_gradient=0.2, rounds=5
    )
