"""What the noise of messages adds: to LoCoDL's models and variates, to DASHA's estimates."""

from fractions import Fraction
from typing import TypeVar

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
