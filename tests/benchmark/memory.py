"""What an experiment allocates while it runs, beside its problem."""

import gc
import tracemalloc
from typing import Any

from iterations import Iterations

from certibit import Experiment

ITERATIONS = 20


def peak_arrays(experiment: Experiment[Any], runs: int) -> float:
    """Return the peak of what start and iterations hold, in arrays of the shape (n, d, R)."""
    Iterations(experiment, runs)()  # loads and compiles what is needed
    gc.collect()
    tracemalloc.start()
    try:
        one = Iterations(experiment, runs)
        for _ in range(ITERATIONS):
            one()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak / (8 * experiment.n * experiment.d * runs)
