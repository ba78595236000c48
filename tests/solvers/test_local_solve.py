"""Local solves: each client ends by itself, and compiled ones are those of numpy."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
from comparisons import assert_same_spending, assert_same_state

import certibit
from certibit import Experiment, Quadratic, compressor, parameters
from certibit.solvers.fast.compiled_solve import compiled_solve
from certibit.solvers.fast.fast_world import fast_world
from certibit.solvers.local_solve import until_done
from certibit.solvers.methods.five_gcs_cc import State
from certibit.solvers.simulation.iteration import iterations_of
from certibit.solvers.simulation.simulated_world import simulated_world

PROBLEM = certibit.problem("breast-cancer@9", kappa=1e3)
RULE = {"accuracy": 0.5, "L": 1.0, "mu": 0.1, "most": 3}


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


@pytest.mark.parametrize("options", [{}, {"cohort": 4}, {"adaptive": False}, {"K": 2}])
@pytest.mark.parametrize("lent", [False, True])
def test_a_compiled_solve_is_that_of_numpy(options, lent, monkeypatch):
    """Also where the state is lent to the round, and where solves begin once again."""
    if lent:
        monkeypatch.setattr("certibit.solvers.fast.columns.ALL_LARGE", 1)
    sent = compressor("rand-k:2")
    method = replace(parameters("5gcs-cc", PROBLEM, sent, "best"), **options)
    experiment = Experiment.of(method, PROBLEM, sent)
    found = []
    for fast in (True, False):
        channel, oracle = simulated_world(experiment, range(3))
        state = method.start(channel.template, oracle, channel)
        world = fast_world(channel, oracle) if fast else (channel, oracle)
        iterations = iterations_of(method, state, *world, not lent)
        for iteration in range(8):
            state, *_ = iterations.after(state, np.full(3, iteration), 8)
        found.append((state, oracle.ledger))
    (compiled, counted), (plain, expected) = found
    assert_same_state(compiled, plain, rtol=0, atol=1e-13)
    assert_same_spending(counted, expected)


@dataclass(frozen=True)
class Given:
    u: np.ndarray


def solve(gradient, problem=PROBLEM, dtype=np.float64):
    start = np.ones((problem.n, problem.d, 2), dtype=dtype)
    going, given = np.ones((problem.n, 1, 2), dtype=bool), Given(0.1 * start)
    return compiled_solve(problem, gradient, start, start[:1], given, going, **RULE)


LINEAR = {
    "with u": lambda y, s, active, problem: 0.5 * (problem.grad(y, active=active) - y) + s.u,
    "without u": lambda y, s, active, problem: 2.0 * problem.grad(y),
}
OTHERS = {
    "two gradients": lambda y, s, active, problem: problem.grad(y) + problem.grad(s.u),
    "elsewhere": lambda y, s, active, problem: problem.grad(y + s.u),
    "none": lambda y, s, active, problem: y - s.u,
    "not linear": lambda y, s, active, problem: problem.grad(y) * (y * y),
    "for each run": lambda y, s, active, problem: problem.grad(y) * np.array([[[1.0, 2.0]]]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_what_is_linear_but_for_a_gradient_is_compiled(name):
    """The gradients at the end are those of the problem there."""
    gradient, ones = LINEAR[name], np.ones((PROBLEM.n, PROBLEM.d, 2))
    z, change, _ = solve(gradient)
    plain = SimpleNamespace(grad=lambda y, active=None: PROBLEM.grad(y))
    expected = gradient(ones[:1] + z, Given(0.1 * ones), None, plain)
    np.testing.assert_allclose(change, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


@pytest.mark.parametrize("name", OTHERS)
def test_other_gradients_are_left_to_numpy(name):
    assert solve(OTHERS[name]) is None


def test_where_nothing_is_compiled_numpy_does_it():
    gradient = LINEAR["with u"]
    assert solve(gradient, Quadratic.random(3, 4, mu=1.0, L=10.0)) is None
    assert solve(gradient, dtype=np.float32) is None
