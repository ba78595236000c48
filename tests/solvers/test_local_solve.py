"""Local solves: each client ends by itself."""

import numpy as np

from certibit.solvers.local_solve import until_done
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
