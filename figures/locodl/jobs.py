"""The curves of panels as jobs for the pool, and what is promised of them."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from certibit.data.problem import StronglyConvexProblem
from certibit.data.problems.selector import strongly_convex_problem
from certibit.figures.locodl.panels import Curve, Panel
from certibit.solvers.compressors.selector import compressor as select_compressor
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.checks.method.promise import Promise, promise
from certibit.theory.setting import Setting


@dataclass(frozen=True)
class Job(StoredJob):
    """One curve of one panel, with the number of seeds and the store of traces."""

    panel: Panel
    curve: Curve
    seeds: int
    store: Store

    @property
    def key(self) -> Hashable:
        """The inputs that determine the trace; jobs of two panels may share them."""
        panel = self.panel
        return panel.problem, panel.kappa, panel.budget, self.curve, self.seeds

    @property
    def name(self) -> str:
        """The name of the job in error messages."""
        return f"{self.curve.method} on {self.panel.problem}"

    def trace(self) -> Trace:
        """Load the trace, or compute and keep it."""
        experiment = experiment_of(self.panel, self.curve)
        return self.store.trace(experiment, seeds=self.seeds, budget=self.panel.budget)


def experiment_of(panel: Panel, curve: Curve) -> ConvexExperiment:
    """Make the problem of a panel, and the method and the compressor of a curve."""
    problem = _problem(panel.problem, panel.kappa)
    compressor = select_compressor(curve.compressor) if curve.compressor else None
    method = parameters(curve.method, problem, compressor, curve.rule, **dict(curve.options))
    return Experiment.of(method, problem, compressor)


@lru_cache(maxsize=3)
def _problem(selector: str, kappa: float) -> StronglyConvexProblem:
    return strongly_convex_problem(selector, kappa=kappa)


def strongest_promise(panel: Panel, curve: Curve) -> Promise | None:
    """Return the strongest promise of the theorems that hold for a curve; None if there is none."""
    experiment = experiment_of(panel, curve)
    held = METHODS[curve.method].holding(experiment.method, Setting.at(experiment))
    promises = [promise(theorem, experiment) for theorem in held]
    return min(promises, key=lambda each: each.bits_to(panel.floor, panel.downlink), default=None)
