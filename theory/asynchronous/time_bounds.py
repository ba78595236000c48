"""Promised seconds to an average |grad f|^2 of at most epsilon, with all constants.

Client i delivers a gradient tau_i seconds after the server's reply, tau_1 <= ... <= tau_n.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.mini_batch import NO_BATCHES, MiniBatch
from certibit.data.problem import Constants, Problem
from certibit.solvers.events.asynchronous_sgd import AsynchronousSGD
from certibit.solvers.events.event_method import EventMethod
from certibit.solvers.events.minibatch_sgd import MinibatchSGD
from certibit.solvers.events.rennala_sgd import RennalaSGD
from certibit.solvers.events.ringmaster_asgd import RingmasterASGD
from certibit.solvers.libraries import host

Times = NDArray[np.float64]
"""tau_1 <= ... <= tau_n, the seconds of one gradient of every client."""


@dataclass(frozen=True)
class Stationarity:
    """The class of a problem and an accuracy: f is L-smooth, Delta = f(x_0) - inf f.

    Attributes
    ----------
    L, Delta : float
        Smoothness of f, and the gap at the start.
    sigma2 : float
        E|noise|^2 of a gradient is at most this.
    epsilon : float
        The accuracy: E|grad f|^2 <= epsilon in the mean over the steps.
    """

    L: float
    Delta: float
    sigma2: float
    epsilon: float

    @classmethod
    def of(cls, problem: Problem, epsilon: float) -> "Stationarity":
        """Return the constants of a problem, exact up to rounding.

        Raises
        ------
        Refusal
            If epsilon is not positive, or the smoothness of f is not known.
        """
        if not 0 < epsilon < math.inf:
            raise Refusal(f"|grad f|^2 = {epsilon:g}; give a positive accuracy")
        plain = problem.plain
        if not isinstance(plain.constants, Constants):
            raise Refusal(f"{problem.name} is not smooth; time bounds need a constant L")
        if isinstance(plain.noise, MiniBatch):
            raise Refusal(f"{NO_BATCHES}; leave batch out, or give noise")
        Delta = float(host(plain.gap(plain.x_0)).max())
        sigma2 = plain.noise.largest_variance(plain) if plain.noise else 0.0
        return cls(float(plain.constants.L_f), Delta, sigma2, epsilon)


@dataclass(frozen=True)
class TimeBound:
    """A method with its parameters, and what is proved of it.

    Attributes
    ----------
    method : EventMethod
        With the step size and batch of the theorem.
    steps : int
        After so many steps of the server the mean of E|grad f(x^k)|^2 is at most epsilon.
    seconds : float
        When these steps are made, at the latest.
    source : str
        Where it is proved.
    """

    method: EventMethod
    steps: int
    seconds: float
    source: str


OWN = "proved by us from the descent lemma"
"""The source of bounds for minibatches."""


def optimal_order(c: Stationarity, tau: Times) -> float:
    """Return min_m ((1/m) sum_(i <= m) 1/tau_i)^-1 (L Delta/eps + sigma^2 L Delta/(m eps^2)).

    The optimal time complexity up to a constant: arXiv:2305.12387, Theorems 6.4 and 7.5.
    """
    m = np.arange(1, tau.size + 1)
    steps = c.L * c.Delta / c.epsilon
    return float(np.min(_harmonic(tau) * steps * (1 + c.sigma2 / (m * c.epsilon))))


def rennala(c: Stationarity, tau: Times) -> TimeBound:
    """Return S = max(1, ceil(sigma^2/eps)) and gamma = min(1/L, eps S/(2 L sigma^2)).

    A step has the variance sigma^2/S, so K steps give 2 Delta/(gamma K) + gamma L sigma^2/S. In t
    seconds client i delivers at least floor(t/tau_i) - 1 gradients at the present model.
    """
    S = max(1, math.ceil(c.sigma2 / c.epsilon))
    gamma, steps = _sgd(c, S)
    seconds = steps * first_time(tau, S, late=1)
    return TimeBound(RennalaSGD(gamma, S), steps, seconds, f"arXiv:2305.12387; constants {OWN}")


def ringmaster(c: Stationarity, tau: Times) -> TimeBound:
    """Return R = max(1, ceil(sigma^2/eps)), gamma = min(1/(2 R L), eps/(4 L sigma^2)).

    K = ceil(8 R L Delta/eps + 16 sigma^2 L Delta/eps^2), and any R steps take at most
    t(R) = 2 min_m ((1/m) sum_(i <= m) 1/tau_i)^-1 (1 + R/m) seconds.
    """
    R = max(1, math.ceil(c.sigma2 / c.epsilon))
    gamma, steps = _delayed(c, R)
    m = np.arange(1, tau.size + 1)
    of_R = 2 * float(np.min(_harmonic(tau) * (1 + R / m)))
    seconds = math.ceil(steps / R) * of_R
    return TimeBound(RingmasterASGD(gamma, R), steps, seconds, "arXiv:2501.16168, Theorem 4.2")


def asynchronous(c: Stationarity, tau: Times) -> TimeBound:
    """Return the theorem of Ringmaster ASGD with an R above every delay, so nothing is ignored.

    While a client works for tau_n seconds, client j delivers at most floor(tau_n/tau_j) + 1 others.
    """
    delays = math.ceil(np.sum(np.floor(tau[-1] / tau[:-1] * (1 + 1e-12)) + 1))
    gamma, steps = _delayed(c, delays + 1)
    seconds = first_time(tau, steps)
    source = "arXiv:2501.16168, Theorem 4.1, with R above every delay"
    return TimeBound(AsynchronousSGD(gamma), steps, seconds, source)


def synchronous(c: Stationarity, tau: Times) -> TimeBound:
    """Return minibatch SGD with all clients: every step takes tau_n seconds."""
    return _minibatch(c, tau, tau.size)


def minibatch(c: Stationarity, tau: Times) -> TimeBound:
    """Return minibatch SGD with the m fastest clients, for the m that promises the least."""
    bounds = [_minibatch(c, tau, m) for m in range(1, tau.size + 1)]
    return min(bounds, key=lambda bound: bound.seconds)


def first_time(tau: Times, gradients: int, late: int = 0) -> float:
    """Return the first t with sum_i max(0, floor(t/tau_i) - late) >= gradients, exactly.

    It is a multiple of some tau_i.
    """
    low, high = 0.0, float((gradients + late) * tau[0])

    def delivered(t: float) -> float:
        return float(np.maximum(0.0, np.floor(t / tau * (1 + 1e-12)) - late).sum())

    while high - low > 1e-13 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if delivered(middle) >= gradients else (middle, high)
    return high


def _minibatch(c: Stationarity, tau: Times, m: int) -> TimeBound:
    gamma, steps = _sgd(c, m)
    return TimeBound(MinibatchSGD(gamma, m), steps, steps * float(tau[m - 1]), OWN)


def _sgd(c: Stationarity, batch: int) -> tuple[float, int]:
    """Return gamma and K with 2 Delta/(gamma K) <= eps/2 and gamma L sigma^2/batch <= eps/2."""
    gamma = 1 / c.L
    if c.sigma2:
        gamma = min(gamma, c.epsilon * batch / (2 * c.L * c.sigma2))
    return gamma, math.ceil(4 * c.Delta / (gamma * c.epsilon))


def _delayed(c: Stationarity, R: int) -> tuple[float, int]:
    """Return gamma and K of arXiv:2501.16168, Theorem 4.1, for delays below R."""
    gamma = 1 / (2 * R * c.L)
    if c.sigma2:
        gamma = min(gamma, c.epsilon / (4 * c.L * c.sigma2))
    noisy = 16 * c.sigma2 * c.L * c.Delta / c.epsilon**2
    return gamma, math.ceil(8 * R * c.L * c.Delta / c.epsilon + noisy)


def _harmonic(tau: Times) -> Times:
    """Return ((1/m) sum_(i <= m) 1/tau_i)^-1 for m = 1, ..., n."""
    m = np.arange(1, tau.size + 1)
    means: Times = m / np.cumsum(1 / tau)
    return means
