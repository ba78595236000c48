"""Problems that need not be convex: minimise f = (1/n) sum_i f_i, perhaps without a minimiser."""

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.data.files.own_data import own_numbers
from certibit.data.noise import StochasticGradients


@dataclass(frozen=True, eq=False, kw_only=True)
class NonconvexProblem(ABC):
    """Minimise f = (1/n) sum_i f_i, perhaps not convex.

    Arrays are (n, d, R): clients, features, runs; a point that all clients share is (1, d, R).
    Fields named in ``per_run`` have the runs on their last axis and may differ between runs.

    Parameters
    ----------
    x_0 : array (1, d, R) or (1, d, 1)
        Where runs start.
    noise : StochasticGradients, optional
        The law of stochastic gradients.
    """

    x_0: Array
    noise: StochasticGradients | None = None

    per_run: ClassVar[tuple[str, ...]] = ("x_0",)
    view: ClassVar[str] = "plain"

    @property
    @abstractmethod
    def name(self) -> str:
        """The name of the problem, such as ``a5a@87:nonconvex``."""

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
    def constants(self) -> Any:
        """The constants of its assumptions, with mu <= 0."""

    @property
    @abstractmethod
    def x_star(self) -> Array:
        """A global minimiser of f, (1, d, R) or (1, d, 1); NaN if there is none or none is known.

        Without one, the infimum is a lower bound.
        """

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
        """The definition of the problem, ready for JSON."""
        noise: Any = self.noise
        noise = _described(noise) if noise else None
        return {
            "name": self.name,
            "n": self.n,
            "d": self.d,
            "noise": noise,
            "fingerprint": self.fingerprint,
        }


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
    start = np.atleast_1d(own_numbers(x_0, "the numbers of the start"))
    return start if start.ndim == 3 else start[None, :, None]
