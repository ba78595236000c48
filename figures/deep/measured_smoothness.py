"""Relaxed smoothness of a network along its training: |Hess| against |grad|, and what bounds it.

EPISODE assumes |Hess f_i| <= L0 + L1 |grad f_i| and |grad f_i| <= kappa + rho |grad f| everywhere.
Here both are measured at the models of a training. The pairs (L0, L1) and (kappa, rho) are fitted
to the runs of all seeds but the last, as the line that lies above all points and is lowest on
average; whether they hold is asked of the last seed.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import scipy

from certibit.data.arrays import Array
from certibit.data.deep.curvature import curvature_at
from certibit.data.problem import Problem
from certibit.figures.deep.networks import NETWORKS, Case, TrainingPlan
from certibit.figures.deep.rivals import RIVALS
from certibit.figures.deep.trainings import TrainingCurves
from certibit.figures.episode.tuning import FloatArray
from certibit.figures.text.verdicts import OWN, ClaimVerdict, Quotation, judged
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store, StoredJob

RELAXED = Quotation(
    "the Lipschitz constant of the gradient scales linearly in terms of the gradient norm",
    "EPISODE, section 1, after Zhang et al. (2019)",
)
_ALLOWED, _BROKEN = 1.1, 1.5
"""How far above the fitted line a point of another seed may lie, and what breaks it."""
_GROWS, _FALLS = 0.5, 0.0
"""Rank correlations of |Hess| and |grad|."""


@dataclass(frozen=True)
class MeasuredTraining(StoredJob):
    """A training by EPISODE whose curvature is measured on its way; a job for the pool."""

    plan: TrainingPlan
    case: Case
    eta: float
    tau: float
    store: Store

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"curvature in {self.case}"

    def trace(self) -> Trace:
        """Load or compute a trace whose column ``lyapunov`` holds :func:`_norms`."""
        network, seeds = NETWORKS[self.case.network], tuple(range(self.plan.measured_seeds))
        rounds = max(1, self.plan.steps // network.shorter // self.case.I)
        problem = network.problem(self.case, seeds, self.plan)
        return self.store.trace(
            Experiment.of(
                RIVALS["episode"].make(self.eta, self.tau, self.case.I, self.case.S),
                replace(problem, title=f"{problem.title}:curvature"),
            ),
            seeds=seeds,
            budget=Budget(rounds=rounds),
            record=Record(1.0, max(1, rounds // self.plan.points)),
            simulated=partial(simulate, potential=_norms),
        )


def _norms(method: Method, state: Any, problem: Problem) -> Array:
    """Return |grad f|, |Hess f|, the |grad f_i| and the |Hess f_i| at the models: (R, 2 + 2n)."""
    network: Any = problem
    x = method.model(state)
    rows = []
    for run in range(x.shape[2]):
        found = curvature_at(network, x[:, :, run : run + 1])
        rows.append([found.slope, found.curvature, *found.slopes, *found.curvatures])
    return np.array(rows)


@dataclass(frozen=True)
class MeasuredSmoothness:
    """What was measured at K models of every seed of a training.

    Attributes
    ----------
    case : Case
        The training.
    slope, curvature : (K, seeds)
        |grad f| and |Hess f|.
    slopes, curvatures : (K, seeds, n)
        Those of the f_i.
    """

    case: Case
    slope: FloatArray
    curvature: FloatArray
    slopes: FloatArray
    curvatures: FloatArray

    @staticmethod
    def of(case: Case, trace: Trace) -> "MeasuredSmoothness":
        """Take the norms out of a trace; runs that have diverged are left out from there on."""
        norms_of: Any = trace.columns["lyapunov"]
        runs = [norms_of[trace.columns["run"] == run] for run in range(len(trace.seeds))]
        points = min(map(len, runs))
        norms = np.stack([run[:points] for run in runs], axis=1)
        n = (norms.shape[2] - 2) // 2
        return MeasuredSmoothness(
            case, norms[..., 0], norms[..., 1], norms[..., 2 : 2 + n], norms[..., 2 + n :]
        )

    def fit(self, seeds: slice) -> tuple[float, float]:
        """Return (L0, L1) of the f_i at the models of some seeds."""
        return lowest_line(self.slopes[:, seeds].ravel(), self.curvatures[:, seeds].ravel())

    def unlike(self, seeds: slice) -> tuple[float, float]:
        """Return (kappa, rho) at the models of some seeds."""
        shared = np.broadcast_to(self.slope[..., None], self.slopes.shape)
        return lowest_line(shared[:, seeds].ravel(), self.slopes[:, seeds].ravel())

    @property
    def correlation(self) -> float:
        """Rank correlation of |Hess f_i| and |grad f_i| over all models and clients."""
        found = scipy.stats.spearmanr(self.slopes.ravel(), self.curvatures.ravel())
        return float(found.statistic)


def lowest_line(t: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Return a, b >= 0 with a + b t >= values at all points, and the least mean of a + b t."""
    some = np.isfinite(t) & np.isfinite(values)
    t, values = t[some], values[some]
    found: Any = scipy.optimize.linprog(
        [1.0, float(t.mean())], A_ub=-np.stack([np.ones_like(t), t], axis=1), b_ub=-values
    )
    return float(found.x[0]), float(found.x[1])


def smoothness_verdicts(measured: Sequence[MeasuredSmoothness]) -> list[ClaimVerdict]:
    """Judge EPISODE's assumptions at the models of another seed than those of the fit."""
    verdicts = []
    fitted, last = slice(0, -1), slice(-1, None)
    for one in measured:
        L0, L1 = one.fit(fitted)
        kappa, rho = one.unlike(fitted)
        above = float(np.nanmax(one.curvatures[:, last] / (L0 + L1 * one.slopes[:, last])))
        apart = float(np.nanmax(one.slopes[:, last] / (kappa + rho * one.slope[:, last, None])))
        of_mean = lowest_line(one.slope[:, fitted].ravel(), one.curvature[:, fitted].ravel())
        where = f"at {one.case}"
        everywhere = "EPISODE assumes such constants everywhere"
        verdicts += [
            judged(
                f"L0 and L1 of one training bound |Hess f_i| in another {where}",
                OWN, f"L0 = {L0:.3g}, L1 = {L1:.3g} fitted (of f itself {of_mean[0]:.3g}, "
                f"{of_mean[1]:.3g}); another seed has at most {above:.2f} times as much",
                above, _ALLOWED, _BROKEN, everywhere,
            ),
            judged(
                f"kappa and rho of one training bound |grad f_i| in another {where}",
                OWN, f"kappa = {kappa:.3g}, rho = {rho:.3g} fitted; another seed has at most "
                f"{apart:.2f} times as much", apart, _ALLOWED, _BROKEN, everywhere,
            ),
            judged(
                f"the smoothness of the f_i grows with their gradients {where}",
                RELAXED, f"rank correlation {one.correlation:.2f} over models and clients; with "
                f"L1 = 0 the least L0 is {np.nanmax(one.curvatures[:, fitted]):.3g}",
                one.correlation, _GROWS, _FALLS, NETWORKS[one.case.network].label,
            ),
        ]  # fmt: skip
    return verdicts


def measurements(
    plan: TrainingPlan, curves: TrainingCurves, cases: Sequence[Case], store: Store
) -> list[MeasuredTraining]:
    """Return the trainings to be measured: by EPISODE, with its best pair in every case."""
    best = [(case, curves[case, "episode"]) for case in cases]
    return [MeasuredTraining(plan, case, curve.eta, curve.tau, store) for case, curve in best]
