"""What a theorem promises, with constants: iterations, rounds, reals and bits to an accuracy.

A theorem gives E[Psi+] <= tau Psi. With a constant c such that f(x) - f* <= c Psi at the model x,
every point of a run has E[f - f*] <= c tau^t Psi^0, which is an upper bound on what is measured.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bitbound.data.errors import Refusal
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.method import Every, WithProbability
from bitbound.solvers.state import number_of_runs
from bitbound.solvers.total_bits import total_bits
from bitbound.solvers.world.channel import Channel
from bitbound.solvers.world.experiment import ConvexExperiment, fitted_view
from bitbound.solvers.world.simulation import simulated_world
from bitbound.theory.potential import Gap, Potential, value
from bitbound.theory.setting import Setting
from bitbound.theory.theorem import Theorem
from bitbound.theory.worlds.fixed_points import fixed_point
from bitbound.theory.worlds.linear_maps import lyapunov_matrix, unit_deviations
from bitbound.theory.worlds.outcomes import Scripted, outcomes


@dataclass(frozen=True)
class RoundCost:
    """Mean cost of one communication round, per client (mean over clients).

    Attributes
    ----------
    uplink_bits, downlink_bits : float
        Counted on the channel that the simulation uses.
    iterations : float
        Mean number of iterations from one round to the next: 1/p or K.
    """

    uplink_bits: float
    downlink_bits: float
    iterations: float

    def bits(self, downlink: float = 0.0) -> float:
        """Return the bits sent, and those received by their weight."""
        return total_bits(self.uplink_bits, self.downlink_bits, downlink)


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


def promise(theorem: Theorem, experiment: ConvexExperiment) -> Promise:
    """Evaluate what a theorem promises about a method on a problem, started at x = 0.

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
    cost = round_cost(experiment)
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


def round_cost(experiment: ConvexExperiment) -> RoundCost:
    """Count the mean bits of a round on the channel; coins are enumerated, not sampled.

    The clients that a cohort or mask chooses do not change the total, so one draw is enough.
    """
    method = experiment.method
    channel, oracle = simulated_world(experiment)
    state = method.start(channel.template, oracle, channel)

    def spend(world: _CoinChannel) -> np.ndarray[Any, np.dtype[np.float64]]:
        method.communicate(state, oracle, world)
        ledger = world.inner.ledger
        return np.array([ledger.uplink_bits[0], ledger.downlink_bits[0]]) / experiment.n

    def fresh(script: Sequence[int]) -> _CoinChannel:
        return _CoinChannel(simulated_world(experiment)[0], script)

    up, down = sum(probability * bits for probability, bits in outcomes(spend, fresh))
    schedule = method.schedule
    iterations = schedule.iterations if isinstance(schedule, Every) else 1 / schedule.p
    return RoundCost(float(up), float(down), float(iterations))


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


class _CoinChannel(Scripted):
    """The simulation's channel, with its coins enumerated."""

    def __init__(self, inner: Channel, script: Sequence[int]) -> None:
        super().__init__(inner.n, inner.template.shape[1], script)
        self.inner = inner
        self.uplink = inner.uplink  # type: ignore[method-assign]
        self.send = inner.send  # type: ignore[method-assign]
        self.broadcast = inner.broadcast  # type: ignore[method-assign]
        self.downlink = inner.downlink  # type: ignore[method-assign]
        self.client_coins = inner.client_coins  # type: ignore[method-assign]
        self.cohort = inner.cohort  # type: ignore[method-assign]
        self.ownership = inner.ownership  # type: ignore[method-assign]
