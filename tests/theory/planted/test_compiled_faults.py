"""A fault in compiled code changes the steps of a method that runs it, on data."""

import numpy as np
import pytest
from faults import BESIDE_COMPILED, BY_PART, COMPILED
from planting import compiled_from, planted

from certibit import METHODS, Budget, Experiment, compressor, problem
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.iteration import simulated_world, world_of_runs

DATA = problem("breast-cancer@9", kappa=1e3)


def trace_of(subject, use, iterations):
    """Return the columns of a run with compiled code, or without."""
    name, rule, sent = subject
    chosen = compressor(sent) if sent else None
    experiment = Experiment.of(METHODS[name].parameters(DATA, chosen, rule), DATA, chosen)
    with use_extensions(use):
        return simulate(experiment, seeds=40, budget=Budget(iterations=iterations)).columns


def is_right(subject):
    """Whether many runs are those without compiled code, and all rounds of a long one count."""
    compiled, plain = (trace_of(subject, use, 8) for use in ("always", "never"))
    alike = all(
        np.allclose(column, plain[name], rtol=1e-9, equal_nan=True)
        for name, column in compiled.items()
    )
    long = trace_of(subject, "always", 1000)
    counted = np.array_equal(long["rounds"], long["synchronisations"])
    points = np.random.default_rng(0).standard_normal((DATA.n, DATA.d, 5))
    with use_extensions("always"):
        experiment = Experiment.of(METHODS["gd"].method(1.0), DATA)
        _, oracle = world_of_runs(*simulated_world(experiment, range(5)))
        same = np.allclose(oracle.grad(points), experiment.problem.grad(points), rtol=1e-9)
    return alike and counted and same


SUBJECTS = {fault.subject: 0 for part in (COMPILED, BESIDE_COMPILED) for fault in BY_PART[part]}


@pytest.mark.long
@pytest.mark.parametrize("subject", SUBJECTS)
def test_right_code_is_as_plain(subject):
    assert is_right(subject)


@pytest.mark.long
@pytest.mark.parametrize("fault", BY_PART[COMPILED], ids=lambda fault: fault.name)
def test_a_fault_of_compiled_code_is_caught(fault):
    with compiled_from(fault):
        assert not is_right(fault.subject)


@pytest.mark.long
@pytest.mark.parametrize("fault", BY_PART[BESIDE_COMPILED], ids=lambda fault: fault.name)
def test_a_fault_beside_compiled_code_is_caught(fault):
    with planted(fault, compiled=True):
        assert not is_right(fault.subject)
