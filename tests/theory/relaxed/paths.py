"""Gradients along a line that change as fast as (L0, L1)-smoothness allows, in two dimensions."""

import numpy as np
import scipy

STEPS = 24


def path(angles, G, L0, L1, length):
    """The decrease of f along the line, and the slope at its end, for directions of change.

    At t the gradient (p, b) moves at speed L0 + L1 |(p, b)|, by an angle from -p towards b.
    """
    p, b, dt, fallen = G, 0.0, length / len(angles), 0.0
    for angle in angles:
        c, s = np.cos(angle), np.sin(angle)
        speed = L0 + L1 * np.hypot(p, b)
        middle = p - speed * c * dt / 2, b + speed * s * dt / 2
        speed = L0 + L1 * np.hypot(*middle)
        fallen += middle[0] * dt
        p, b = p - speed * c * dt, b + speed * s * dt
    return fallen, p


def least(G, L0, L1, length, of=0):
    """The smallest decrease (or slope at the end, of=1) that a search finds."""
    found = [
        scipy.optimize.minimize(
            lambda angles: path(angles, G, L0, L1, length)[of],
            np.linspace(start, 0.0, STEPS) + 1e-3,
            method="L-BFGS-B",
            options={"maxiter": 60},
        ).fun
        for start in (0.0, 1.0)
    ]
    return min(found)
