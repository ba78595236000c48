"""A potential that couples models and control variates, for local training with a coin.

LoCoDL and Scaffnew have the same form. Let z be the models and w the control variates of all
clients, both relative to the solution and w without a mean; F the functions. Each iteration is a
gradient step, z <- z - gamma grad F(z) + gamma w, and with probability p a round, which takes
rho s from z and (eta/gamma) s from w up to noise, s being the disagreement of z. The noise of z is
in consensus, that of w has no mean: they are orthogonal, with variances rho^2 a |s|^2 and
(eta/gamma)^2 b |s|^2; ``message_noise`` says what (a, b) can be.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.theory.formulas.message_noise import Variances

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
