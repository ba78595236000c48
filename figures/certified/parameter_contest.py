"""The paper's parameters against those with the fewest certified bits: promised and measured."""

import math
from dataclasses import asdict, dataclass, replace

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.data.problems.selector import strongly_convex_problem
from certibit.figures.certified.measured_bits import Runs
from certibit.figures.costs import costs_to
from certibit.figures.locodl.panels import Curve, Panel, experiment_of
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor as select_compressor
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.certify import Weights, certify
from certibit.theory.certificates.search import objective_value, optimise, per_decade
from certibit.theory.setting import Setting
from certibit.theory.worlds.orbits import StepCost, orbits

MEASURED = 1e-5
"""The f - f* to which runs are measured, or the best that both kinds of parameters reach."""

MOST_ITERATIONS = 30_000
"""Iterations at which a run is given up."""

KS = (1, 2, 4, 8, 16, 32)
"""The k among which the compressor rand-k + natural is chosen."""

_WEIGHTS: dict[str, Weights] = {
    "locodl": "free",
    "diana": "free",
    "adiana": "fixed",
    "scaffnew": "fixed",
    "compressed-scaffnew": "fixed",
}
"""The methods compared, and the weights of their Lyapunov functions in the search."""
_EVALUATIONS = 80


@dataclass(frozen=True)
class Saving:
    """Bits per client that certified parameters save on a panel: up + downlink_weight * down.

    Attributes
    ----------
    panel, method
        Where.
    paper, chosen : str
        Both kinds of parameters.
    published, certified : float
        Per decade of the Lyapunov function with the paper's parameters: by the theorem, and by
        the certificate.
    optimal : float
        Per decade, certified, with the parameters found.
    accuracy : float
        The f - f* that both kinds of runs reach.
    measured, measured_optimal : float
        To this accuracy, medians over the seeds.
    downlink_weight : float
        Of a bit received.
    """

    panel: str
    method: str
    paper: str
    chosen: str
    published: float
    certified: float
    optimal: float
    accuracy: float
    measured: float
    measured_optimal: float
    downlink_weight: float = 0.0

    @property
    def promised_saving(self) -> float:
        """How many times fewer bits are promised."""
        return self.published / self.optimal

    @property
    def measured_saving(self) -> float:
        """How many times fewer bits are measured."""
        return self.measured / self.measured_optimal


def parameter_saving(
    panel: Panel, curve: Curve, runs: Runs, evaluations: int = _EVALUATIONS
) -> Saving:
    """Search parameters with fewer certified bits than the paper's, and run both.

    Parameters
    ----------
    panel : Panel
        The problem, its condition number, and the bits at which a run is given up.
    curve : Curve
        The method with the paper's parameters.
    runs : Runs
        Seeds, store, and the weight of a bit received in what is compared.
    evaluations : int
        Programmes of the search.
    """
    first = experiment_of(panel, curve)
    card, where = METHODS[curve.method], Setting.at(first)
    unit = replace(where, constants=_in_units_of_mu(where.constants))
    same = card.at(unit, curve.rule, **dict(curve.options))
    _, cost = orbits(same, where.n, where.d, where.compressor)
    theorem = card.best_theorem(same, unit, published=True)
    decrease = 1 - theorem.rate(same, unit) if theorem else math.nan
    candidates: list[Compressor | None] = [None]
    if curve.compressor:
        candidates = [
            select_compressor(f"rand-k:{k}+natural") for k in KS if k <= max(1, where.d // 2)
        ]
    found = optimise(
        curve.method,
        where.n,
        where.mu,
        where.L,
        where.d,
        candidates,
        downlink=runs.downlink,
        weights=_WEIGHTS[curve.method],
        evaluations=evaluations,
        starts=1,
    )
    chosen = found.compressor if curve.compressor else None
    second = Experiment.of(found.method, first.problem, chosen)
    traces = _trace(panel, first, runs), _trace(panel, second, runs)

    def bits(cost: StepCost) -> float:
        return objective_value(cost, "bits", runs.downlink)

    def measured(trace: Trace) -> float:
        return float(np.median(costs_to(trace, accuracy, "total bits", runs.downlink)))

    accuracy = max(MEASURED, *map(_reached, traces))
    return Saving(
        panel=panel.problem,
        method=curve.method,
        paper=_text(first.method, first.compressor if curve.compressor else None),
        chosen=_text(found.method, chosen),
        published=bits(per_decade(cost, decrease)),
        certified=bits(per_decade(cost, _certified_decrease(same, unit))),
        optimal=bits(found.cost),
        accuracy=accuracy,
        measured=measured(traces[0]),
        measured_optimal=measured(traces[1]),
        downlink_weight=runs.downlink,
    )


def _trace(panel: Panel, experiment: ConvexExperiment, runs: Runs) -> Trace:
    budget = Budget(bits=panel.bits, gap=MEASURED, iterations=MOST_ITERATIONS)
    return runs.store.trace(experiment, seeds=runs.seeds, budget=budget)


def _in_units_of_mu(constants: Constants) -> Constants:
    """Return the constants in the unit of f in which mu = 1, where the solver is most exact."""
    mu = constants.mu
    return Constants(1.0, constants.L_i / mu, constants.L_f / mu)


def _certified_decrease(method: Method, where: Setting) -> float:
    try:
        return certify(method, where).decrease
    except Refusal:  # the solver is too inexact, at a very large kappa
        return math.nan


def _reached(trace: Trace) -> float:
    """Return the worst over the runs of the best f - f* of a run."""
    return float(max(np.nanmin(trace.run(i)["gap"]) for i in range(len(trace.seeds))))


def _text(method: Method, sent: Compressor | None) -> str:
    values = ", ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in asdict(method).items()
    )
    return f"{values}; {sent.name}" if sent else values


def contested_curves() -> list[tuple[Panel, Curve]]:
    """Return the curves of all methods on the panels of Figures 1 to 4, or on embedded data."""
    curves = []
    for panel in _panels():
        own = {c.method: c for c in panel.curves if c.compressor in (None, _natural(c.k))}
        for method in _WEIGHTS:
            rule = {"diana": "a"}.get(method, "paper")
            curves.append((panel, replace(own.get(method, Curve(method)), rule=rule)))
    return curves


def _natural(k: int | None) -> str:
    return f"rand-k:{k}+natural"


def _panels() -> list[Panel]:
    """Return the paper's panels whose data is on this machine, or the demonstration's as one."""
    panels = []
    for number in FIGURES:
        for panel in paper_figure(number).panels:
            try:
                strongly_convex_problem(panel.problem, kappa=panel.kappa, download=False)
            except Refusal:
                continue
            panels.append(panel)
    first, second = demonstration().panels
    return panels or [replace(first, curves=first.curves + second.curves)]
