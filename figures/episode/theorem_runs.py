"""EPISODE with the parameters of its own theorem: the average gradient norm against 3 eps."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.noise import Uniform
from certibit.data.relaxed.families import Tilted
from certibit.data.relaxed.shapes import Cosh
from certibit.figures.episode.tuning import FloatArray, by_round
from certibit.figures.places.delivery import Place
from certibit.figures.pool import traces
from certibit.solvers.methods.episode import EPISODE
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.theory.cards.episode import MAIN

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
