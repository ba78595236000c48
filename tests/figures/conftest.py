"""Traces made by hand, with values that are known."""

import numpy as np
import pytest

from bitbound.solvers.runs.trace import COLUMNS, Trace


@pytest.fixture
def made():
    """Return a maker of traces: the bits and f - f* of every run, and what ended it."""

    def make(bits, gaps, ending=None):
        runs = len(bits)
        sizes = [len(run) for run in bits]
        columns = {name: np.zeros(sum(sizes)) for name in COLUMNS}
        columns["run"] = np.repeat(np.arange(runs), sizes)
        columns["uplink_bits"] = np.concatenate(bits).astype(float)
        columns["gap"] = np.concatenate(gaps).astype(float)
        columns["rounds"] = np.concatenate([np.arange(size) for size in sizes])
        columns["gradients"] = 3.0 * columns["rounds"]
        settings = {"seeds": list(range(runs)), "method": {"parameters": {"gamma": 0.5}}}
        return Trace(settings, columns, tuple(ending or ["gap"] * runs))

    return make
