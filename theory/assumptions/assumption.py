"""An assumption on the functions of a class: inequalities at points that all clients share.

An inequality is quadratic in points and gradients and linear in function values. It is written with
the vectors and values of :class:`SharedPoint`, and holds for the average over the clients.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from numbers import Real
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from certibit.data.arrays import plain_numbers
from certibit.data.errors import Refusal
from certibit.data.problem import Constants


class Inequality(Protocol):
    """What is at least 0; inequalities are added, and multiplied by numbers."""

    def __add__(self, other: Any) -> "Inequality": ...
    def __sub__(self, other: Any) -> "Inequality": ...
    def __rmul__(self, factor: Any) -> "Inequality": ...


class Vectors(Protocol):
    """A vector of every client; vectors are added, and multiplied by numbers."""

    def __add__(self, other: Any) -> "Vectors": ...
    def __sub__(self, other: Any) -> "Vectors": ...
    def __rmul__(self, factor: Any) -> "Vectors": ...

    def mean(self) -> "Vectors":
        """Return the mean over the clients."""

    def square(self) -> Inequality:
        """Return (1/n) sum_i |v_i|^2."""

    def dot(self, other: Any) -> Inequality:
        """Return (1/n) sum_i <v_i, w_i>."""


class SharedPoint(Protocol):
    """A point at which all clients evaluate their functions.

    Attributes
    ----------
    point : Vectors
        The point x, less the solution where there is one.
    gradients : Vectors
        The gradients of the f_i at x, less those at the solution where there is one.
    value : Inequality
        f(x) - inf f, which is at least 0.
    unit : Inequality
        The number 1; in certificates, which hold for every zeta, zeta^2 divided by the given one.
    """

    @property
    def point(self) -> Any: ...
    @property
    def gradients(self) -> Any: ...
    @property
    def value(self) -> Any: ...
    @property
    def unit(self) -> Any: ...


ROUNDING = 1e-9
"""Relative excess of one constant over another that is rounding."""


@dataclass(frozen=True)
class Assumption:
    """What is assumed of the functions of a class.

    An assumption of one's own states the inequality at a point, or that between any two points; the
    other one is None. Its fields are constants in the unit of L, finite and at least 0.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from certibit import Assumption
    >>> @dataclass(frozen=True)
    ... class MeanSmooth(Assumption):
    ...     L: float
    ...
    ...     def between(self, x, y):
    ...         change = x.gradients - y.gradients
    ...         return self.L**2 * (x.point - y.point).square() - change.square()
    """

    needs_solution: ClassVar[bool] = False
    """Whether it is about a minimiser, which then is the solution of the class."""

    @property
    def has_constant(self) -> bool:
        """Whether its inequality has a multiple of 1, so that a descent has e' zeta^2."""
        return False

    def __post_init__(self) -> None:
        """Refuse constants that are not finite and at least 0."""
        plain_numbers(self)
        for field in fields(self):
            value = getattr(self, field.name)
            if not (field.compare and field.init and is_constant(value)):
                raise Refusal(
                    f"{field.name} = {value!r} of {type(self).__name__} is no constant; give a "
                    "finite number of at least 0, in a field that is compared"
                )

    @property
    def name(self) -> str:
        """What it is called: the words of its class."""
        return re.sub(r"(?<!^)(?=[A-Z])", " ", type(self).__name__).lower()

    def at(self, x: SharedPoint) -> Inequality | None:
        """Return what is at least 0 at every point x."""
        return None

    def between(self, x: SharedPoint, y: SharedPoint) -> Inequality | None:
        """Return what is at least 0 for every two points x and y, in this order."""
        return None

    def require_possible(self, L_f: Any) -> None:
        """Refuse a constant with which the assumption holds for no L_f-smooth average."""

    def follows_from(self, constants: Constants) -> bool:
        """Whether the constants of a problem imply it; False where that is not known."""
        return False

    def in_units(self, unit: float) -> Self:
        """Return the assumption for the functions divided by a unit."""
        whole: Any = self
        return replace(whole, **{f.name: getattr(self, f.name) / unit for f in fields(whole)})


def labels(assumptions: Sequence[Assumption]) -> list[str]:
    """Return what proofs call assumptions: their names, with numbers where several share one."""
    names = [one.name for one in assumptions]
    return [
        f"{name} {place}" if names.count(name) > 1 else name for place, name in enumerate(names)
    ]


def is_constant(value: Any) -> bool:
    """Whether a value is a finite number of at least 0."""
    number = isinstance(value, Real) and not isinstance(value, bool)
    infinite = isinstance(value, float | np.floating) and math.isinf(value)
    return number and not infinite and bool(value >= 0)


def require_convexity_below_smoothness(assumption: Any, L_f: Any) -> None:
    """Refuse an assumption whose mu is not below the smoothness of the average.

    With mu = L_f all inequalities are equations, as mu < L of strongly convex functions excludes.
    """
    if assumption.mu > L_f * (1 - ROUNDING):
        raise Refusal(
            f"{assumption!r} leaves no average to be L_f-smooth with L_f = {L_f!r}, but those of "
            "one curvature at most; give mu < L_f"
        )


@dataclass(frozen=True)
class Infimum(Assumption):
    """The average f is L-smooth and bounded from below: f(x) - inf f >= |grad f(x)|^2/(2 L).

    Every class of functions that need not be convex has this assumption by itself.

    Source: Nesterov, Lectures on Convex Optimization (2018), Section 1.2.3.
    """

    L: float

    def __post_init__(self) -> None:
        """Refuse L = 0, too."""
        super().__post_init__()
        if not self.L > 0:
            raise Refusal(f"L = {self.L!r} of Infimum is no smoothness; give a number above 0")

    def at(self, x: SharedPoint) -> Inequality:
        """Return f(x) - inf f - |grad f(x)|^2/(2 L)."""
        return x.value - 1 / (2 * self.L) * x.gradients.mean().square()

    def follows_from(self, constants: Constants) -> bool:
        """Whether L_f <= L."""
        return constants.L_f <= self.L


@dataclass(frozen=True)
class BoundedDissimilarity(Assumption):
    """(1/n) sum_i |grad f_i(x)|^2 <= zeta^2 + B^2 |grad f(x)|^2.

    With zeta = 0 a stationary point of f is one of all f_i. With zeta > 0 a certificate is for
    every zeta, E[Psi+] <= Psi - c M + e sigma^2 + e' zeta^2, and the number zeta is only the
    weight of the two where the smallest e + zeta^2 e' is looked for. Source: Karimireddy et al.,
    arXiv:1910.06378, assumption A1, with G = zeta.

    Examples
    --------
    >>> from certibit import BoundedDissimilarity, FunctionClass
    >>> functions = FunctionClass(4, mu=-1.0, L=1.0, assumptions=(BoundedDissimilarity(2.0),))
    >>> functions.assumptions[0].B
    2.0
    """

    B: float
    zeta: float = 0.0

    def __post_init__(self) -> None:
        """Refuse B < 1 with zeta = 0, too."""
        super().__post_init__()
        if not (self.B >= 1 or self.zeta):
            raise Refusal(
                f"B = {self.B:g} is below 1, which no gradients satisfy; give B >= 1, or zeta > 0"
            )

    @property
    def has_constant(self) -> bool:
        """Whether zeta > 0."""
        return bool(self.zeta)

    def at(self, x: SharedPoint) -> Inequality:
        """Return zeta^2 + B^2 |grad f(x)|^2 - (1/n) sum_i |grad f_i(x)|^2."""
        relative = self.B**2 * x.gradients.mean().square() - x.gradients.square()
        return self.zeta**2 * x.unit + relative if self.zeta else relative

    def in_units(self, unit: float) -> Self:
        """Return the assumption for the functions divided by a unit; B has none.

        Nor has zeta, which is a multiple of what certificates are for.
        """
        return self


@dataclass(frozen=True)
class MeanSmoothness(Assumption):
    """(1/n) sum_i |grad f_i(x) - grad f_i(y)|^2 <= L_tilde^2 |x - y|^2; L_tilde^2 = mean L_i^2.

    Source: Richtarik, Sokolov, Fatkhullin, arXiv:2106.05203.

    Examples
    --------
    >>> from certibit import FunctionClass, MeanSmoothness
    >>> FunctionClass.nonconvex(4, L=1.0, L_tilde=2.0).assumptions == (MeanSmoothness(2.0),)
    True
    """

    L_tilde: float

    def between(self, x: SharedPoint, y: SharedPoint) -> Inequality:
        """Return L_tilde^2 |x - y|^2 - (1/n) sum_i |grad f_i(x) - grad f_i(y)|^2."""
        change = x.gradients - y.gradients
        return self.L_tilde**2 * (x.point - y.point).square() - change.square()

    def follows_from(self, constants: Constants) -> bool:
        """Whether mean L_i^2 <= L_tilde^2."""
        return constants.L_tilde <= self.L_tilde
