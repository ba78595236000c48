"""Noise of stochastic gradients: laws of mean zero with |noise| <= sigma almost surely.

A sample is a pure function of uniform numbers of [0, 1).
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import scipy
from array_api_compat import device, is_cupy_array, is_torch_array

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal

Samples = Array


class StochasticGradients(Protocol):
    """The law of the stochastic gradients of a problem: a function of uniform numbers."""

    def numbers(self, problem: Any) -> int:
        """Return how many uniform numbers a sample of a client of a problem takes."""

    def gradient(
        self, problem: Any, x: Array, uniforms: Samples, exact: Callable[[Array], Array]
    ) -> Array:
        """Return stochastic gradients at points, (n, d, R), from (n, numbers, R) in [0, 1)."""

    def largest_variance(self, problem: Any) -> float:
        """Return a bound of (1/n) sum_i E|g_i(x) - grad f_i(x)|^2 for all x; perhaps infinite."""

    def counted(self, problem: Any, sampled: bool) -> int:
        """Return what a gradient of a client counts, stochastic or exact."""


def require_whole_gradients(problem: Any) -> None:
    """Refuse a problem whose gradients are counted in rows, where promises count whole ones.

    Raises
    ------
    Refusal
        If it has mini-batches.
    """
    if problem.noise and problem.noise.counted(problem, sampled=False) != 1:
        raise Refusal(
            "what a plan promises are whole gradients, not mini-batches; leave the batch out"
        )


@dataclass(frozen=True)
class Noise(ABC):
    """A law of mean zero on the ball of radius sigma.

    Parameters
    ----------
    sigma : float
        Almost sure bound of the norm, assumption (iii) of EPISODE (ICLR 2023).

    Raises
    ------
    Refusal
        If sigma is not a positive number.
    """

    sigma: float

    def __post_init__(self) -> None:
        if not 0 < self.sigma < math.inf:
            raise Refusal(f"noise of size {self.sigma} is not possible; give a positive number")

    def uniforms(self, d: int) -> int:
        """Return how many uniform numbers a sample in R^d takes."""
        return d

    def numbers(self, problem: Any) -> int:
        """Return how many uniform numbers a sample of a client of a problem takes."""
        return self.uniforms(problem.d)

    def gradient(
        self, problem: Any, x: Array, uniforms: Samples, exact: Callable[[Array], Array]
    ) -> Array:
        """Return the exact gradients at points plus samples, (n, d, R)."""
        gradients, noise = exact(x), self.sample(uniforms, problem.d)
        return gradients + array_namespace(gradients).astype(noise, gradients.dtype)

    @abstractmethod
    def sample(self, uniforms: Samples, d: int) -> Samples:
        """Make samples (n, d, R) of uniform numbers (n, uniforms(d), R)."""

    @abstractmethod
    def variance(self, d: int) -> float:
        """E|noise|^2 in R^d."""

    def largest_variance(self, problem: Any) -> float:
        """Return the largest (1/n) sum_i E|noise_i|^2 on a problem."""
        return self.variance(problem.d)

    def counted(self, problem: Any, sampled: bool) -> int:
        """Return what a gradient of a client counts, stochastic or exact: 1."""
        return 1


class Uniform(Noise):
    """Independent entries, uniform on [-sigma, sigma]/sqrt(d).

    Examples
    --------
    >>> from certibit import Quartics, Uniform
    >>> Quartics.of(H=8, noise=Uniform(sigma=1.0)).constants.sigma
    1.0
    """

    def sample(self, uniforms: Samples, d: int) -> Samples:
        """Make samples (n, d, R) of uniform numbers (n, d, R)."""
        return (self.sigma / math.sqrt(d)) * (2 * uniforms - 1)

    def variance(self, d: int) -> float:
        """E|noise|^2 = sigma^2/3."""
        return self.sigma**2 / 3


class Ball(Noise):
    """Uniform on the ball of radius sigma."""

    def uniforms(self, d: int) -> int:
        """Return d + 1: for the direction, and for the length."""
        return d + 1

    def sample(self, uniforms: Samples, d: int) -> Samples:
        """Make samples (n, d, R) of uniform numbers (n, d + 1, R).

        The direction is that of a normal vector, the length sigma u^(1/d).
        """
        xp = array_namespace(uniforms)
        normal = _quantiles(xp.clip(uniforms[:, :d, :], 1e-300, None))
        length = self.sigma * uniforms[:, d:, :] ** (1 / d)
        return length * normal / xp.linalg.vector_norm(normal, axis=1, keepdims=True)

    def variance(self, d: int) -> float:
        """E|noise|^2 = sigma^2 d/(d + 2)."""
        return self.sigma**2 * d / (d + 2)


def _quantiles(uniforms: Array) -> Array:
    """Return the quantiles of the normal distribution."""
    if is_numpy(uniforms):
        return scipy.special.ndtri(uniforms)
    if is_cupy_array(uniforms):
        from cupyx.scipy.special import ndtri as on_device  # noqa: PLC0415  (an optional extra)

        return on_device(uniforms)
    if is_torch_array(uniforms):
        return array_namespace(uniforms).special.ndtri(uniforms)
    inside = scipy.special.ndtri(uniforms._array)  # the standard has no such function
    return array_namespace(uniforms).asarray(inside, device=uniforms.device)


def subsets(uniforms: Array, d: int | Array) -> Array:
    """Draw uniform subsets of k of d features, one per client and run: (n, k, R) to (n, k, R).

    Or of k of as many as an array of floats (n, 1) says for every client.

    Floyd's algorithm: for j = d-k, ..., d-1 draw t of 0..j and add t, or j where t is in already.
    All indices are distinct. The work is O(k^2) comparisons per client and run.
    Source: J. Bentley, R. Floyd, Programming pearls: a sample of brilliance, CACM 30(9), 1987.
    """
    xp = array_namespace(uniforms)
    n, k, runs = uniforms.shape
    # The k indices are the first axis, so that each comparison runs over contiguous memory.
    chosen = xp.empty((k, n, runs), dtype=xp.int64, device=device(uniforms))
    for i in range(k):
        j = d - k + i
        t = xp.astype(uniforms[:, i, :] * (j + 1), xp.int64)
        last = j if isinstance(j, int) else xp.astype(j, xp.int64)
        chosen[i, ...] = xp.where(xp.any(chosen[:i, ...] == t, axis=0), last, t) if i else t
    return xp.permute_dims(chosen, (1, 0, 2))
