"""Problems whose smoothness may grow with the gradient: (L0, L1)-smooth functions of n clients.

A function h is (L0, L1)-smooth if |Hess h(x)| <= L0 + L1 |grad h(x)| for all x. The problems here
have what the engine asks of a problem, no ridge, a starting point and, if wanted, gradient noise.
"""

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array, array_namespace
from certibit.data.errors import Refusal
from certibit.data.noise import Noise
from certibit.data.problem import RelaxedConstants


@dataclass(frozen=True, eq=False, kw_only=True)
class RelaxedProblem(ABC):
    """Minimise f = (1/n) sum_i f_i, perhaps not convex.

    Arrays are (n, d, R): clients, features, runs; a point that all clients share is (1, d, R).
    Fields named in ``per_run`` have the runs on their last axis and may differ between runs.

    Parameters
    ----------
    x_0 : array (1, d, R) or (1, d, 1)
        Where runs start.
    noise : Noise, optional
        The law of the noise of stochastic gradients.
    """

    x_0: Array
    noise: Noise | None = None

    name: ClassVar[str]
    per_run: ClassVar[tuple[str, ...]] = ("x_0",)

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of clients."""

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.x_0.shape[1])

    @property
    @abstractmethod
    def x_star(self) -> Array:
        """A global minimiser of f, (1, d, R) or (1, d, 1); NaN if the infimum is not attained."""

    @property
    def grad_star(self) -> Array:
        """Gradients of all f_i at x_star, (n, d, R) or (n, d, 1)."""
        return self.grad(self.x_star)

    @abstractmethod
    def grad(self, x: Array) -> Array:
        """Gradients of all f_i at (n, d, R), or at one point (1, d, R), as (n, d, R)."""

    def grad_g(self, y: Array) -> Array:
        """Gradient of g = 0, of the shape of ``y``."""
        return 0 * y

    @abstractmethod
    def value(self, x: Array) -> Array:
        """f(x) at shared points (1, d, R), as an array (R,)."""

    @abstractmethod
    def gap(self, x: Array) -> Array:
        """f(x) - inf f at shared points (1, d, R), as an array (R,)."""

    @abstractmethod
    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1, by default for one that is natural."""

    @cached_property
    def constants(self) -> RelaxedConstants:
        """The constants for the natural L1."""
        return self.relaxed()

    @property
    def f_star(self) -> float:
        """The infimum of f, for a problem that is the same in all runs."""
        return float((self.value(self.x_0) - self.gap(self.x_0))[0])

    @property
    def plain(self) -> Self:
        """The problem itself: there is no ridge to move."""
        return self

    @property
    def composite(self) -> NoReturn:
        """Refused: there is no ridge that could be taken out.

        Raises
        ------
        Refusal
            Always.
        """
        raise Refusal(
            f"{self.name} has no view with a shared ridge g; choose a method that minimises f alone"
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the class and all its fields."""
        return hashlib.sha256(json.dumps(_described(self)).encode()).hexdigest()

    @property
    def specification(self) -> dict[str, object]:
        """What defines the problem, ready for JSON."""
        noise = _described(self.noise) if self.noise else None
        return {
            "name": self.name,
            "n": self.n,
            "d": self.d,
            "noise": noise,
            "fingerprint": self.fingerprint,
        }

    def __repr__(self) -> str:
        runs = max(getattr(self, name).shape[2] for name in self.per_run)
        constants = (
            f"{runs=}" if runs > 1 else f"L0={self.constants.L0:.4g}, L1={self.constants.L1:.4g}"
        )
        return f"{type(self).__name__}(n={self.n}, d={self.d}, {constants}, noise={self.noise})"

    def _sigma(self) -> float:
        return self.noise.sigma if self.noise else 0.0

    def _gap_at_start(self) -> float:
        return float(array_namespace(self.x_0).max(self.gap(self.x_0)))


def _described(value: object) -> object:
    """Return a dataclass of numbers, texts and numpy arrays as JSON values."""
    if is_dataclass(value):
        return [
            type(value).__qualname__,
            {f.name: _described(getattr(value, f.name)) for f in fields(value)},
        ]
    return np.asarray(value).tolist() if value is not None else None


def start_at(x_0: ArrayLike) -> Array:
    """Return a number, a point (d,) or points (1, d, R) as the start of a problem, (1, d, .)."""
    start = np.atleast_1d(np.asarray(x_0, dtype=np.float64))
    return start if start.ndim == 3 else start[None, :, None]
