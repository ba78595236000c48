"""Error feedback on (L0, L1)-smooth problems: by hand, against its siblings, and at rest."""

import numpy as np
import pytest
from worlds import simulate, world

from certibit import CARDS, Budget, Clip21, NormalisedEF21, Quadratic, Quartics, compressor
from certibit.data.relaxed.families import crossed_cosh
from certibit.theory.checks.method.conduct import identities

UNLIKE = Quadratic.random(4, 3, mu=1.0, L=10.0, seed=1)


def states(method, problem, sent=None, rounds=400):
    return list(world(method, problem, sent).walk(rounds))


def test_steps_of_normalised_ef21_have_one_length():
    walked = states(NormalisedEF21(0.01), crossed_cosh(2.0), compressor("sign"), 20)
    steps = np.diff([s.x for s in walked], axis=0)
    np.testing.assert_allclose(np.linalg.norm(steps, axis=2), 0.01, rtol=1e-12)
    before, after = walked[0], walked[1]
    direction = before.g_mean / np.linalg.norm(before.g_mean, axis=1, keepdims=True)
    np.testing.assert_allclose(after.x, before.x - 0.01 * direction, rtol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("sent", ["top-k:1", "sign", "identity"])
def test_normalised_ef21_comes_as_near_as_its_steps_are_long(sent):
    """The gradient estimates follow: where it ends, |grad f| is about L gamma."""
    ends = []
    for gamma in (1e-2, 1e-3):
        last = states(NormalisedEF21(gamma), UNLIKE, compressor(sent), 4000)[-1]
        ends.append(np.linalg.norm(UNLIKE.grad(last.x).mean(axis=0), axis=0).max())
    assert ends[1] < ends[0] / 4
    assert ends[0] < 40 * 10.0 * 1e-2


def test_clip21_without_a_threshold_is_gradient_descent():
    assert identities(CARDS["clip21"], UNLIKE).holds


def test_clip21_clips_for_a_while_only_and_ends_at_the_solution():
    method = Clip21(0.05, 0.3)
    walked = states(method, UNLIKE)
    sent = np.diff([s.g for s in walked], axis=0)
    lengths = np.linalg.norm(sent, axis=2)
    clipped = np.isclose(lengths, method.tau, rtol=1e-9).any(axis=(1, 2))
    assert lengths.max() <= method.tau * (1 + 1e-12)
    assert clipped[0]
    assert not clipped[200:].any()
    np.testing.assert_allclose(walked[-1].x, UNLIKE.x_star + 0 * walked[-1].x, atol=1e-6)
    np.testing.assert_allclose(walked[-1].g, UNLIKE.grad_star + 0 * walked[-1].g, atol=1e-5)


@pytest.mark.parametrize("method", [Clip21(0.01, 1.0), NormalisedEF21(0.02)], ids=repr)
def test_the_gap_falls_far_from_the_solution(method):
    trace = simulate(method, Quartics.of(H=1), seeds=1, budget=Budget(rounds=300))
    assert trace.final("gap")[0] < 0.2 * trace.columns["gap"][0]
