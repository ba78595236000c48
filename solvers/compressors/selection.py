"""Sparsification: compressors that send few of the d entries."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal
from certibit.data.noise import subsets
from certibit.solvers.backend import feature_sum, gather, scatter, squared_norm
from certibit.solvers.compressors import wire
from certibit.solvers.compressors.base import (
    Biased,
    Compressor,
    require_positive_integer,
)


@dataclass(frozen=True)
class RandK(Compressor):
    """Random sparsification: C(x) = (d/k) sum of x_j e_j over a uniform subset of k features.

    omega = d/k - 1, attained by every x. The message is the k indices and the k raw entries,
    32 k + k ceil(log2 d) bits; the receiver multiplies by d/k.

    With ``shared`` all clients draw one subset from a shared seed: no index is sent, 32 k bits,
    and omega_av = omega.
    """

    k: int
    shared: bool = False

    def __post_init__(self) -> None:
        require_positive_integer("rand-k", self.k, "k =")

    @property
    def name(self) -> str:
        return f"rand-k:{self.k}" + ("@shared" if self.shared else "")

    def check(self, d: int) -> None:
        _require_at_most(self.name, self.k, d)

    def omega(self, d: int) -> float:
        self.check(d)
        return d / self.k - 1

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.ones(d)

    def layout(self, d: int) -> wire.Layout:
        self.check(d)
        index = wire.Shared(wire.Index(d)) if self.shared else wire.Index(d)
        return wire.Layout(((index, self.k), (wire.Float32(), self.k)))

    def uniforms(self, d: int) -> int:
        return self.k

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        n, d, runs = x.shape
        self.check(d)
        indices = array_namespace(uniforms).broadcast_to(subsets(uniforms, d), (n, self.k, runs))
        return indices, gather(x, indices)

    def vector(self, message: wire.Message, d: int) -> Array:
        indices, values = message
        return scatter(indices, values * (d / self.k), d)

    def variance(self, x: Array) -> Array:
        return self.omega(x.shape[1]) * squared_norm(x)[:, 0, :]


def rand_k_of(omega: float, least: int = 1) -> tuple[RandK, int]:
    """Return a rand-k with a relative variance, and the number d >= least of features it is for.

    omega = d/k - 1 is met to three decimal places; E|C(x) - x|^2 is omega |x|^2 for every x.
    """
    if not 0 <= omega < 1e6:
        raise Refusal(
            f"omega = {omega:g} is no relative variance; give one of at least 0 and below 1e6"
        )
    ratio = Fraction(1 + omega).limit_denominator(1000)
    k = -(-least // ratio.numerator) * ratio.denominator
    return RandK(k), int(k * ratio)


@dataclass(frozen=True)
class TopK(Biased):
    """Greedy sparsification: the k entries of largest absolute value; of equal ones, the first.

    Biased, alpha = k/d. The message is the k indices and entries, 32 k + k ceil(log2 d) bits.
    """

    k: int

    def __post_init__(self) -> None:
        require_positive_integer("top-k", self.k, "k =")

    @property
    def name(self) -> str:
        return f"top-k:{self.k}"

    def check(self, d: int) -> None:
        _require_at_most(self.name, self.k, d)

    def alpha(self, d: int) -> float:
        self.check(d)
        return self.k / d

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.ones(d)

    def layout(self, d: int) -> wire.Layout:
        self.check(d)
        return wire.Layout(((wire.Index(d), self.k), (wire.Float32(), self.k)))

    def uniforms(self, d: int) -> int:
        return 0

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        self.check(x.shape[1])
        indices = _largest(x, self.k)
        return indices, array_namespace(x).take_along_axis(x, indices, axis=1)

    def vector(self, message: wire.Message, d: int) -> Array:
        indices, values = message
        return scatter(indices, values, d)

    def variance(self, x: Array) -> Array:
        xp = array_namespace(x)
        self.check(x.shape[1])
        return squared_norm(xp.sort(xp.abs(x), axis=1)[:, : x.shape[1] - self.k, :])[:, 0, :]


_PASSES, _LARGE = 6, 1 << 12
"""Passes over all numbers find the largest entries where there are at least so many features for
each of them and, on the host, so many numbers; elsewhere a sort takes less time."""


def _largest(x: Array, k: int) -> Array:
    """Return the features of the k largest absolute values, of equal ones the first: (n, k, R).

    What is not a number comes last.
    """
    xp, d = array_namespace(x), x.shape[1]
    if _PASSES * k > d or (is_numpy(x) and x.size < _LARGE):
        return xp.argsort(-xp.abs(x), axis=1, stable=True)[:, :k, :]
    size, found = xp.where(xp.isnan(x), -1.0, xp.abs(x)), []
    if is_numpy(x):
        size = np.ascontiguousarray(size.transpose(0, 2, 1))
        for _ in range(k):
            found.append(np.argmax(size, axis=2, keepdims=True))
            np.put_along_axis(size, found[-1], -2.0, axis=2)
        return np.concatenate(found, axis=2).transpose(0, 2, 1)
    features = xp.arange(d, device=device(x))[None, :, None]
    for _ in range(k):
        found.append(xp.argmax(size, axis=1, keepdims=True))
        size = xp.where(features == found[-1], -2.0, size)
    return xp.concat(found, axis=1)


@dataclass(frozen=True)
class L1Selection(Compressor):
    """One entry: C(x) = sign(x_j) |x|_1 e_j with j drawn with probability |x_j| / |x|_1.

    omega = d - 1, attained where all |x_j| are equal, since E|C(x)|^2 = |x|_1^2 <= d |x|^2. The
    message is the index and the signed norm, 32 + ceil(log2 d) bits.
    """

    @property
    def name(self) -> str:
        return "l1"

    def omega(self, d: int) -> float:
        return d - 1.0

    def hardest(self, d: int) -> NDArray[np.float64]:
        return np.ones(d)

    def layout(self, d: int) -> wire.Layout:
        return wire.Layout(((wire.Index(d), 1), (wire.Float32(), 1)))

    def uniforms(self, d: int) -> int:
        return 1

    def message(self, x: Array, uniforms: Array) -> wire.Message:
        xp = array_namespace(x)
        index, norm = _drawn(xp.abs(x), uniforms)
        return index, xp.sign(xp.take_along_axis(x, index, axis=1)) * norm

    def vector(self, message: wire.Message, d: int) -> Array:
        indices, values = message
        return scatter(indices, values, d)

    def variance(self, x: Array) -> Array:
        xp = array_namespace(x)
        size = xp.abs(x)
        # |x|_1^2 - |x|^2 as a sum of terms that are never negative
        return feature_sum(size * (feature_sum(size) - size))[:, 0, :]


def _drawn(weights: Array, uniforms: Array) -> tuple[Array, Array]:
    """Draw one feature of each client and run by its weight, and give all weights together.

    The feature is the first whose cumulative weight is above uniforms * total, with one uniform
    (n, 1, R) each; weights are (n, d, R) and not negative. It is found in two steps, first among
    the sums of sqrt(d) blocks and then within a block: a cumulative sum is a slow operation.
    Cumulative weights are arrays (k, n R), with a column for each client and run.
    """
    xp = array_namespace(weights)
    n, d, runs = weights.shape
    width = _block(d)
    count = -(-d // width)
    filled = weights
    if count * width > d:
        rest = xp.zeros((n, count * width - d, runs), dtype=weights.dtype, device=device(weights))
        filled = xp.concat((weights, rest), axis=1)
    blocks = xp.reshape(feature_sum(xp.reshape(filled, (-1, width, runs))), (n, count, runs))
    sums = _cumulative(xp.reshape(xp.permute_dims(blocks, (1, 0, 2)), (count, n * runs)))
    total = sums[-1:, :]
    target = _below(xp.reshape(uniforms, (1, n * runs)) * total, total)
    block = _exceeding(sums, target)
    before = xp.take_along_axis(sums, xp.maximum(block - 1, xp.zeros_like(block)), axis=0)
    target = target - xp.where(block > 0, before, xp.zeros_like(before))
    column = xp.arange(n * runs, device=device(weights))
    feature = block * width + xp.arange(width, device=device(weights))[:, None]
    places = (column // runs * (count * width) + feature) * runs + column % runs
    within = xp.take(xp.reshape(filled, (-1,)), xp.reshape(places, (-1,)))
    inner = _cumulative(xp.reshape(within, (width, n * runs)))
    index = block * width + _exceeding(inner, _below(target, inner[-1:, :]))
    return xp.reshape(index, (n, 1, runs)), xp.reshape(total, (n, 1, runs))


def _block(d: int) -> int:
    """Return a size of blocks near sqrt(d), one that divides d if there is any."""
    least = math.ceil(math.sqrt(d))
    return next((size for size in range(least, 2 * least) if d % size == 0), least)


def _below(x: Array, bound: Array) -> Array:
    """Return x, and the largest number below the bound where rounding has brought x up to it."""
    xp = array_namespace(x)
    return xp.minimum(x, xp.nextafter(bound, -xp.ones_like(bound)))


def _cumulative(x: Array) -> Array:
    """Cumulative sums over the first axis, as a product: (k, q) to (k, q)."""
    xp = array_namespace(x)
    return xp.tril(xp.ones((x.shape[0], x.shape[0]), dtype=x.dtype, device=device(x))) @ x


def _exceeding(sums: Array, target: Array) -> Array:
    """Return the position of the first cumulative sum above a target: (k, q) to (1, q)."""
    return array_namespace(sums).count_nonzero(sums <= target, axis=0, keepdims=True)


def _require_at_most(name: str, k: int, d: int) -> None:
    """Refuse to keep more entries than there are."""
    if k > d:
        raise Refusal(f"{name} keeps {k} of d = {d} entries; choose k between 1 and {d}")
