"""Contests, verdicts and the theorem runs: what is computed from traces, on small cases."""

from dataclasses import replace

import numpy as np
import pytest
from worlds import simulate

from certibit import Budget, Quartics, Record, Store
from certibit.data.relaxed.families import hard_instances
from certibit.figures.episode.clipping_drawing import (
    draw_comparison,
    end_points,
    figure_3,
    smoothed,
    tuning_look,
)
from certibit.figures.episode.clipping_verdicts import (
    figure_3_verdicts,
    lower_bound_verdicts,
    theorem_verdicts,
)
from certibit.figures.episode.experiments import CONSTANTS, SYNTHETIC, complexity_tables
from certibit.figures.episode.theorem_runs import (
    COMPETITORS,
    DELTA,
    HARD_EPSILON,
    SLOPES,
    THEOREM_EPSILON,
    THEOREM_STEPS,
    Slope,
    TheoremRun,
)
from certibit.figures.episode.tuning import (
    TUNINGS,
    Best,
    Contest,
    Entrant,
    best_of_grid,
    by_round,
    settling_round,
)
from certibit.figures.text.verdicts import FAILS, SUPPORTED, UNDECIDED, claim_outcome, verdicts_text
from certibit.solvers.runs.grid import Grid, StepGrid
from certibit.solvers.runs.trace import COLUMNS, Trace
from certibit.theory.cards.episode import MAIN

SMALL = Contest(
    "quartics",
    "H",
    (1.0, 8.0),
    StepGrid((0.1, 0.01), (5.0, 15.0)),
    rounds=12,
    tuning=12,
    accuracy=0.1,
)


def test_judged():
    assert [claim_outcome(x, holds=1, fails=2) for x in (0.5, 1, 1.5, 2, np.inf)] == [
        SUPPORTED, SUPPORTED, UNDECIDED, FAILS, FAILS]  # fmt: skip
    assert [claim_outcome(x, holds=2, fails=1) for x in (0.5, 1, 1.5, 2, np.inf)] == [
        FAILS, FAILS, UNDECIDED, SUPPORTED, SUPPORTED]  # fmt: skip
    assert claim_outcome(np.nan, holds=1, fails=2) == UNDECIDED


def test_settled_is_for_good():
    rounds = np.array([0, 1, 5, 9])
    values = np.array([[9, 9, 0, 9], [0, 9, 0, 0], [9, 0, 0, 0], [0, 0, 0, 9]])
    np.testing.assert_array_equal(settling_round(rounds, values, 1.0), [9, 5, 0, np.inf])


def test_by_round_fills_what_has_ended():
    rows = {"run": [0, 0, 1, 1, 2, 2, 2], "rounds": [0, 1, 0, 1, 0, 1, 3],
            "gap": [4, 1e-9, 4, np.nan, 4, 3, 2]}  # fmt: skip
    columns = {name: np.array(rows.get(name, [0] * 7), dtype=float) for name in COLUMNS}
    columns |= {name: columns[name].astype(int) for name in ("run", "rounds")}
    trace = Trace({"seeds": [0, 1, 2]}, columns, ("gap", "diverged", "rounds"))
    rounds, gap = by_round(trace, "gap")
    np.testing.assert_array_equal(rounds, [0, 1, 3])
    np.testing.assert_array_equal(gap, [[4, 4, 4], [1e-9, np.inf, 3], [0, np.inf, 2]])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    jobs = [Entrant(SMALL, name, 3, Store(folder)) for name in TUNINGS]
    return {job.method: best_of_grid(job, job.trace()) for job in jobs}


def test_the_tuned_pair_is_the_best_of_the_grid(small, tmp_path):
    """Every pair alone, run by itself, scores no better in the rounds of tuning."""
    for place, H in enumerate(SMALL.values):
        best = small["celgc"][place]
        scores = {}
        for eta in SMALL.steps.etas:
            for tau in SMALL.steps.taus:
                one = replace(SMALL, values=(H,), steps=StepGrid((eta,), (tau,)))
                job = Entrant(one, "celgc", 3, Store(tmp_path))
                gap = best_of_grid(job, job.trace())[0].gap
                scores[eta, tau] = np.median(np.log(np.maximum(gap[1:], 1e-300)).mean(axis=0))
                if (eta, tau) == (best.eta, best.tau):
                    np.testing.assert_allclose(gap, best.gap, rtol=1e-9)
        assert min(scores, key=scores.get) == (best.eta, best.tau)


def test_methods_without_clipping_have_no_threshold(small):
    for name, bests in small.items():
        assert all(np.isinf(best.tau) != TUNINGS[name].clips for best in bests)


def test_no_two_tunings_look_alike():
    assert len({str(tuning_look(name)) for name in TUNINGS}) == len(TUNINGS)
    kinds = [(tuning.federated, tuning.clips) for tuning in TUNINGS.values()]
    assert kinds == sorted(kinds, reverse=True)


def test_the_end_points_are_the_models():
    """Distance and gap say on which side of x* a model is."""
    problem = Quartics.of(2.0)
    models = np.array([1.0, 2.0, 2.41, 2.5, 3.1])[None, None, :]
    star = problem.x_star.item()
    best = Best(0.1, 1.0, np.array([5]), problem.gap(models)[None, :],
                (models[0] - star) ** 2, 0.0, 0.0)  # fmt: skip
    np.testing.assert_allclose(end_points(problem, best), models[0, 0])


def test_smoothing_keeps_a_level_and_takes_out_what_fluctuates():
    rounds = np.arange(200)
    noisy = 3 * np.exp(np.random.default_rng(0).standard_normal((200, 4)))
    smooth = smoothed(rounds, noisy)
    np.testing.assert_allclose(smoothed(rounds, np.full((200, 2), 3.0)), 3.0)
    assert np.log(smooth[100:]).std() < 0.5 * np.log(noisy[100:]).std()


def fake(lowest, fastest):
    """A method that ends at ``lowest`` and arrives after ``fastest`` rounds."""
    rounds, gap = np.array([0, 1, 500]), np.ones((3, 2))
    return [
        Best(0.1, 1.0, rounds, gap, gap, speed, end)
        for end, speed in zip(lowest, fastest, strict=True)
    ]


GOOD, BAD = fake([1e-4] * 4, [3, 3, 3, 3]), fake([1e-4, 1e-4, 0.5, 5.0], [3, 9, 20, np.inf])


@pytest.mark.parametrize(
    ("episode", "celgc", "unclipped", "outcomes"),
    [
        (GOOD, BAD, GOOD, [SUPPORTED, SUPPORTED, SUPPORTED, SUPPORTED, FAILS]),
        (BAD, GOOD, BAD, [FAILS, FAILS, FAILS, FAILS, SUPPORTED]),
        (GOOD, BAD, BAD, [SUPPORTED, SUPPORTED, SUPPORTED, SUPPORTED, SUPPORTED]),
    ],
)
def test_verdicts_come_out_otherwise_if_the_runs_do(episode, celgc, unclipped, outcomes):
    results = dict.fromkeys(TUNINGS, unclipped) | {"episode": episode, "celgc": celgc}
    verdicts = figure_3_verdicts(SYNTHETIC, results)
    assert [verdict.outcome for verdict in verdicts[:5]] == outcomes
    assert max(map(len, verdicts_text(each.record() for each in verdicts).splitlines())) <= 80


def test_verdicts_on_the_lower_bound_and_the_theorem():
    M, bound = np.array(SLOPES), np.array(SLOPES) / 2
    flat = dict.fromkeys(COMPETITORS, 0 * M + 100)
    verdicts = lower_bound_verdicts(SLOPES, flat | {COMPETITORS[0]: 10 * M}, bound)
    assert [v.outcome for v in verdicts] == [SUPPORTED, SUPPORTED, SUPPORTED]
    verdicts = lower_bound_verdicts(SLOPES, dict.fromkeys(COMPETITORS, M / 4), bound)
    assert [v.outcome for v in verdicts] == [FAILS, SUPPORTED, FAILS]
    for mean, outcome in ((0.1, SUPPORTED), (3.1, FAILS)):
        slope = Slope(0.0, np.array([0, 9]), np.array([9.0, mean]), np.array([9.0, 3.0]))
        assert theorem_verdicts([slope])[0].outcome == outcome


def test_a_threshold_below_the_gradient_norm_is_stuck_on_the_bias():
    """Clipped minibatch SGD on the second instance: tau < M never arrives, a large one does."""
    grid = Grid({"M": (31.6,), "eta": (1e-3, 3e-3), "tau": (10.0, 1e4)}, 6)
    trace = simulate(
        TUNINGS["clipped-minibatch-sgd"].make(grid["eta"], grid["tau"], 1, 1),
        hard_instances(grid["M"], DELTA, HARD_EPSILON)[1],
        seeds=grid.runs,
        budget=Budget(rounds=3000, gap=1e-4),
        record=Record(1.03, 1),
    )
    rounds, squares = by_round(trace, "squared_gradient")
    slopes = np.sqrt(squares).reshape(len(rounds), *grid.shape).mean(axis=-1)
    needed = settling_round(rounds, slopes, HARD_EPSILON)[0]
    np.testing.assert_array_equal(np.isinf(needed), [[True, False], [True, False]])


@pytest.mark.parametrize("sigma", [0.0, 0.05])
def test_the_theorem_runs_meet_the_hypotheses(sigma, tmp_path):
    job = TheoremRun(sigma, 2, Store(tmp_path))
    constants = job.problem.constants
    assert (constants.L0, constants.L1, constants.kappa, constants.rho) == (2, 1, 1, 1)
    assert constants.sigma == sigma
    chosen = MAIN.parameters(constants, 2, THEOREM_STEPS, THEOREM_EPSILON)
    arguments = (constants, 2, THEOREM_STEPS, THEOREM_EPSILON, chosen.eta, chosen.gamma, chosen.R)
    assert all(condition.holds for condition in MAIN.hypotheses(*arguments))


def test_the_figures_can_be_drawn(small, tmp_path):
    paths = figure_3(SMALL, small, tmp_path)
    panels = [(f"H = {H:g}", SMALL, small, i) for i, H in enumerate(SMALL.values)]
    paths += draw_comparison("all", panels, 1e-5, tmp_path, columns=2)
    assert {path.suffix for path in paths} == {".svg", ".png"}
    assert all(path.stat().st_size > 1000 for path in paths)


def test_the_complexity_tables_name_every_method():
    text = complexity_tables(CONSTANTS, 10.0)
    for method in ("Local SGD", "SCAFFOLD", "CELGC", "EPISODE ", "EPISODE++"):
        assert method in text
    assert "Theorem 1 of EPISODE++; constants not in the talk" in text
    assert max(map(len, text.splitlines())) <= 80
