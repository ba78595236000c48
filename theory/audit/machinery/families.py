"""Families of scalar client functions in closed form, with exact constants, in any arithmetic.

Every family gives, for N clients, gradients, Hessians and values at points (..., N, K) and the
constants L0, L1, kappa, rho under which every f_i is (L0, L1)-smooth and
|f_i'| <= kappa + rho|f'|. ``joint`` tells at which points f itself is (L0, L1)-smooth too.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from certibit.theory.audit.machinery.numbers import Array, cosh, sinh
from certibit.theory.audit.machinery.step import Values, Variable


def signs(N: int) -> Array:
    """Return +1 and -1 in turn, 0 last if N is odd: (N, 1); the mean is 0."""
    values = [1 if i % 2 == 0 else -1 for i in range(N)]
    if N % 2:
        values[-1] = 0
    return np.array(values)[:, None]


@dataclass(frozen=True)
class _ClientFamily(ABC):
    """A family of N client functions; ``v`` holds its variables."""

    variables: ClassVar[tuple[Variable, ...]]
    """Its parameters."""

    @abstractmethod
    def gradient(self, v: Values, y: Any) -> Any:
        """Return f_i'(y): (..., N, K)."""

    @abstractmethod
    def hessian(self, v: Values, y: Any) -> Any:
        """Return f_i''(y): (..., N, K)."""

    @abstractmethod
    def rise(self, v: Values, move: Any) -> Any:
        """Return f(x + move) - f(x) of the mean f at v.x, without cancellation: (..., K)."""

    @abstractmethod
    def constants(self, v: Values) -> None:
        """Put L0, L1, kappa, rho and joint into the values."""

    def __str__(self) -> str:
        return (self.__doc__ or "").splitlines()[0].rstrip(".")


@dataclass(frozen=True)
class _ExponentialFamily(_ClientFamily):
    """f_i = exp(a x) and exp(-a x) in turn, N even; f = cosh(a x).

    f_i'' = a|f_i'|: (L0, a)-smooth for every L0 >= 0. a e^{|t|} <= a + 2a|sinh t|. f'' - a|f'| =
    a^2 e^{-|ax|}, so f is (L0, a)-smooth iff L0 >= a^2.
    """

    variables = (
        Variable("a", Fraction(1, 5), 3, logarithmic=True, often=(1,)),
        Variable("base", Fraction(1, 1000), 10, logarithmic=True, often=(1,)),
    )

    def gradient(self, v: Values, y: Any) -> Any:
        s = signs(v.N)
        return s * v.a * np.exp(s * v.a * y)

    def hessian(self, v: Values, y: Any) -> Any:
        return v.a * v.a * np.exp(signs(v.N) * v.a * y)

    def rise(self, v: Values, move: Any) -> Any:
        return _cosh_rise(v.a, v.x, move)

    def constants(self, v: Values) -> None:
        v.L0, v.L1, v.kappa, v.rho = v.base, v.a, v.a, v.a * 0 + 2
        v.joint = v.base >= v.a * v.a


@dataclass(frozen=True)
class _MultipleFamily(_ClientFamily):
    """f_i = (1 + delta s_i) cosh(a x), s_i = +1, -1, (0); f = cosh(a x).

    With c = 1 + |delta|: f_i'' <= c a^2 + a|f_i'| by cosh <= 1 + |sinh|; |f_i'| <= c|f'|.
    """

    variables = (
        Variable("a", Fraction(1, 5), 3, logarithmic=True, often=(1,)),
        Variable("delta", 0, 4, often=(0, 1, 2)),
    )

    def _weights(self, v: Values) -> Any:
        return 1 + v.delta * signs(v.N)

    def gradient(self, v: Values, y: Any) -> Any:
        return self._weights(v) * v.a * sinh(v.a * y)

    def hessian(self, v: Values, y: Any) -> Any:
        return self._weights(v) * v.a * v.a * cosh(v.a * y)

    def rise(self, v: Values, move: Any) -> Any:
        return _cosh_rise(v.a, v.x, move)

    def constants(self, v: Values) -> None:
        v.rho = 1 + v.delta
        v.L0, v.L1, v.kappa = v.rho * v.a * v.a, v.a, v.a * 0
        v.joint = np.ones(np.shape(v.a), dtype=bool)


@dataclass(frozen=True)
class _TiltedQuartics(_ClientFamily):
    """f_i = x^4/4 + m x^2/2 + b s_i x, s_i = +1, -1, (0); f = x^4/4 + m x^2/2.

    3t^2 - L1 t^3 <= 4/L1^2 at t = 2/L1, so f is (m + 4/L1^2, L1)-smooth for every L1 > 0, and f_i
    with L1 b more; kappa = b, rho = 1.
    """

    variables = (
        Variable("slack", Fraction(1, 4), 4, logarithmic=True, often=(1, 2)),
        Variable("m", 0, 4, often=(0, 1)),
        Variable("b", 0, 5, often=(0, 1)),
    )

    def gradient(self, v: Values, y: Any) -> Any:
        return y * y * y + v.m * y + v.b * signs(v.N)

    def hessian(self, v: Values, y: Any) -> Any:
        return 3 * y * y + v.m + 0 * signs(v.N)

    def rise(self, v: Values, move: Any) -> Any:
        return _quartic_rise(v.x, move) + v.m * (v.x + move / 2) * move

    def constants(self, v: Values) -> None:
        v.L1, v.kappa, v.rho = v.slack, v.b, v.b * 0 + 1
        v.L0 = v.m + 4 / (v.slack * v.slack) + v.slack * v.b
        v.joint = np.ones(np.shape(v.b), dtype=bool)


@dataclass(frozen=True)
class _ShiftedQuartics(_ClientFamily):
    """f_i = (x + c s_i)^4/4, s_i = +1, -1 in turn, N even; f = (x^4 + 6c^2 x^2 + c^4)/4.

    Every f_i is (4/L1^2, L1)-smooth. (|x|+c)^3 <= c^3 + 2(|x|^3 + 3c^2|x|), for 3c x^2 <= |x|^3 +
    3c^2|x|: kappa = c^3, rho = 2. With t = |x|, f'' - L1|f'| = 3t^2 + 3c^2 - L1(t^3 + 3c^2 t),
    whose largest value is found where 6t - 3 L1 (t^2 + c^2) = 0, or at t = 0.
    """

    variables = (
        Variable("slack", Fraction(1, 4), 4, logarithmic=True, often=(1, 2)),
        Variable("c", Fraction(1, 5), 4, often=(1, 2)),
    )

    def gradient(self, v: Values, y: Any) -> Any:
        return (y + v.c * signs(v.N)) ** 3

    def hessian(self, v: Values, y: Any) -> Any:
        return 3 * (y + v.c * signs(v.N)) ** 2

    def rise(self, v: Values, move: Any) -> Any:
        return _quartic_rise(v.x, move) + 3 * v.c * v.c * (v.x + move / 2) * move

    def constants(self, v: Values) -> None:
        L1, cc = v.slack, v.c * v.c
        v.L1, v.kappa, v.rho = L1, cc * v.c, v.c * 0 + 2
        v.L0 = 4 / (L1 * L1)
        root = np.maximum(1 - L1 * L1 * cc, 0 * cc)
        t = (1 + np.sqrt(root)) / L1
        inner = 3 * t * t + 3 * cc - L1 * (t * t * t + 3 * cc * t)
        v.joint = (3 * cc <= v.L0) & ((inner <= v.L0) | (L1 * L1 * cc > 1))


def _cosh_rise(a: Any, x: Any, move: Any) -> Any:
    """Return cosh(a(x + move)) - cosh(ax)."""
    return 2 * sinh(a * (x + move / 2)) * sinh(a * move / 2)


def _quartic_rise(x: Any, move: Any) -> Any:
    """Return ((x + move)^4 - x^4)/4."""
    return move * (x**3 + move * (3 * x * x / 2 + move * (x + move / 4)))


FAMILIES: tuple[tuple[_ClientFamily, bool], ...] = (
    (_TiltedQuartics(), True),
    (_MultipleFamily(), True),
    (_ExponentialFamily(), False),
    (_ShiftedQuartics(), False),
)
"""Every family, and whether it is given for odd N too."""
