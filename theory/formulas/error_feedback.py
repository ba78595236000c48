"""The tight rate of error feedback, which EF and EF21 share, for any number of equal clients."""

import math

from certibit.data.errors import Refusal


def error_root(alpha: float | None) -> float:
    """Return s = sqrt(1 - alpha), by which a contraction multiplies what is sent at most."""
    if alpha is None:
        raise Refusal("the potential of error feedback needs contractive compressors; give alpha")
    return math.sqrt(1 - alpha)


def best_feedback_step(mu: float, L: float, alpha: float) -> float:
    """Return gamma* = (2/(L + mu)) (1 - s)/(1 + s), the step size with the best certified rate."""
    s = error_root(alpha)
    return 2 / (L + mu) * (1 - s) / (1 + s)


def _feedback_growth(mu: float, L: float, alpha: float) -> float:
    """Return lambda, with which the factor at gamma* is s + (1 + s)(L - mu) lambda/4.

    lambda = (gamma*/(L + mu)) [(1 - s)(L - mu) + (1 + s) sqrt((L - mu)^2 + 16 L mu s/(1 + s)^2)].
    lambda/(L - mu) is how often <grad f - mu x, L x - grad f> >= 0 is used in the proof for EF.
    """
    s, step = error_root(alpha), best_feedback_step(mu, L, alpha)
    root = math.sqrt((L - mu) ** 2 + 16 * L * mu * s / (1 + s) ** 2)
    return step / (L + mu) * ((1 - s) * (L - mu) + (1 + s) * root)


def best_feedback_factor(mu: float, L: float, alpha: float) -> float:
    """Return the factor of EF and EF21 at gamma*, for any number of clients.

    No potential and no step size has a smaller one. Let C(v) = (1 + s) v for all clients and f_i(x)
    = h x^2/2. In both methods a step is then a matrix of two rows with the determinant -s and the
    trace T = 1 - s - (1 + s) gamma h, so that the square rho of an eigenvalue is a root of (rho -
    s)^2 = T^2 rho. The larger root grows with |T|, and the larger |T| of the ends h = mu and h = L
    is least where both are (1 - s)(kappa - 1)/(kappa + 1): at gamma*, whose factor is that root.
    Sources: Thomsen, Taylor, Dieuleveut, arXiv:2506.05271, for one client; arXiv:2605.31594.
    """
    s = error_root(alpha)
    return s + (1 + s) * (L - mu) * _feedback_growth(mu, L, alpha) / 4


def feedback_factor(gamma: float, mu: float, L: float, alpha: float) -> float:
    """Return the factor of EF and EF21 for gamma <= gamma*: from 1 at 0 it falls linearly."""
    share = gamma / best_feedback_step(mu, L, alpha)
    return 1 - share * (1 - best_feedback_factor(mu, L, alpha))
