"""Trainings of networks: every method on a grid of step sizes and thresholds."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.problem import Problem
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.episode.tuning import FloatArray, by_round
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob


@dataclass(frozen=True)
class Training(StoredJob):
    """A method in a case on the whole grid; a job for the pool."""

    plan: TrainingPlan
    case: Case
    rival: str
    store: Store

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"{self.rival} in {self.case}"

    @property
    def steps(self) -> int:
        """Local steps of every run."""
        return self.plan.steps // NETWORKS[self.case.network].shorter

    @property
    def rounds(self) -> int:
        """Rounds of every run."""
        return max(1, self.steps // (self.case.I if RIVALS[self.rival].local else 1))

    @property
    def grid(self) -> Grid:
        """The runs: step sizes, thresholds and seeds."""
        rival, network = RIVALS[self.rival], NETWORKS[self.case.network]
        taus = self.plan.taus if rival.clips else (np.inf,)
        etas = tuple(network.scale * eta for eta in self.plan.etas[slice(*network.some)])
        return Grid({"eta": etas, "tau": taus}, self.plan.seeds)

    def trace(self) -> Trace:
        """Load the trace of the whole grid, or compute and keep it; it has the test accuracy."""
        grid, rival = self.grid, RIVALS[self.rival]
        method = rival.make(grid["eta"], grid["tau"], self.case.I, self.case.S)
        problem = NETWORKS[self.case.network].problem(self.case, grid.runs, self.plan)
        return self.store.trace(
            Experiment.of(method, problem, compressor(rival.compressor)),
            seeds=grid.runs,
            budget=Budget(rounds=self.rounds),
            record=Record(1.0, max(1, self.rounds // self.plan.points)),
            simulated=partial(simulate, potential=_accuracy),
        )


def _accuracy(method: Method, state: Any, problem: Problem) -> Array:
    network: Any = problem
    return network.accuracy(method.model(state))


@dataclass(frozen=True)
class TrainingCurve:
    """The runs of a method with the pair of its grid that has the lowest loss at the end.

    Attributes
    ----------
    eta, tau : float
        The pair.
    rounds, steps, bits : (K,)
        What the recorded points have cost a client: rounds, local steps, bits sent.
    loss, accuracy : (K, seeds)
        Training loss, infinite after a run has diverged, and test accuracy, 0 then.
    diverged : float
        The share of the runs of the whole grid that diverged.
    """

    eta: float
    tau: float
    rounds: FloatArray
    steps: FloatArray
    bits: FloatArray
    loss: FloatArray
    accuracy: FloatArray
    diverged: float

    @property
    def end(self) -> float:
        """Median loss at the end."""
        return float(np.median(self.loss[-1]))

    @property
    def right(self) -> float:
        """Median test accuracy at the end."""
        return float(np.median(self.accuracy[-1]))

    def cost(self, of: str, loss: float) -> float:
        """Return the rounds, steps or bits to a median loss, between points as its logarithm."""
        median = np.log(np.median(self.loss, axis=1))
        below = np.flatnonzero(median <= np.log(loss))
        if not below.size:
            return np.inf
        spent: FloatArray = getattr(self, of)
        k = below[0]
        if k == 0:
            return float(spent[0])
        return float(np.interp(-np.log(loss), -median[k - 1 : k + 1], spent[k - 1 : k + 1]))


TrainingCurves = dict[tuple[Case, str], TrainingCurve]
"""By case and method."""


def train(jobs: Sequence[Training], processes: int | Place | None) -> TrainingCurves:
    """Run the trainings in parallel processes, and choose the best of every grid."""
    return {
        (jobs[place].case, jobs[place].rival): best_curve(jobs[place], trace)
        for place, trace in traces(jobs, processes)
    }


def best_curve(job: Training, trace: Trace) -> TrainingCurve:
    """Choose the pair with the lowest median loss at the end."""
    grid = job.grid
    rounds, loss = by_round(trace, "gap")
    _, accuracy = by_round(trace, "lyapunov")
    _, bits = by_round(trace, "uplink_bits")
    accuracy = np.where(np.isinf(accuracy), 0.0, accuracy)
    loss, accuracy, bits = (x.reshape(len(rounds), *grid.shape) for x in (loss, accuracy, bits))
    ends = np.median(loss[-1], axis=-1)
    eta, tau = map(int, np.unravel_index(np.argmin(ends), ends.shape))
    steps = rounds.astype(np.float64) * (job.steps / job.rounds)
    return TrainingCurve(
        grid.axes["eta"][eta],
        grid.axes["tau"][tau],
        rounds.astype(float),
        steps,
        np.min(bits, axis=(1, 2, 3)),
        loss[:, eta, tau],
        accuracy[:, eta, tau],
        float(np.mean([ending == "diverged" for ending in trace.ending])),
    )


def jobs_of(
    plan: TrainingPlan, store: Store, cases: Iterable[tuple[Case, Sequence[str]]]
) -> list[Training]:
    """Return the trainings of some methods in every case, the longest first."""
    found = [Training(plan, case, name, store) for case, names in cases for name in names]
    return sorted(found, key=lambda job: -len(job.grid.runs))
