"""What a theorem promises, with constants: iterations, rounds, reals and bits to an accuracy.

A theorem gives E[Psi+] <= tau Psi. With a constant c such that f(x) - f* <= c Psi at the model x,
every point of a run has E[f - f*] <= c tau^t Psi^0, which is an upper bound on what is measured.
"""

import math
from dataclasses import dataclass

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.method import WithProbability
from bitbound.solvers.state import number_of_runs
from bitbound.solvers.world.experiment import ConvexExperiment, fitted_view
from bitbound.solvers.world.simulation import simulated_world
from bitbound.theory.checks.method.round_cost import RoundCost, round_cost
from bitbound.theory.potential import Gap, Potential, value
from bitbound.theory.setting import Setting
from bitbound.theory.theorem import Theorem
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.linear_maps import lyapunov_matrix, unit_deviations


@dataclass(frozen=True)
class Promise:
    """An upper bound on the mean accuracy of every point of a run, and what follows from it.

    Attributes
    ----------
    rate : float
        tau, the factor of the Lyapunov function per step.
    start : float
        c Psi^0, the bound on f - f* at the start.
    steps_per_round : float
        How many steps of the theorem a communication round takes in the mean: 1/p, or 1.
    cost : RoundCost
        Mean cost of a round.
    """

    rate: float
    start: float
    steps_per_round: float
    cost: RoundCost

    def steps_to(self, accuracy: float) -> float:
        """Return the first t with c tau^t Psi^0 <= accuracy."""
        if self.rate >= 1:
            return math.inf
        needed = math.log(self.start / accuracy) if self.start > accuracy else 0.0
        return math.ceil(needed / -math.log(self.rate)) if self.rate > 0 else 1.0

    def rounds_to(self, accuracy: float) -> float:
        """Return the mean number of rounds to E[f - f*] <= accuracy."""
        return self.steps_to(accuracy) / self.steps_per_round

    def bits_to(self, accuracy: float, downlink: float = 0.0) -> float:
        """Return the mean uplink bits per client to E[f - f*] <= accuracy, or total bits."""
        return self.rounds_to(accuracy) * self.cost.bits(downlink)

    def reals_to(self, accuracy: float, downlink: float = 0.0) -> float:
        """Return the same in reals of 32 bits."""
        return self.bits_to(accuracy, downlink) / 32


def promise(
    theorem: Theorem, experiment: ConvexExperiment, cost: RoundCost | None = None
) -> Promise:
    """Evaluate what a theorem promises about a method on a problem, started at x = 0.

    The cost of a round is counted here, if it has not been.

    Raises
    ------
    Refusal
        If a hypothesis of the theorem fails; it is named with both sides.
    """
    method, setting = experiment.method, Setting.at(experiment)
    for condition in theorem.unmet(method, setting):
        raise Refusal(
            f"{theorem.title} promises nothing here: {condition.statement} fails with "
            f"{condition.left:.6g} against {condition.right:.6g}; choose other parameters"
        )
    psi = value_at_start(theorem, experiment)
    cost = cost or round_cost(experiment)
    steps = cost.iterations if isinstance(method.schedule, WithProbability) else 1.0
    start = accuracy_constant(theorem, experiment) * psi
    return Promise(theorem.rate(method, setting), start, steps, cost)


def value_at_start(potential: Potential, experiment: ConvexExperiment) -> float:
    """Return a potential where a run begins, at x = 0."""
    method, view = experiment.method, experiment.problem
    channel, oracle = simulated_world(experiment)
    state = method.start(channel.template, oracle, channel)
    star, setting = fixed_point(method, view), Setting.at(experiment)
    return float(value(potential.lyapunov(method, state, star, setting, view), view)[0])


def accuracy_constant(potential: Potential, experiment: ConvexExperiment) -> float:
    """Return the smallest known c with f(x) - f* <= c Psi at the model x of every state.

    A Lyapunov function with a term w (f(x) - f*) at the model gives 1/w. One of squares bounds
    w |x - x*|^2, with w = 1/(a P^+ a') for the matrix P of Psi and the row a of the model in the
    client space; smoothness gives c = L_f/(2 w).
    """
    method, setting = experiment.method, Setting.at(experiment)
    ones = np.ones((experiment.n, 1, 1))
    small = fitted_view(method, Quadratic.from_arrays(ones, ones[:, 0], name="unit", seed=0))
    star = fixed_point(method, small)
    units = unit_deviations(star)
    model = method.model(units)
    terms = potential.lyapunov(method, units, star, setting, small)
    gaps = [
        term.weight for term in terms if isinstance(term, Gap) and np.array_equal(term.point, model)
    ]
    if gaps:
        return 1 / sum(gaps)
    squares = tuple(term for term in terms if not isinstance(term, Gap))
    matrix = lyapunov_matrix(squares, np.zeros((1, 1)), np.zeros((1, 1, 1)))
    row = np.broadcast_to(model[0, 0] - small.x_star[0, 0], number_of_runs(units))
    constants = experiment.problem.constants
    smoothness = constants.L_f + constants.ridge
    return float(smoothness / 2 * row @ np.linalg.pinv(matrix, hermitian=True) @ row)
