"""What is proved of Clip21 and of normalised EF21, along runs; and constants that are too bold."""

from itertools import pairwise

import numpy as np
import pytest
from worlds import world

from certibit.data.problems.quadratic import Quadratic
from certibit.data.relaxed.families import crossed_cosh, tilted_wells
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.clip21 import Clip21
from certibit.solvers.methods.normalised_ef21 import NormalisedEF21
from certibit.theory.cards.clip21 import ClippedDifferences
from certibit.theory.cards.normalised_ef21 import NormalisedFeedback, normalised_growth
from certibit.theory.formulas.gradient_step import gradient_step_factor

QUADRATICS = [Quadratic.random(4, 3, mu=1.0, L=10.0, seed=seed) for seed in range(3)]


def lengths(v):
    return np.linalg.norm(np.asarray(v), axis=1).ravel()


@pytest.mark.parametrize("problem", QUADRATICS, ids=["0", "1", "2"])
@pytest.mark.parametrize("part", [0.02, 0.2, 2.0])
def test_clip21_clips_no_longer_than_promised_and_is_gradient_descent_then(problem, part):
    L, G = problem.constants.L, max(lengths(problem.grad(problem.x_0)))
    tau, theorem = part * G, ClippedDifferences()
    gamma = min(tau / (4 * L * G), 1 / L)
    assert all(condition.holds for condition in theorem.conditions(L, G, gamma, tau))
    last = theorem.clipped_rounds(G, tau)
    walked = list(world(Clip21(gamma, tau), problem).walk(last + 60))
    sent = [lengths(b.g - a.g).max() for a, b in pairwise(walked)]
    clipped = np.isclose(sent, tau, rtol=1e-9)
    assert not clipped[last:].any()
    assert last == 0 or clipped[0]
    factor = gradient_step_factor(gamma, problem.constants.mu, problem.constants.L_f)
    distances = [float(np.sum((s.x - problem.x_star) ** 2)) for s in walked[last:]]
    for before, after in pairwise(distances):
        assert after <= factor * before * (1 + 1e-9)


@pytest.mark.parametrize("gamma", [1e-4, 0.1])
def test_half_the_rounds_that_clip21_may_clip_are_not_enough(gamma):
    problem, tau = QUADRATICS[0], 0.05
    G = max(lengths(problem.grad(problem.x_0)))
    rounds = ClippedDifferences().clipped_rounds(G, tau) // 2
    walked = list(world(Clip21(gamma, tau), problem).walk(rounds))
    sent = lengths(walked[-1].g - walked[-2].g)
    assert sent.max() == pytest.approx(tau, rel=1e-9)


PROBLEMS = {"cosh": crossed_cosh(2.0), "wells": tilted_wells(2.0, n=4, d=3)}


def feedback_run(problem, sent, gamma, rounds):
    """Return |grad f| and V along a run; the compressor draws nothing."""
    alpha = compressor(sent).alpha(problem.d)
    weight = NormalisedFeedback().weight(gamma, alpha)
    slopes, values = [], []
    for s in world(NormalisedEF21(gamma), problem, compressor(sent)).walk(rounds):
        gradients = problem.grad(s.x)
        slopes.append(lengths(gradients.mean(axis=0, keepdims=True))[0])
        gap = float(np.asarray(problem.gap(s.x)).ravel()[0])
        values.append(gap + weight * lengths(gradients - s.g).mean())
    return np.array(slopes), np.array(values)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("sent", ["top-k:1", "sign", "identity"])
@pytest.mark.parametrize("part", [1.0, 0.1])
def test_normalised_ef21_decreases_as_promised(name, sent, part):
    problem, theorem = PROBLEMS[name], NormalisedFeedback()
    c, alpha = problem.constants, compressor(sent).alpha(problem.d)
    limits = theorem.conditions(c, 1.0, alpha)[1:]
    gamma = part * min(condition.right for condition in limits)
    assert all(condition.holds for condition in theorem.conditions(c, gamma, alpha))
    slopes, values = feedback_run(problem, sent, gamma, 200)
    for slope, before, after in zip(slopes, values, values[1:], strict=False):
        assert before - after >= theorem.decrease(c, gamma, alpha, slope) - 1e-12 * before
    mean = slopes[:-1].mean()
    assert mean <= theorem.mean_slope(c, gamma, alpha, values[0], len(slopes) - 1)


def test_the_decrease_is_about_the_best_that_holds():
    """Uncompressed and far away, where V = f - f*, thrice as much is not kept."""
    problem, theorem = PROBLEMS["wells"], NormalisedFeedback()
    assert normalised_growth(1.0) == 0.5
    slopes, values = feedback_run(problem, "identity", 1e-3, 50)
    promised = [theorem.decrease(problem.constants, 1e-3, 1.0, slope) for slope in slopes[:-1]]
    assert (-np.diff(values) < 3 * np.array(promised)).any()
