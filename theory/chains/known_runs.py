"""Bounds on runs of any length that are proved: gradient descent and its acceleration."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from certibit.solvers.method import Functions
from certibit.solvers.methods.agd import AGD
from certibit.solvers.methods.gd import GD
from certibit.theory.chains.run_certificate import RunCertificate
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms

HALF: Any = Fraction(1, 2)


@dataclass(frozen=True)
class _OfGradientDescent:
    """t (f(x) - f*) + (t (t + 1)/2) |grad f(x)|^2 + (1/2) |x - x*|^2."""

    t: Any

    def lyapunov(
        self, m: GD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        t = self.t
        return (
            Gap(t, s.x),
            Squares(t * (t + 1) * HALF, problem.grad(s.x)),
            Squares(HALF, s.x - star.x),
        )


@dataclass(frozen=True)
class _OfAcceleration:
    """((t + 1)^2/4) (f(x) - f*) + (1/2) |z - x*|^2 with z = ((t + 2) y - t x)/2."""

    t: Any

    def lyapunov(
        self, m: AGD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        t = self.t
        z = ((t + 2) * s.y - t * s.x) * HALF
        return Gap((t + 1) ** 2 * HALF**2, s.x), Squares(HALF, z - star.x)


@dataclass(frozen=True)
class _Begin:
    """(1/2) |y - x*|^2, where accelerated gradient descent starts with y = x."""

    def lyapunov(
        self, m: AGD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        return (Squares(HALF, s.y - star.y),)


GRADIENT_DESCENT = RunCertificate(
    method=lambda t: GD(gamma=1),
    potential=_OfGradientDescent,
    weight=(1, 2),
    step={
        "point 0 to point 1": (2, 3, 1),  # (t + 1) (t + 2)
        "point 1 to point 0": (1, 2, 1),  # (t + 1)^2
        "solution to point 0": (1,),
    },
    end={"solution to point 0": (1, 1)},
    begin=_OfGradientDescent(0),
    first={"point 0 to point 1": (2,), "point 1 to point 0": (1,), "solution to point 0": (1,)},
)
"""f(x_T) - f* <= |x_0 - x*|^2/(4 T + 2) for gamma = 1/L and L = 1: the exact rate."""

ACCELERATED = RunCertificate(
    method=lambda t: AGD(gamma=1, q=3 / (2 * t + 3)),
    potential=_OfAcceleration,
    weight=(HALF**2, HALF, HALF**2),
    step={
        "point 1 to point 2": (1, 1, HALF**2),  # (t + 2)^2/4
        "point 0 to point 1": (0, HALF, HALF**2),  # t (t + 2)/4
        "solution to point 1": (1, HALF),  # (t + 2)/2
        "point 0 to solution": (HALF**2,),
    },
    end={},
    begin=_Begin(),
    first={"point 0 to point 1": (1,), "solution to point 0": (1,)},
)
"""f(x_T) - f* <= 2 |x_0 - x*|^2/(T + 1)^2 with the momentum t/(t + 3) in step t = 0, 1, ...

gamma = 1/L and L = 1; published by Su, Boyd, Candes, arXiv:1503.01243, Theorem 6.
"""
