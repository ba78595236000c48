"""Leaving clients out changes neither how many steps they take nor who has not ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from bitbound.solvers import local_solve
from bitbound.solvers.local_solve import until_done
from bitbound.solvers.methods.five_gcs_cc import State


class Counted(SimpleNamespace):
    d = 1

    def of(self, clients):
        return self


@pytest.mark.parametrize("large", [1, 1 << 40])
def test_steps_and_who_is_left(large, monkeypatch):
    """Client i needs i steps, but the last needs more than there are."""
    monkeypatch.setattr(local_solve, "_LARGE", large)
    needed = np.array([0, 1, 1, 1, 1, 1, 1, 9.0])[:, None, None]

    def step(s, given, active, problem):
        x = np.where(active, s.x + 1, s.x)
        return State(x, s.v, s.u, s.z), active & (x < s.u)

    state = State(0 * needed, 0 * needed, needed, 0 * needed)
    found, left = until_done(step, state, state, needed > 0, Counted(), 5)
    np.testing.assert_array_equal(found.x, np.minimum(needed, 5))
    np.testing.assert_array_equal(left, needed > 5)
