"""EPISODE with the parameters of its own theorem: the average gradient norm against 3 eps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.noise import Uniform
from certibit.data.relaxed.families import Cosh, Tilted, hard_instances
from certibit.figures.episode.tuning import TUNINGS, FloatArray, by_round, settling_round
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.solvers.methods.episode import EPISODE
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.grid import Grid
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.theory.cards.episode import MAIN

SLOPES = (10.0, 31.6, 100.0, 316.0, 1000.0)
"""The values of M, the gradient norm at the start."""
DELTA, HARD_EPSILON = 1000.0, 4.0
COMPETITORS = ("clipped-minibatch-sgd", "episode-plus-plus", "clipped-sgd")
"""The first two with S = 1; the last sees all clients."""
ETAS = tuple(10.0 ** np.arange(-3.75, 0.26, 0.25))
TAUS = tuple(10.0 ** np.arange(0.0, 4.1, 0.5))
_CAP = (6_000, 6_000, 60_000)
_SEEDS = (1, 6, 1)


@dataclass(frozen=True)
class _Trial(StoredJob):
    """A method on one of the instances, a job for the pool."""

    method: str
    instance: int
    store: Store

    @property
    def grid(self) -> Grid:
        """The batch of runs; the slow instance is the same for all M, only the bias is random."""
        slopes = SLOPES if self.instance < 2 else SLOPES[:1]
        return Grid({"M": slopes, "eta": ETAS, "tau": TAUS}, _SEEDS[self.instance])

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"{self.method} on hard instance {self.instance}"

    def trace(self) -> Trace:
        """Load the trace of the whole grid, or compute and keep it."""
        grid = self.grid
        return self.store.trace(
            Experiment.of(
                TUNINGS[self.method].make(grid["eta"], grid["tau"], 1, 1),
                hard_instances(grid["M"], DELTA, HARD_EPSILON)[self.instance],
            ),
            seeds=grid.runs,
            budget=Budget(rounds=_CAP[self.instance], gap=1e-4),
            record=Record(1.03, 1),
        )


def _rounds_needed(trial: _Trial, trace: Trace) -> FloatArray:
    """Return the round after which the mean |f'| over seeds stays at most eps, (M, eta, tau).

    It is infinite if there is none. Rounds are resolved to 3 %.
    """
    rounds, squares = by_round(trace, "squared_gradient")
    slopes = np.sqrt(squares).reshape(len(rounds), *trial.grid.shape).mean(axis=-1)
    return settling_round(rounds, slopes, HARD_EPSILON)


def best_rounds(store: Store, processes: int | Place | None) -> dict[str, FloatArray]:
    """Return the least rounds, over the grid, of the worst of three instances: (M,), by method."""
    trials = [_Trial(method, instance, store) for method in COMPETITORS for instance in range(3)]
    worst = {method: np.zeros((len(SLOPES), len(ETAS), len(TAUS))) for method in COMPETITORS}
    for place, trace in traces(trials, processes):
        trial = trials[place]
        worst[trial.method] = np.maximum(worst[trial.method], _rounds_needed(trial, trace))
    return {method: rounds.min(axis=(1, 2)) for method, rounds in worst.items()}


THEOREM_STEPS, THEOREM_EPSILON, NOISES = 4, 1.0, (0.0, 0.05)
"""I, eps, and the values of sigma."""
_EVERY = 20


@dataclass(frozen=True)
class TheoremRun(StoredJob):
    """f_i = cosh x +- x from x_0 = 3 with Theorem 1's step size, length and rounds."""

    sigma: float
    seeds: int
    store: Store

    @property
    def problem(self) -> Tilted:
        """Two clients; (L0, L1, kappa, rho) = (2, 1, 1, 1)."""
        noise = Uniform(self.sigma) if self.sigma else None
        return Tilted.of(Cosh(), [[1.0], [-1.0]], 3.0, noise)

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"episode with noise {self.sigma:g}"

    def trace(self) -> Trace:
        """Load the trace, or compute and keep it; every 20th round is recorded."""
        problem = self.problem
        chosen = MAIN.parameters(problem.constants, problem.n, THEOREM_STEPS, THEOREM_EPSILON)
        return self.store.trace(
            Experiment.of(EPISODE(chosen.eta, chosen.gamma, THEOREM_STEPS), problem),
            seeds=self.seeds if self.sigma else 1,
            budget=Budget(rounds=chosen.R),
            record=Record(1.0, _EVERY),
        )


@dataclass(frozen=True)
class Slope:
    """The gradient norm along a theorem run.

    Attributes
    ----------
    sigma : float
        Size of the noise.
    rounds : (K,)
        Recorded rounds.
    running : (K,)
        The mean over seeds and over the rounds so far of |f'(x_r)|.
    promised : (K,)
        What the theorem says of it; at most 3 eps at the end.
    """

    sigma: float
    rounds: NDArray[np.int64]
    running: FloatArray
    promised: FloatArray


def theorem_runs(store: Store, seeds: int, processes: int | Place | None) -> list[Slope]:
    """Run EPISODE as its theorem says, without and with noise."""
    jobs = [TheoremRun(sigma, seeds, store) for sigma in NOISES]
    slopes = []
    for place, trace in traces(jobs, processes):
        job = jobs[place]
        rounds, squares = by_round(trace, "squared_gradient")
        mean = np.sqrt(squares).mean(axis=1)
        running = np.cumsum(mean) / np.arange(1, len(mean) + 1)
        parameters = trace.specification["method"]["parameters"]
        constants, eta = job.problem.constants, parameters["eta"]
        promised = np.array(
            [MAIN.mean_norm(constants, THEOREM_STEPS, THEOREM_EPSILON, eta, int(r)) for r in rounds]
        )
        slopes.append(Slope(job.sigma, rounds, running, promised))
    return sorted(slopes, key=lambda slope: slope.sigma)
