"""Curves, panels and figures of the LoCoDL paper, their runs, and what is promised of them."""

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import lru_cache

from certibit.data.files.manifest import CATALOGUE
from certibit.data.problem import StronglyConvexProblem
from certibit.data.problems.selector import strongly_convex_problem
from certibit.figures.looks import method_label
from certibit.solvers.compressors.selector import compressor as select_compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.store.store import Store, StoredJob
from certibit.solvers.total_bits import bits_name
from certibit.theory.catalogue.catalogue import METHODS, parameters
from certibit.theory.checks.method.promise import Promise, promise
from certibit.theory.setting import Setting

COUNTED = bits_name(0.0)
"""Label of the axes of bits."""
COMPRESSOR_LABELS = {"rand-k+natural": "rand-k + natural", "l1": "l1-selection"}
"""How the kinds of compressors are written in figures; others are called by their selector."""


NAMES = {
    ("locodl", "ours"): "LoCoDL (ours)",
    ("5gcs-cc", "ours-adaptive"): "5GCS-CC (ours)",
    ("5gcs-cc", "5gcs-adaptive"): "5GCS-CC (5GCS)",
    ("diana", "b"): "DIANA (b)",
}
"""How legends write a method with a rule: *ours* has the constants of a theorem proved by us, and
*5GCS* those of that method's paper. Local solves of both end by the criterion of our theorem."""


@dataclass(frozen=True)
class Curve:
    """One method with one compressor.

    Parameters
    ----------
    method : str
        Name of the method, as in the catalogue of theory.
    compressor : str, optional
        Selector of the compressor; none for a method that has none or its own.
    rule : str, optional
        The rule of theory for the parameters; by default the first of the method.
    options : tuple of (str, number)
        What the rule leaves open.
    claimed : bool
        Whether claims of the paper are about it; else it is drawn beside those that they are about.
    drawn : bool
        Whether it is in the figure; else it is there for the claims and tables only.
    """

    method: str
    compressor: str | None = None
    rule: str | None = None
    options: tuple[tuple[str, float], ...] = ()
    claimed: bool = True
    drawn: bool = True

    @property
    def ours(self) -> bool:
        """Whether its name says that its parameters are ours."""
        return self.method_name.endswith("(ours)")

    @property
    def kind(self) -> str | None:
        """The selector of the compressor without its numbers, such as ``rand-k+natural``."""
        return self.compressor and re.sub(r":\d+", "", self.compressor)

    @property
    def k(self) -> int | None:
        """The k of a rand-k."""
        found = re.match(r"rand-k:(\d+)", self.compressor or "")
        return int(found[1]) if found else None

    @property
    def label(self) -> str:
        """The name that the paper's legends give it, such as ``LoCoDL: rand-2 + natural``."""
        parts = [f"{name} = {value:g}" for name, value in self.options]
        if self.kind is not None:
            kind = COMPRESSOR_LABELS.get(self.kind, self.kind)
            parts.insert(0, kind.replace("rand-k", f"rand-{self.k}"))
        return f"{self.method_name}: {', '.join(parts)}" if parts else self.method_name

    @property
    def method_name(self) -> str:
        """How the method is written, with what tells its rule from that of another curve."""
        return NAMES.get((self.method, self.rule or ""), method_label(self.method))


@dataclass(frozen=True)
class Panel:
    """One system of axes with its curves.

    Parameters
    ----------
    title : str
        What stands above it.
    problem : str
        Selector of the problem, such as ``a5a@87``.
    kappa : float
        Condition number L/mu of the problem in the composite view.
    bits : float
        Where the axis of bits per client ends.
    floor : float
        Where the axis of f - f* ends; it starts at 1.
    curves : tuple of Curve
        What is drawn.
    most_bits : float, optional
        Bits at which a run is given up; by default, where the axis ends.
    """

    title: str
    problem: str
    kappa: float
    bits: float
    floor: float
    curves: tuple[Curve, ...]
    most_bits: float | None = None

    @property
    def budget(self) -> Budget:
        """When a run ends: below the floor or at the end of its bits."""
        return Budget(bits=self.most_bits or self.bits, gap=self.floor)

    @property
    def size(self) -> int:
        """Numbers in the vectors of all clients, n d; n where d is not in the catalogue."""
        dataset, n = self.problem.rsplit("@", 1)
        return int(n) * (CATALOGUE[dataset].features if dataset in CATALOGUE else 1)


@dataclass(frozen=True)
class Figure:
    """Panels side by side, written to one file.

    Parameters
    ----------
    name : str
        Stem of its files.
    panels : tuple of Panel
        From left to right.
    """

    name: str
    panels: tuple[Panel, ...]


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
    return min(promises, key=lambda each: each.bits_to(panel.floor), default=None)
