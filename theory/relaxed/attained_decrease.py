"""The other side of a certificate: what the method does on the function that decreases least."""

from dataclasses import dataclass

import numpy as np

from certibit.data.relaxed.families import Multiples
from certibit.data.relaxed.shapes import Exponential, Extremal, Shape
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.iteration import advance
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.relaxed.clipped_certificate import SlopeMeasure
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

SLOPES = 241
"""Gradients that a step is measured at, from 1/1000 to 1000 times the kink of M."""


@dataclass(frozen=True)
class AttainedDecrease:
    """The smallest (f(x) - f(x+))/M that was measured, and the |grad f(x)| where it was."""

    c: float
    slope: float


def extremal_problem(functions: RelaxedFunctions, slopes: np.ndarray) -> Multiples:
    """Return f_i = f, with f'' = L0 + L1 |f'| on the real line, from points with given |f'|.

    Its runs start at x with |f'(x)| = ``slopes``, (R,).
    """
    L0, L1 = functions.L0, functions.L1
    shape: Shape = Extremal(L0, L1) if L0 else Exponential(L1)
    if not L0:
        x = np.log(slopes / L1) / L1
    else:
        x = np.log1p(L1 * slopes / L0) / L1 if L1 else slopes / L0
    return Multiples.of(shape, (1.0,) * functions.n, x.reshape(1, 1, -1))


def attained_decrease(
    method: Method, functions: RelaxedFunctions, measure: SlopeMeasure
) -> AttainedDecrease:
    """Run one step, without noise, on the extremal function from many points.

    No c above the result is true.
    """
    slopes = float(measure.kink) * np.logspace(-3, 3, SLOPES)
    problem = extremal_problem(functions, slopes)
    experiment = Experiment.of(method, problem)
    channel, oracle = simulated_world(experiment, seeds=range(SLOPES))
    before = channel.template
    state, _ = advance(method, method.start(before, oracle, channel), oracle, channel)
    fallen = problem.gap(before) - problem.gap(method.model(state))
    ratios = fallen / [measure.at(slope) for slope in slopes]
    worst = int(np.argmin(ratios))
    return AttainedDecrease(float(ratios[worst]), float(slopes[worst]))
