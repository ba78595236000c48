"""Bounds on runs of any length that are proved: gradient descent and its acceleration."""

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from certibit.solvers.method import Functions
from certibit.solvers.methods.agd import AGD
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.nesterov import Nesterov
from certibit.theory.chains.run_certificate import Multipliers, RunCertificate
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms

HALF: Any = Fraction(1, 2)


@dataclass(frozen=True)
class _OfGradientDescent:
    """u (f(x) - f*) + (u (u + 1)/2) |grad f(x)|^2 + (1/2) |x - x*|^2 with u = t h."""

    h: Any
    t: Any

    def lyapunov(
        self, m: GD, s: Any, star: Any, setting: ClassConstants, problem: Functions
    ) -> Terms:
        u = self.t * self.h
        return (
            Gap(u, s.x),
            Squares(u * (u + 1) * HALF, problem.grad(s.x)),
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


def gradient_descent(h: int | Fraction) -> RunCertificate:
    """Return f(x_T) - f* <= L |x_0 - x*|^2/(4 h T + 2) for gamma = h/L, 0 < h^2 <= 2, and L = 1.

    It is the exact rate: Drori, Teboulle, Mathematical Programming 145 (2014), Theorem 3.1, for
    h <= 1. With these multipliers the form that is left of a step has, in grad f(x_t) and
    grad f(x_(t+1)), the determinant 0 and the first entry v (v (2 - h) + 2 (1 - h))/(2 h), where
    v = (t + 1) h; (1/2) |x - x* - (h T + 1) grad f(x)|^2 is left at the end.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from certibit.theory.chains.known_runs import gradient_descent
    >>> [gradient_descent(h).verify() for h in (1, Fraction(1, 3), Fraction(7, 5), Fraction(3, 2))]
    [True, True, True, False]
    """
    step: Multipliers = {
        "point 0 to point 1": (1 + h, 1 + 2 * h, h),  # (t + 1) (t h + h + 1)
        "point 1 to point 0": (1, 1 + h, h),  # (t + 1) (t h + 1)
        "solution to point 0": (h,),
    }
    return RunCertificate(
        method=lambda t: GD(gamma=h),  # type: ignore[arg-type]  # an exact number
        potential=partial(_OfGradientDescent, h),
        weight=(1, 2 * h),
        step=step,
        end={"solution to point 0": (1, h)},
        begin=_OfGradientDescent(h, 0),
        first={name: factors[:1] for name, factors in step.items()},
    )


GRADIENT_DESCENT = gradient_descent(1)
"""f(x_T) - f* <= |x_0 - x*|^2/(4 T + 2) for gamma = 1/L and L = 1."""

ACCELERATED = RunCertificate(
    method=Nesterov(gamma=1).at,
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

KNOWN_RUNS = {"gd": GRADIENT_DESCENT, "nesterov": ACCELERATED}
"""Proofs of bounds on whole runs, by method."""
