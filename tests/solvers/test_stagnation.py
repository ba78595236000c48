"""Runs that make no progress are ended with a word; those that make some go on."""

import pytest
from worlds import simulate

from certibit import GD, SCAFFOLD, Budget, CompressedGD, Quadratic, compressor
from certibit.solvers.runs import budget as budgets
from certibit.solvers.runs.budget import PROGRESS, STAGNANT_SHARE

PATIENCE = 500
PROBLEM = Quadratic.random(3, 5, mu=1.0, L=4.0, seed=1)
STAGNANT = {
    "at the noise of its messages": (CompressedGD(gamma=0.1), compressor("natural")),
    "at the bias of its messages": (CompressedGD(gamma=0.1), compressor("top-k:2")),
    "without a step": (GD(gamma=1e-300), None),
}


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    assert budgets.PATIENCE == 100_000
    monkeypatch.setattr(budgets, "PATIENCE", PATIENCE)


@pytest.mark.parametrize("name", STAGNANT)
@pytest.mark.parametrize("seeds", [1, 4])
def test_runs_without_progress_end_with_a_word(name, seeds):
    method, sent = STAGNANT[name]
    budget = Budget(gap=1e-20, iterations=400 * PATIENCE)
    trace = simulate(method, PROBLEM, sent, seeds=seeds, budget=budget)
    assert set(trace.ending) == {"stagnated"}
    for run in range(seeds):
        rows = trace.run(run)
        last = rows["iteration"][-1]
        assert last >= PATIENCE
        early = rows["iteration"] <= (1 - STAGNANT_SHARE) * last
        assert rows["gap"].min() > (1 - PROGRESS) ** 2 * rows["gap"][early].min()


@pytest.mark.parametrize("K", [1, 25])
def test_gradients_are_work_as_iterations_are(K):
    method = SCAFFOLD(K=K, eta_l=1e-300, eta_g=1.0, m=3)
    trace = simulate(method, PROBLEM, seeds=1, budget=Budget(gap=1e-20))
    assert trace.ending == ("stagnated",)
    assert PATIENCE <= trace.final("gradients")[0] <= 1.1 * PATIENCE


@pytest.mark.parametrize("times", [3, 30])
def test_runs_with_progress_go_on(times):
    """However slowly f - f* falls, as long as it falls: here for many times the patience."""
    budget = Budget(gap=0.1 * float(PROBLEM.gap(PROBLEM.x_0)[0]))
    trace = simulate(GD(gamma=1 / (times * PATIENCE)), PROBLEM, seeds=1, budget=budget)
    assert trace.ending == ("gap",)
    assert trace.final("iteration")[0] > times * PATIENCE / 4


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("limit", ["bits", "rounds", "gradients", "seconds"])
def test_runs_with_another_limit_go_on_to_it(limit):
    most = {"bits": 64.0 * 5 * 4 * PATIENCE, "seconds": 3600.0}.get(limit, 4 * PATIENCE)
    budget = Budget(gap=1e-20, iterations=4 * PATIENCE, **{limit: most})
    trace = simulate(GD(gamma=1e-300), PROBLEM, seeds=1, budget=budget)
    assert trace.final("iteration") == [4 * PATIENCE]


def test_the_fraction_done_tells_how_near_a_run_is_to_be_given_up():
    told = []
    budget = Budget(gap=1e-20)
    simulate(GD(gamma=1e-300), PROBLEM, seeds=1, budget=budget, progress=told.append)
    assert told[-1] >= 1
    assert told == sorted(told)
    assert any(0.4 < fraction < 0.6 for fraction in told)
