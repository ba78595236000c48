"""Measured bits to an accuracy on a small quadratic with given n, kappa and omega."""

import math
from dataclasses import dataclass

import numpy as np

from certibit.data.problems.quadratic import Quadratic
from certibit.figures.costs import costs_to, spread
from certibit.solvers.compressors.selection import rand_k_of
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store.store import Store
from certibit.theory.card import LOWER_BOUND
from certibit.theory.setting import Setting

ACCURACY = 1e-6
"""The f - f*, relative to that at the start, to which runs are measured."""

MOST_ITERATIONS = 100_000
"""Iterations at which a run is given up."""

FEATURES = 10
"""Least number of features of the problems."""


@dataclass(frozen=True)
class Runs:
    """Settings of the measurement.

    Attributes
    ----------
    seeds : int
        Runs of each measurement.
    store : Store
        Where traces are stored.
    downlink : float
        The weight of a bit received in total bits.
    """

    seeds: int
    store: Store
    downlink: float = 0.0


@dataclass(frozen=True)
class MeasuredBits:
    """Median bits per client to the accuracy over the seeds; infinite if it is never reached.

    Attributes
    ----------
    up, down : float
        Sent and received.
    total : float
        Bits sent plus the weight times the bits received.
    """

    up: float
    down: float
    total: float


def measured_bits(method: Method, where: Setting, runs: Runs) -> MeasuredBits:
    """Run a method on a random quadratic with the constants of a setting."""
    problem = quadratic_of(method, where)
    experiment = Experiment.of(method, problem, where.compressor)
    gap = ACCURACY * float(np.max(problem.gap(problem.x_0)))
    budget = Budget(gap=gap, iterations=MOST_ITERATIONS)
    trace = runs.store.trace(experiment, seeds=runs.seeds, budget=budget)
    counted = ("bits", "downlink bits", "total bits")
    return MeasuredBits(*(spread(costs_to(trace, gap, by, runs.downlink)).median for by in counted))


def least_bits(n: int, kappa: float, omega: float) -> float:
    """Return the leading order of the lower bound on uplink bits, with rand-k of this omega."""
    sent, d = rand_k_of(omega, FEATURES)
    rounds = LOWER_BOUND.rounds(n, d, kappa, omega) * math.log(1 / ACCURACY)
    return rounds * sent.bits(d)


def quadratic_of(method: Method, where: Setting) -> Quadratic:
    """Return a random quadratic of which the method sees the constants mu and L of the setting.

    So does f itself: all f_i have the same eigenvectors. A method with a shared g takes half of the
    strong convexity out of every f_i.
    """
    ridge = where.mu if method.needs.composite else 0.0
    return Quadratic.random(
        where.n,
        where.d,
        where.mu + ridge,
        where.constants.L_i + ridge,
        shared_eigenvectors=True,
        shared_minimiser=method.needs.shared_minimiser,
    )
