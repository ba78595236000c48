"""Trainings of a recurrent network: every method on a grid of step sizes and thresholds."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.data.deep.digit_sequences import digit_sequences
from certibit.data.problem import Problem
from certibit.figures.episode.recorded_rounds import FloatArray, by_round
from certibit.figures.episode.tunings import TUNINGS
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method
from certibit.solvers.methods.ef21_sgdm import EF21SGDM
from certibit.solvers.methods.sgd import SGD
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob

MOMENTUM = 0.2
"""eta of EF21-SGDM."""


@dataclass(frozen=True)
class Rival:
    """A method of a training: how it is made, drawn and compressed.

    Attributes
    ----------
    label : str
        Its name in figures.
    make : callable
        Makes the method from eta, tau, I and S.
    clips : bool
        Whether it uses tau.
    local : bool
        Whether it takes I steps in a round; otherwise one.
    compressor : str
        Its name.
    colour, marker, line : drawn so
    """

    label: str
    make: Callable[[Any, Any, int, int | None], Method]
    clips: bool
    local: bool = True
    compressor: str = "identity"
    colour: str = "#444444"
    marker: str = "+"
    line: str = "-"


def _sgd(eta: Any, tau: Any, I: int, S: int | None) -> Method:  # noqa: E741  (the paper's symbol)
    return SGD(gamma=eta)


def _with_feedback(eta: Any, tau: Any, I: int, S: int | None) -> Method:  # noqa: E741
    return EF21SGDM(gamma=eta, eta=MOMENTUM)


RIVALS: dict[str, Rival] = {
    name: Rival(
        tuning.label, tuning.make, tuning.clips,
        colour=tuning.colour, marker=tuning.marker, line="-" if tuning.clips else "--",
    )
    for name, tuning in TUNINGS.items()
    if tuning.federated
} | {
    "sgd": Rival("SGD", _sgd, False, False, colour="#7f7f7f", marker="p", line="--"),
    "ef21-sgdm 10 %": Rival(
        "EF21-SGDM, top 10 %", _with_feedback, False, False, "top-k:436", "#CC79A7", "P", "--"
    ),
    "ef21-sgdm 1 %": Rival(
        "EF21-SGDM, top 1 %", _with_feedback, False, False, "top-k:44", "#882255", "X", "--"
    ),
}  # fmt: skip
"""The methods by name: those of the EPISODE papers, and two with compression."""


@dataclass(frozen=True)
class TrainingPlan:
    """What all trainings share.

    Parameters
    ----------
    steps : int
        Local steps of every client.
    etas, taus : tuple of float
        The grid.
    seeds : int
        Seeds of initial parameters and batches.
    points : int
        Recorded points, about.
    measured_seeds : int
        Seeds of the trainings whose curvature is measured.
    images : int
        Images of all clients together.
    """

    steps: int = 400
    etas: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    taus: tuple[float, ...] = (0.5, 2.0)
    seeds: int = 3
    points: int = 10
    measured_seeds: int = 2
    images: int = 1437


@dataclass(frozen=True)
class Case:
    """Where methods train: similarity in percent, local steps and clients of a round."""

    similarity: float
    I: int = 4  # noqa: E741  (the paper's symbol)
    S: int | None = None


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
    def rounds(self) -> int:
        """Rounds of every run."""
        return self.plan.steps // (self.case.I if RIVALS[self.rival].local else 1)

    @property
    def grid(self) -> Grid:
        """The runs: step sizes, thresholds and seeds."""
        taus = self.plan.taus if RIVALS[self.rival].clips else (np.inf,)
        return Grid({"eta": self.plan.etas, "tau": taus}, self.plan.seeds)

    def trace(self) -> Trace:
        """Load the trace of the whole grid, or compute and keep it; it has the test accuracy."""
        grid, rival = self.grid, RIVALS[self.rival]
        method = rival.make(grid["eta"], grid["tau"], self.case.I, self.case.S)
        problem = digit_sequences(self.case.similarity, grid.runs, images=self.plan.images)
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
    steps = rounds.astype(np.float64) * (job.plan.steps / job.rounds)
    return TrainingCurve(
        job.plan.etas[eta],
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
