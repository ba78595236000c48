"""A potential that couples models and control variates, for local training with a coin.

LoCoDL and Scaffnew have the same form. Let z be the models and w the control variates of all
clients, both relative to the solution and w without a mean; F the functions. Each iteration is a
gradient step, z <- z - gamma grad F(z) + gamma w, and with probability p a round, which takes
rho s from z and (eta/gamma) s from w up to noise, s being the disagreement of z. The noise of z is
in consensus, that of w has no mean: they are orthogonal, with variances rho^2 a |s|^2 and
(eta/gamma)^2 b |s|^2, with (a, b) as the noise of messages makes them.

The first coupled Lyapunov function for ProxSkip is that of Hu and Huang, "Tighter Analysis for
ProxSkip", ICML 2023 (PMLR 202:13469), who say that it extends to variants and that gamma = 1/L is
too large for small p. The constants, the compressed messages and the search are ours.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.theory.potential import ClassConstants

Number = TypeVar("Number", float, Fraction)

Variances = tuple[tuple[float, float], ...]
"""Pairs (a, b) of relative variances; noise has averages of them, or smaller ones."""

ROUNDING = 1e-12
"""The least of 1 - eta that counts: without compression eta can be 1."""


def message_variances(setting: ClassConstants, eta: float = 0.0) -> Variances:
    """Return the pairs (a, b) of relative variances of models and control variates.

    With eta, the part that a round takes of the control variates, they are those that count for the
    weights 1 - nu and 1 + nu of :func:`unevenness`: 1/(1 + lambda) times as much, lambda =
    (omega - omega_av) eta/(1 - eta).

    Notes
    -----
    Proof. Let e_i be the errors of the messages, e their mean, s the disagreement of the models and
    |z|^2 = sum_i |x_i|^2 + n |y|^2. All models get rho e/2, the control variates multiples of e/2 -
    e_i and e/2. So with M = sum_i |e_i|^2 and N = (n/2) |e|^2 the noises are rho^2 N and, with the
    weights 1 - nu and 1 + nu, ((1 - nu) M - (1 - 2 nu) N)(eta/gamma)^2. In the mean M is at most
    omega R and N at most omega_av R/2, R = sum_i |x_i - y|^2 <= 2 |s|^2. For independent errors N
    is M/(2n) in the mean: both at their largest are the worst, with a = omega_av and b = 2 (1 - nu)
    omega - (1 - 2 nu) omega_av. Otherwise N can be 0: there is a second pair, with 0 for omega_av.
    """
    averages = (setting.omega_av,) if setting.independent else (setting.omega_av, 0.0)
    share = eta / max(1 - eta, ROUNDING)
    pairs = ((average, 1 + (setting.omega - average) * share) for average in averages)
    return tuple((a / counted, (2 * setting.omega - a) / counted) for a, counted in pairs)


def unevenness(p: Number, rho: Number, eta: Number) -> Number:
    """Return nu = p (2 rho - rho^2 - c)/(2 (1 - eta)), c = eta/p; 0 where that makes no sense.

    The weights of the control variates of the clients are then 1 - nu, that of the common one is
    1 + nu. A part of the disagreement counts once in R, that among the clients, and the other
    twice, that with the common model: what is left over of the first pays for the second.
    """
    room = rho * (2 - rho) - eta / p
    return p * room / (2 * (1 - eta)) if room > 0 and eta < 1 else 0 * p


def compression(a: float, setting: ClassConstants) -> float:
    """Return K = 2 omega_av (1/a + 2 omega).

    With weights gamma/a and 2 gamma omega_av of |g_mean - h_mean|^2 and of (1/n) sum_i
    |g_i - h_i|^2 these grow by at most gamma K (1/n) sum_i E|h_i+ - h_i|^2 in a round of DASHA-PAGE
    and DASHA-MVR, for 0 < a <= 1/(1 + 2 omega), less gamma |g_mean - h_mean|^2.
    """
    return 2 * setting.omega_av * (1 / a + 2 * setting.omega)


_STARTS = ((0.0, 0.0), (0.5, 0.0), (0.5, 0.05), (1.0, 0.05))
"""Where the search for the two constants begins: beta, and the logarithm of C p eta."""

_ROUNDING = 1e-7
"""Relative error of a decrease where the two roots of its quadratic equation all but coincide."""


@dataclass(frozen=True)
class Coupling:
    """Psi = (1/gamma) |z - beta gamma w|^2 + gamma (C - beta^2) |w|^2, and its decrease.

    Attributes
    ----------
    beta, C : float
        The constants of the potential.
    decrease : float
        E[Psi+] <= (1 - decrease) Psi; not positive where nothing is proved.
    """

    beta: float
    C: float
    decrease: float


@lru_cache(maxsize=4096)
def best_coupling(
    slowest: float,
    fastest: float,
    p: float,
    rho: float,
    eta: float,
    variances: Variances = ((0.0, 0.0),),
) -> Coupling:
    """Return the coupling with the best decrease that is found.

    For any beta and C > beta^2 the decrease is proved; the best of them are searched. beta = 0 with
    C = 1/(p eta) is the potential of Theorem 3.1 of LoCoDL, and among the starts.

    Parameters
    ----------
    slowest, fastest : float
        gamma mu and gamma L, 0 < gamma mu <= gamma L < 2.
    p : float
        Probability of a round.
    rho, eta : float
        What a round takes from models and control variates.
    variances : pairs of float
        Relative variances of the noise; without it a round has none.

    Notes
    -----
    Proof. Let q = gamma w, h = z - gamma (grad F(x*+ z) - grad F(x*)), s the disagreement of h + q.
    The mean over noise and coin is, with nu = beta (1 - p rho) + C p eta - 1,

        gamma E[Psi+] <= |h|^2 - 2 nu <s, q> + (C - 1) |q|^2 + K |s|^2,
        K = p max{0, rho^2 (1 + a) - 2 rho + 2 beta eta (1 - rho) + C eta^2 (1 + b)},

    the largest of all pairs (a, b).

    As q has no mean, <s, q> = <h, q> + |q|^2, and |s| <= |h + q|. Hence gamma ((1 - e) Psi -
    E[Psi+]) is at least (1 - e) (|z|^2 - 2 beta <z, q> + C |q|^2) - (1 + K) |h|^2
    + 2 (nu - K) <h, q> - (C - 1 - 2 nu + K) |q|^2. The only thing known of h is
    <h - (1 - gamma L) z, (1 - gamma mu) z - h> >= 0; by the S-lemma nothing is lost if
    h = (1 - t) z for t in [gamma mu, gamma L]. The form in z and q is nonnegative if
    S = 1 + 2 nu - K - e C > 0 and

        S (1 - e - (1 + K)(1 - t)^2) >= ((1 - e) beta - (nu - K)(1 - t))^2,

    which is concave in t: the two ends are enough. Each is a quadratic inequality in e.
    """

    def coupling(beta: float, logarithm: float) -> Coupling:
        C = float(np.exp(logarithm)) / (p * eta)
        noise = max(rho**2 * a + C * eta**2 * b for a, b in variances)
        excess = rho**2 - 2 * rho + 2 * beta * eta * (1 - rho) + C * eta**2
        K = p * max(0.0, excess + noise)
        nu = beta * (1 - p * rho) + C * p * eta - 1
        ends = (_decrease(t, beta, C, nu, K) for t in (slowest, fastest))
        return Coupling(beta, C, min(ends))

    def loss(v: NDArray[np.float64]) -> float:
        return -coupling(abs(v[0]), v[1]).decrease

    options: Any = {"xatol": 1e-6, "fatol": 1e-9 * slowest, "maxiter": 400}
    found = [
        scipy.optimize.minimize(loss, start, method="Nelder-Mead", options=options).x
        for start in _STARTS
    ]
    uncoupled = coupling(*_STARTS[0])
    best = max((coupling(abs(beta), size) for beta, size in found), key=lambda one: one.decrease)
    if best.decrease <= uncoupled.decrease + _ROUNDING * abs(uncoupled.decrease):
        return uncoupled
    return replace(best, decrease=best.decrease * (1 - _ROUNDING))


def _decrease(t: float, beta: float, C: float, nu: float, K: float) -> float:
    """Return the largest e with the inequality of the proof at one t; -1 if there is none."""
    room, primal = 1 + 2 * nu - K, 1 - (1 + K) * (1 - t) ** 2
    cross = beta - (nu - K) * (1 - t)
    square, constant = C - beta**2, room * primal - cross**2
    if min(square, room, primal, constant) <= 0:
        return -1.0
    linear = room + C * primal - 2 * beta * cross
    apart = (room - C * primal) ** 2 + 4 * (C * cross - beta * room) * (cross - beta * primal)
    root = 2 * constant / (linear + np.sqrt(max(apart, 0.0)))  # linear^2 - 4 square constant
    return float(min(root, primal, room / C))  # both factors stay positive, also after rounding
