"""A trace by rounds: its columns there, and from which round on they are small."""

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.runs.trace import Trace

FloatArray = NDArray[np.float64]


def settling_round(rounds: NDArray[np.int64], values: FloatArray, limit: float) -> FloatArray:
    """Return the recorded round after which values (K, ...) stay at most a limit, (...).

    It is infinite if the last value exceeds the limit.
    """
    above = values > limit
    last = len(rounds) - 1 - np.argmax(above[::-1], axis=0)
    following = np.append(rounds.astype(float), np.inf)[last + 1]
    return np.where(above.any(axis=0), following, float(rounds[0]))


def by_round(trace: Trace, column: str) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the recorded rounds, (K,), and a column there, (K, R).

    After a run has diverged its values are infinite, and 0 after it has reached its accuracy.
    """
    rounds, row = np.unique(trace.columns["rounds"], return_inverse=True)
    after = [0.0 if ending == "gap" else np.inf for ending in trace.ending]
    values = np.repeat(np.array(after)[None, :], len(rounds), axis=0)
    values[row, trace.columns["run"]] = trace.columns[column]
    values[np.isnan(values)] = np.inf
    return rounds, values
