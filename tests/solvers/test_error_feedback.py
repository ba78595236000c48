"""Error feedback on (L0, L1)-smooth problems: by hand, against its siblings, and at rest."""

import numpy as np
from worlds import world

from certibit import Clip21, NormalisedEF21, Quadratic, compressor
from certibit.data.relaxed.families import crossed_cosh

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
