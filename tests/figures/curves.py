"""Curves for the tests of places, which workers elsewhere import by name."""

import os
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path

from certibit import DIANA, Budget, Experiment, Quadratic, compressor
from certibit.solvers.store.store import Store, StoredJob


@dataclass(frozen=True)
class CurveOfDIANA(StoredJob):
    """A curve of so many iterations."""

    seed: int
    store: Store
    iterations: int = 50

    @property
    def name(self):
        return f"diana {self.seed}"

    def trace(self):
        problem = Quadratic.random(3, 4, mu=1.0, L=1e4)
        experiment = Experiment.of(DIANA(gamma=1e-5, alpha=0.5), problem, compressor("rand-k:2"))
        budget = Budget(rounds=self.iterations)
        return self.store.trace(experiment, seeds=[self.seed], budget=budget)


@dataclass(frozen=True)
class Value:
    """A job without a store."""

    number: int
    folder: Path = field(default_factory=Path)

    @property
    def name(self):
        return f"value {self.number}"

    def trace(self):
        return self.number**2


class Deadly(Value):
    """A job that ends its worker, every time; it leaves a line for each."""

    def trace(self):
        with self.folder.joinpath("deaths").open("a") as file:
            file.write("dead\n")
        time.sleep(0.5)
        os.kill(os.getpid(), signal.SIGKILL)
