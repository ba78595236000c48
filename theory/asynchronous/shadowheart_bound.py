"""The promised seconds of Shadowheart SGD, for the best of many times t."""

import math

import numpy as np

from certibit.data.errors import Refusal
from certibit.solvers.clock.network import Clients
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.events.event_run import work_of
from certibit.solvers.events.shadowheart_sgd import ShadowheartSGD
from certibit.theory.asynchronous.time_bounds import OWN, Stationarity, TimeBound

_TRIED, _LONGEST = 200, 1e3
"""Times t that are tried, and the largest as a multiple of the smallest."""
_MOST = 64
"""Messages of a client at most; more of them hardly change the variance, and take long to run."""


def shadowheart(c: Stationarity, clients: Clients, compressor: Compressor, d: int) -> TimeBound:
    """Return the parameters with the least promise, over times t; omega is the compressor's.

    b_i = floor(t/h_i), m_i = min(64, floor(t/tau_i)), and as published
    w_i = 1/(b_i omega + omega sigma^2/eps + m_i sigma^2/eps). With
    p_i = w_i m_i b_i/sum_j w_j m_j b_j a step has the variance A |grad f|^2 + B,
    A = omega sum_i p_i^2/m_i and B = sigma^2 sum_i p_i^2 (omega/(m_i b_i) + 1/b_i). So
    gamma = min(1/(L (1 + A)), eps/(2 L B)) and K = ceil(4 Delta/(gamma eps)).
    """
    h, tau = clients.gradient, compressor.layout(d).bits / clients.uplink
    if not (h > 0).all():
        raise Refusal("Shadowheart SGD needs gradients that take time; give gradient= above 0")
    shortest = float(np.maximum(h, tau).min())
    tried = shortest * (1 + 1e-12) * np.geomspace(1, _LONGEST, _TRIED)
    bounds = [_bound(c, clients, compressor, d, t) for t in tried]
    return min(bounds, key=lambda bound: bound.seconds)


def _bound(
    c: Stationarity, clients: Clients, compressor: Compressor, d: int, t: float
) -> TimeBound:
    omega, noise = compressor.omega(d), c.sigma2 / c.epsilon
    b = np.floor(t / clients.gradient)
    m = np.minimum(np.floor(t * clients.uplink / compressor.layout(d).bits), _MOST)
    b, m = np.where(m > 0, b, 0), np.where(b > 0, m, 0)
    spread = b * omega + omega * noise + m * noise
    w = np.where(b > 0, 1 / np.where(spread > 0, spread, 1.0), 0.0)
    some = b > 0
    p = (w * m * b)[some] / (w * m * b).sum()
    A = omega * np.sum(p**2 / m[some])
    B = c.sigma2 * np.sum(p**2 * (omega / (m * b)[some] + 1 / b[some]))
    gamma = 1 / (c.L * (1 + A))
    if B:
        gamma = min(gamma, c.epsilon / (2 * c.L * B))
    steps = math.ceil(4 * c.Delta / (gamma * c.epsilon))
    whole_b, whole_m = (tuple(values.astype(int).tolist()) for values in (b, m))
    method = ShadowheartSGD(float(gamma), whole_b, whole_m, tuple(w.tolist()))
    cycle = work_of(method, compressor, d).cycle(clients)[some]
    return TimeBound(
        method, steps, steps * float(cycle.max()), f"arXiv:2402.04785; constants {OWN}"
    )
