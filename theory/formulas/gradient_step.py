"""Quantities that many theorems share."""


def gradient_step_factor(gamma: float, mu: float, L: float) -> float:
    """Return max{(1 - gamma mu)^2, (1 - gamma L)^2}.

    The factor of |x - y|^2 under a gradient step on a mu-strongly convex, L-smooth function; below
    1 if and only if 0 < gamma < 2/L, smallest at gamma = 2/(L + mu).
    """
    return max((1 - gamma * mu) ** 2, (1 - gamma * L) ** 2)
