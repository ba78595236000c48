"""Local solves: each client ends by itself."""

import numpy as np
import pytest

from certibit import Quadratic, Refusal
from certibit.solvers.local_solve import gradient_steps, minimise, until_done
from certibit.solvers.methods.five_gcs_cc import State


def test_steps_and_who_is_left():
    """The first client needs no step, and the last needs more than there are."""
    needed = np.array([0, 1, 1, 1, 1, 1, 1, 9.0])[:, None, None]

    def step(s, active):
        x = np.where(active, s.x + 1, s.x)
        return State(x, s.v, s.u, s.z), active & (x < s.u)

    state = State(0 * needed, 0 * needed, needed, 0 * needed)
    found, left = until_done(step, state, needed > 0, 5)
    np.testing.assert_array_equal(found.x, np.minimum(needed, 5))
    np.testing.assert_array_equal(left, needed > 5)


@pytest.mark.parametrize("count", [-1, -60])
def test_a_negative_number_of_steps_is_refused(count):
    """range(-1) is no step, while a factor to the power -1 is above all."""
    problem = Quadratic.random(2, 3, mu=1.0, L=2.0)
    x, active = np.zeros((2, 3, 1)), np.ones((2, 1, 1), dtype=bool)
    limits = {"accuracy": 0.1, "L": 2.0, "mu": 1.0}
    for solve in (
        lambda: gradient_steps(problem.grad, x, active, problem, step=0.1, count=count),
        lambda: minimise(None, x, x[:1], None, active, problem, most=count, **limits),
    ):
        with pytest.raises(Refusal, match=f"{count} local steps cannot be done"):
            solve()
