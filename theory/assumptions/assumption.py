"""An assumption on the functions of a class: inequalities at points that all clients share.

An inequality is quadratic in points and gradients and linear in function values. It is written with
the vectors and values of :class:`SharedPoint`, and holds for the average over the clients.
"""

import re
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol, Self


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
    """

    @property
    def point(self) -> Any: ...
    @property
    def gradients(self) -> Any: ...
    @property
    def value(self) -> Any: ...


@dataclass(frozen=True)
class Assumption:
    """What is assumed of the functions of a class.

    An assumption of one's own states the inequality at a point, or that between any two points; the
    other one is None. Its fields are constants in the unit of L.

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

    def in_units(self, unit: float) -> Self:
        """Return the assumption for the functions divided by a unit."""
        whole: Any = self
        return replace(whole, **{f.name: getattr(self, f.name) / unit for f in fields(whole)})
