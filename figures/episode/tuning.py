"""Tuning of many methods on one problem over a grid of step sizes and thresholds."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.noise import Uniform
from certibit.data.relaxed.families import crossed_cosh, tilted_wells
from certibit.data.relaxed.polynomials import Quartics
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.solvers.clipping import UNCLIPPED
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.grid import Grid, StepGrid
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CLIPPING

_PLAIN = {
    "episode": ("episode-unclipped", "EPISODE (unclipped)"),
    "celgc": ("fedavg", "FedAvg"),
    "clipped-scaffold": ("scaffold", "SCAFFOLD"),
}
"""Names and labels of methods without their clipping."""
_MEMORY = {"momentum-clipping": {"beta": 0.9}, "ef21-sgdm": {"eta": 0.2}}
"""Parameters that are not tuned."""


@dataclass(frozen=True)
class Tuning:
    """A method that is tuned, with or without its clipping.

    Attributes
    ----------
    card : Card
        Of the method, whose colour and marker it is drawn with.
    label : str
        Its label in figures.
    clips : bool
        Whether it uses a threshold.
    compressor : str
        Its name.
    """

    card: Card
    label: str
    clips: bool = True
    compressor: str = "identity"

    @property
    def local(self) -> bool:
        """Whether it takes I steps in a round; otherwise one."""
        return "I" in self.card.roles

    @property
    def federated(self) -> bool:
        """Whether its clients communicate."""
        return not self.card.on_one_machine

    def make(self, eta: Any, tau: Any, I: int, S: int | None) -> Method:  # noqa: E741
        """Make it with eta and tau, numbers or (1, 1, R), I local steps and cohorts of S."""
        values = self.card.steps(eta, tau) | _MEMORY.get(self.card.name, {})
        values |= {"gamma": UNCLIPPED} if self.card.threshold and not self.clips else {}
        counts = {name: count for name, count in (("I", I), ("S", S)) if name in self.card.roles}
        return self.card.method(**values, **counts)


def _tunings() -> Iterator[tuple[str, Tuning]]:
    for name, card in CLIPPING.items():
        if card.threshold and "I" in card.roles:
            yield name, Tuning(card, card.label)
        if name in _PLAIN:
            plain, label = _PLAIN[name]
            yield plain, Tuning(card, label, clips=False)


TUNINGS: dict[str, Tuning] = dict(
    sorted(_tunings(), key=lambda pair: (not pair[1].federated, not pair[1].clips))
)
"""By name: federated and clipped, federated and not clipped, on one machine."""


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


PROBLEMS: dict[str, Callable[[FloatArray], Any]] = {
    "quartics": lambda H: Quartics.of(H, noise=Uniform(1.0)),
    "crossed cosh": lambda X: crossed_cosh(X, Uniform(1.0)),
    "tilted wells": lambda kappa: tilted_wells(kappa, Uniform(1.0)),
}
"""Problems by name; each takes the values of the contest's axis, (1, 1, R)."""
LOCAL_STEPS = 8
"""I of all contests."""


@dataclass(frozen=True)
class Contest:
    """A family of problems, the grid that every method is tuned on, and the rounds.

    Parameters
    ----------
    problem : str
        Name in ``PROBLEMS``.
    axis : str
        The symbol of the parameter that the problems differ in.
    values : tuple of float
        Its values.
    steps : StepGrid
        Step sizes and thresholds.
    rounds : int
        Length of every run.
    tuning : int
        A method is tuned for its first so many rounds.
    accuracy : float
        The target of f - f*.
    participants : int, optional
        Clients of a round; all if left open.
    """

    problem: str
    axis: str
    values: tuple[float, ...]
    steps: StepGrid
    rounds: int
    tuning: int
    accuracy: float
    participants: int | None = None

    def grid(self, method: str, seeds: int) -> Grid:
        """Return the batch of runs of a method; its shape is (values, etas, taus, seeds)."""
        return self.steps.runs(TUNINGS[method].clips, seeds, **{self.axis: self.values})


@dataclass(frozen=True)
class Entrant(StoredJob):
    """A method in a contest, a job for the pool."""

    contest: Contest
    method: str
    seeds: int
    store: Store

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"{self.method} on {self.contest.problem}"

    def trace(self) -> Trace:
        """Load the trace of the whole grid, or compute and keep it."""
        contest = self.contest
        grid = contest.grid(self.method, self.seeds)
        return self.store.trace(
            Experiment.of(
                TUNINGS[self.method].make(
                    grid["eta"], grid["tau"], LOCAL_STEPS, contest.participants
                ),
                PROBLEMS[contest.problem](grid[contest.axis]),
            ),
            seeds=grid.runs,
            budget=Budget(rounds=contest.rounds),
            record=Record(1.02, 1),
        )


@dataclass(frozen=True)
class Best:
    """The runs of a method at its best step size and threshold, for one value of the axis.

    Attributes
    ----------
    eta, tau : float
        The best pair of the grid.
    rounds : (K,)
        The rounds that are recorded.
    gap : (K, seeds)
        f - f*; infinite where a run has diverged.
    distance : (K, seeds)
        |x - x*|^2.
    fastest, lowest : float
        The best values over the whole grid, each on its own: the round after which the median gap
        stays at most the accuracy, and the median gap in the last fifth of the rounds.
    """

    eta: float
    tau: float
    rounds: NDArray[np.int64]
    gap: FloatArray
    distance: FloatArray
    fastest: float
    lowest: float

    @property
    def end(self) -> float:
        """Median gap, over seeds, in the last fifth of the rounds."""
        return float(_end(self.rounds, self.gap))

    def reach(self, accuracy: float) -> float:
        """Return the round after which the median gap stays at most an accuracy."""
        return float(_reach(self.rounds, self.gap, accuracy))


Results = dict[str, list[Best]]
"""For every method, the best of its grid for every value of the axis."""


def hold(
    contests: Iterable[Contest],
    methods: Iterable[str],
    store: Store,
    seeds: int,
    processes: int | Place | None,
) -> dict[Contest, Results]:
    """Run the methods in all contests, in parallel processes, and tune each for every value."""
    methods = list(methods)
    jobs = [Entrant(contest, name, seeds, store) for contest in contests for name in methods]
    results: dict[Contest, Results] = {job.contest: {name: [] for name in methods} for job in jobs}
    for place, trace in traces(jobs, processes):
        job = jobs[place]
        results[job.contest][job.method] = best_of_grid(job, trace)
    return results


def best_of_grid(job: Entrant, trace: Trace) -> list[Best]:
    """Choose for every value the pair with the least gap in the rounds shown.

    That is the median over seeds of the geometric mean over the recorded
    rounds 1 to ``tuning``.
    """
    contest, grid = job.contest, job.contest.grid(job.method, job.seeds)
    taus = grid.axes["tau"]
    rounds, gap = by_round(trace, "gap")
    _, distance = by_round(trace, "distance")
    gap, distance = (x.reshape(len(rounds), *grid.shape) for x in (gap, distance))
    early = (rounds > 0) & (rounds <= contest.tuning)
    score = np.median(np.log(np.maximum(gap[early], 1e-300)).mean(axis=0), axis=-1)
    best = []
    for place in range(len(contest.values)):
        eta, tau = contest.steps.best(score[place])
        some: Any = (slice(None), place, eta, tau)
        best.append(
            Best(
                contest.steps.etas[eta],
                taus[tau],
                rounds,
                gap[some],
                distance[some],
                fastest=float(_reach(rounds, gap[:, place], contest.accuracy).min()),
                lowest=float(_end(rounds, gap[:, place]).min()),
            )
        )
    return best


def _end(rounds: NDArray[np.int64], gap: FloatArray) -> FloatArray:
    """Median over seeds of the median gap in the last fifth of the rounds; (K, ..., seeds)."""
    late = gap[rounds >= 0.8 * rounds[-1]]
    end: FloatArray = np.median(np.median(late, axis=0), axis=-1)
    return end


def _reach(rounds: NDArray[np.int64], gap: FloatArray, accuracy: float) -> FloatArray:
    """First recorded round from which the median gap over seeds is at most an accuracy."""
    return settling_round(rounds, np.median(gap, axis=-1), accuracy)
