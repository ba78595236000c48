"""The interface of losses: smooth functions phi(z; b) of a prediction z and a target b."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Literal, Self

import numpy as np

from certibit.data.arrays import Array, array_namespace
from certibit.data.batch_rows import BatchRows
from certibit.data.errors import Refusal

_SHORT = 0.1
"""A step up to this length has its divergence integrated; above, it is the plain difference."""
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
"""Gauss's rule on [-1, 1]."""
_FAR = np.concatenate([[0.0], *(sign * np.geomspace(1e-3, 1e3, 60) for sign in (1, -1))])
_TARGETS = 50
_STEP, _JUMPS = 1e-6, 0.1
"""A step of differences, relative to 1 + |z| or 1 + |z - b|, and the largest share of jumps."""
_ROUNDING = 1e-9
_CONVEX = "convex loss and its largest curvature"


@dataclass(frozen=True)
class Loss(ABC):
    """Base of losses; a subclass is a frozen dataclass of its parameters.

    ``value``, ``slope`` and ``curvature`` are phi and its first two derivatives in z, elementwise,
    and ``smoothness`` is the largest absolute curvature. A loss with discontinuous curvature
    overrides ``divergence``, and one that is not convex ``weak_convexity``.

    Attributes
    ----------
    name : str
        The name of the loss.
    targets : str
        "two classes", which are passed as -1 and +1, or "numbers".
    outputs : int
        Predictions of a row: one.

    Examples
    --------
    >>> import numpy as np
    >>> from certibit import Huber, Loss
    >>> loss: Loss = Huber(delta=1.0)
    >>> loss.value(np.array([0.5, 3.0]), np.array([0.0, 0.0]))
    array([0.125, 2.5  ])
    """

    name: ClassVar[str]
    targets: ClassVar[Literal["two classes", "numbers"]] = "numbers"
    outputs: ClassVar[int] = 1

    @property
    @abstractmethod
    def smoothness(self) -> float:
        """The largest absolute second derivative of phi in z."""

    @property
    def weak_convexity(self) -> float:
        """The smallest nu with phi'' >= -nu everywhere: 0 for a convex loss."""
        return 0.0

    @property
    def steepness(self) -> float:
        """The largest |phi'|, for all targets; infinite where there is none or none is stated."""
        return math.inf

    @abstractmethod
    def value(self, z: Array, b: Array) -> Array:
        """Return phi(z; b)."""

    @abstractmethod
    def slope(self, z: Array, b: Array) -> Array:
        """Return the derivative phi'(z; b)."""

    @abstractmethod
    def curvature(self, z: Array, b: Array) -> Array:
        """Return the second derivative phi''(z; b)."""

    def divergence(self, z: Array, step: Array, b: Array) -> Array:
        """Bregman divergence phi(z+t) - phi(z) - phi'(z) t of a step t, without cancellation.

        For a short step it is t^2 times the integral of (1 - u) phi''(z + u t) over u in [0, 1],
        whose terms are not negative, by Gauss's rule with 8 nodes.
        """
        xp = array_namespace(step)
        short = xp.abs(step) <= _SHORT
        t = xp.where(short, step, 0.0)
        integral = 0.0 * (z + t)
        for node, weight in zip(_NODES.tolist(), _WEIGHTS.tolist(), strict=True):
            u = 0.5 * (1.0 + node)
            integral = integral + 0.5 * weight * (1.0 - u) * self.curvature(z + u * t, b)
        direct = self.value(z + step, b) - self.value(z, b) - self.slope(z, b) * step
        return xp.where(short, t * t * integral, direct)

    def require_smooth(self, b: Array) -> None:
        """Look at the functions of the loss near and far from 0 and from targets b, (N,).

        A difference of values over a short step h may differ from the slope by L h/2 and rounding.
        One of slopes is the curvature, but for a few points where that jumps.

        Raises
        ------
        Refusal
            If at one of these points the slope is no derivative of the value, or the curvature is
            none of the slope, above the smoothness, or below the least that the loss states; if a
            function is of fewer than 64 bits, or writes into its arguments.
        """
        z, targets = _looked_at(b)
        with np.errstate(all="ignore"):  # a function may overflow far away
            found = self._evaluated("curvature", z, targets)
        low = -self.weak_convexity
        for place, said, wrong in (
            (np.nanargmax(found), f"above the smoothness {self.smoothness:g}",
             np.nanmax(found) > self.smoothness * (1 + _ROUNDING)),
            (np.nanargmin(found), f"below {low:g}" if low else "negative",
             np.nanmin(found) < low - _ROUNDING * self.smoothness),
        ):  # fmt: skip
            if wrong:
                raise Refusal(
                    f"the curvature of the loss {self.name} is {found.flat[place]:.6g} at "
                    f"z = {z.flat[place]:.6g} and b = {targets.flat[place]:.6g}, {said}; give a "
                    f"{'loss and the bounds of its curvature' if low else _CONVEX}"
                )
        with np.errstate(all="ignore"):
            self._require_derivatives(z, targets)

    def _evaluated(self, name: str, *arguments: Array) -> Array:
        """Return a function of the loss; refuse it if it is coarse or writes into arguments."""
        own = tuple(x.copy() for x in arguments)
        found = np.asarray(getattr(self, name)(*own))
        fine = found.dtype.kind in "fiu" and found.dtype.itemsize >= 8
        numbers = np.unique(found[np.isfinite(found)]) if fine else found
        coarse = fine and numbers.size > _TARGETS
        coarse = coarse and np.array_equal(numbers, numbers.astype(np.float32))
        if not all(map(np.array_equal, own, arguments)):
            wrong, remedy = "writes into its arguments", "compute new arrays"
        elif coarse or not fine:
            wrong, remedy = f"gives {found.dtype}{' of 32 bits' * coarse}", "compute in float64"
        else:
            return found + 0.0 * arguments[0]
        raise Refusal(f"{name} of the loss {self.name} {wrong}; let it {remedy}")

    def _require_derivatives(self, z: Array, b: Array) -> None:
        """Refuse a slope that is no derivative of the value, and a curvature that is none of it."""
        there = z + _STEP * (1 + np.minimum(np.abs(z), np.abs(z - b)))
        h, L, eps = there - z, self.smoothness, 16 * np.finfo(np.float64).eps
        self._evaluated("divergence", z, h, b)
        value, slope, curvature = (
            self._evaluated(name, z, b) for name in ("value", "slope", "curvature")
        )
        rise, bend = (self.value(there, b) - value) / h, (self.slope(there, b) - slope) / h
        size = np.abs(z) + np.abs(b) + 1
        rounding = eps * (np.abs(value) + np.abs(rise) * h + L * size * size) / h
        hidden = eps * (np.abs(slope) + L * size) / h
        for claimed, name, is_, of, allowed, most in (
            (slope, "slope", rise, "value", 0.501 * L * h + rounding, 0.0),
            (curvature, "curvature", bend, "slope", 1e-3 * L + hidden, _JUMPS),
        ):
            excess = np.abs(claimed - is_) - allowed
            if np.mean(excess > 0) > most:
                place = np.nanargmax(excess)
                raise Refusal(
                    f"the {name} of the loss {self.name} is {claimed.flat[place]:.6g} at "
                    f"z = {z.flat[place]:.6g} and b = {b.flat[place]:.6g}, where its {of} rises by "
                    f"{is_.flat[place]:.6g} a unit; give the derivative"
                )

    def require_bounded_below(self, b: Array) -> None:
        """Look at the values near and far from 0 and from targets b, (N,).

        Raises
        ------
        Refusal
            If one of them is negative.
        """
        z, targets = _looked_at(b)
        with np.errstate(all="ignore"):
            found = np.asarray(self.value(z, targets)) + 0 * z
        place = np.nanargmin(found)
        if found.flat[place] < -_ROUNDING:
            raise Refusal(
                f"the loss {self.name} is {found.flat[place]:.6g} at z = {z.flat[place]:.6g} and "
                f"b = {targets.flat[place]:.6g}; the infimum of a nonconvex problem is bounded by "
                "0, so give a loss that is not negative"
            )

    def accepts(self, b: Array) -> str:
        """Return the expected targets, in words, if these real numbers do not fit; else ""."""
        return ""

    def holds_at(self, z: Array) -> str:
        """Return why the loss differs from the one of its name at predictions z; "" if not."""
        return ""


def _looked_at(b: Array) -> tuple[Array, Array]:
    """Return predictions near and far from 0 and from some targets, and these targets."""
    targets = np.quantile(b, np.linspace(0, 1, _TARGETS), method="nearest")
    z = np.stack([_FAR + 0 * targets[:, None], _FAR + targets[:, None]], axis=1)
    return z, targets[:, None, None] + 0 * z


def require_positive_width(name: str, value: float, example: str) -> None:
    """Refuse a parameter of a loss that is not positive and finite."""
    if not 0 < value < math.inf:
        raise Refusal(
            f"{name} = {value:g} of a loss; expected a positive number, such as {example}"
        )


class WeightedLosses:
    """The part sum_s w_is phi(a_is' x; b_is) of the f_i of a problem, a frozen dataclass.

    Attributes
    ----------
    loss : Loss
        phi.
    rows : DenseRows or SparseRows
        The rows a_is of all clients, n blocks (m, d).
    targets, weights : arrays of shape (n, m, 1)
        The b_is and w_is; w_is = 0 for empty rows.
    """

    loss: Loss
    rows: Any
    targets: Array
    weights: Array

    def row_slopes(self, x: Array) -> Array:
        """w_is phi'(a_is' x; b_is) at points (n, d, R) or (1, d, R), as (n, m, R)."""
        return self.weights * self.loss.slope(self._predict(x), self.targets)

    @cached_property
    def row_counts(self) -> Array:
        """The m_i, (n, 1, 1)."""
        xp = array_namespace(self.weights)
        there = xp.astype(self.weights > 0, self.weights.dtype)
        return xp.sum(there, axis=1, keepdims=True)

    def of_batch(self, rows: BatchRows) -> Self:
        """Return the problem whose f_i are those of a mini-batch."""
        changes: Any = {"rows": rows, "targets": rows.of(self.targets)}
        problem: Any = self
        made: Self = replace(problem, **changes, weights=rows.of(self.weights))
        return made

    def _predict(self, x: Array) -> Array:
        return self.rows.forward(x)
