"""A run that was stopped and goes on against one that was not."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.checkpoint import Carried, Checkpoint
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.verdict import Verdict, worst_of

ITERATIONS, STOPS = 9, (1, 4, 7)


class _StoppedError(Exception):
    pass


class _Stopping(Checkpoint):
    """Keeps the runs after an iteration, and stops them there."""

    stop: float = 0

    def write_if_due(self, batch: int, carried: Carried) -> None:
        if carried.iteration.max() >= self.stop:
            self.write(batch, carried)
            raise _StoppedError


def goes_on(experiment: Experiment[Any], seed: int = 0) -> Verdict:
    """Check that runs that are stopped, kept and gone on with are those that were not, bit for bit.

    They are stopped at three places, each time after a file was written and before it is read.
    """
    options: dict[str, Any] = {
        "seeds": [seed, seed + 1],
        "budget": Budget(iterations=ITERATIONS),
        "record": Record(every=1),
    }
    whole = simulate(experiment, **options)
    with TemporaryDirectory() as folder:
        checkpoint = _Stopping(Path(folder) / "run.npz", {})
        for checkpoint.stop in STOPS:
            try:
                simulate(experiment, checkpoint=checkpoint, **options)
            except _StoppedError:
                continue
        checkpoint.stop = np.inf
        parts = simulate(experiment, checkpoint=checkpoint, **options)
    found = [(0.0 if parts.ending == whole.ending else np.inf, "the ending")]
    for name, column in whole.columns.items():
        same = np.array_equal(column, parts.columns[name], equal_nan=True)
        found.append((0.0 if same else np.inf, name))
    worst, name = worst_of(found)
    advice = (
        f"{name} differs after runs were stopped and resumed: look at what a checkpoint keeps of "
        "a run, at its random streams, and at numbers that a method keeps outside of its state."
    )
    return Verdict("stopped runs go on", worst, 0.0, f"stopped {len(STOPS)} times", advice)
