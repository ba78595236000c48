"""Traces made by hand, with values that are known, and jobs in this process."""

from concurrent.futures import Executor, Future

import numpy as np
import pytest
from compared import ENTRIES, PROBLEM, TARGETS

from certibit import compare
from certibit.figures import pool
from certibit.solvers.runs.trace import COLUMNS, Trace


@pytest.fixture(scope="session")
def made():
    """Return a maker of traces: the bits and f - f* of every run, and what ended it."""

    def make(bits, gaps, ending=None):
        runs = len(bits)
        sizes = [len(run) for run in bits]
        columns = {name: np.zeros(sum(sizes)) for name in COLUMNS}
        columns["run"] = np.repeat(np.arange(runs), sizes)
        columns["uplink_bits"] = columns["busiest_bits"] = np.concatenate(bits).astype(float)
        columns["gap"] = np.concatenate(gaps).astype(float)
        columns["rounds"] = np.concatenate([np.arange(size) for size in sizes])
        columns["gradients"] = 3.0 * columns["rounds"]
        settings = {
            "problem": {"name": "made", "n": 2, "d": 3},
            "seeds": list(range(runs)),
            "method": {"parameters": {"gamma": 0.5}},
        }
        return Trace(settings, columns, tuple(ending or ["gap"] * runs))

    return make


class Serial(Executor):
    def submit(self, function, /, *arguments, **named):
        future = Future()
        future.set_result(function(*arguments, **named))
        return future


@pytest.fixture
def executor():
    """An executor that runs what is submitted at once, here."""
    return Serial()


@pytest.fixture
def serial(executor, monkeypatch):
    """Run the jobs of the pool in this process."""
    monkeypatch.setattr(pool, "_executor", lambda processes: executor)


@pytest.fixture(scope="session")
def found():
    """Methods beside each other on a quadratic."""
    return compare(PROBLEM, ENTRIES, target=TARGETS, seeds=4)
