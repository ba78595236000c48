"""Lists that the compressor tests multiply: compressors, vectors, and exact outcomes of a draw."""

from itertools import product
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from certibit import Compressor, Refusal, compressor
from certibit.solvers.backend import round_power_of_two
from certibit.solvers.compressors.natural import random_bits

UNBIASED = [
    "identity",
    "rand-k:1",
    "rand-k:2",
    "rand-k:3",
    "rand-k:2@shared",
    "natural",
    "rand-k:1+natural",
    "rand-k:2+natural",
    "l1",
    "dithering:1",
    "dithering:3",
    "dithering:4",
    "ternary",
]
BIASED = [
    "top-k:1",
    "top-k:2",
    "sign",
    "chunked:2(top-k:1)",
    "chunked:3(sign)",
    "scaled(rand-k:1)",
    "scaled(rand-k:2@shared)",
    "scaled(natural)",
    "scaled(l1)",
    "scaled(dithering:2)",
    "rand-k:2(top-k:3)",
]
ALL = UNBIASED + BIASED

VECTORS = {
    "zero": [0.0, 0.0, 0.0],
    "signed zeros": [-0.0, 0.0, -0.0],
    "one number": [-3.7],
    "one zero": [0.0],
    "ones": [1.0, 1.0, 1.0, 1.0],
    "ties": [2.5, -2.5, 0.5, 2.5],
    "one-hot": [0.0, -5.0, 0.0],
    "a zero inside": [0.3, 0.0, -1.9, 0.7],
    "powers of two": [0.25, -8.0, 1.0],
    "worst for natural": [4 / 3, -8 / 3, 1 / 3],
    "worst for ternary": [1.0, -1 / 3, 1 / 3, 1 / 3],
    "huge ratio": [1e120, -3e-120, 5.0],
    "subnormal": [5e-324, -3e-310, 0.0],
    "subnormal singles": [1e-40, -3e-39, 2.0**-126],
    "generic": [0.31, -1.27, 2.04, -0.66],
}


def serves(name: str, d: int) -> bool:
    """Whether the compressor keeps at most d entries."""
    try:
        compressor(name).check(d)
    except Refusal:
        return False
    return True


CASES = [
    (name, vector) for name, vector in product(ALL, VECTORS) if serves(name, len(VECTORS[vector]))
]


def cuts(c: Compressor, x: NDArray[np.float64]) -> list[list[float]]:
    """Where in (0, 1) each uniform number changes the message, from the definition of C alone."""
    d = x.size
    size = np.abs(x)
    name = c.name.removeprefix("scaled(").removesuffix(")")
    if name.startswith("rand-k") and "(" in name:  # of as many features as are drawn from
        name, d = name.partition("(")[0], int(name.rpartition(":")[2])
    kind, _, rest = name.partition(":")
    if kind in {"identity", "top-k", "sign", "chunked"}:
        return []
    if kind == "rand-k":
        k = int(rest.partition("@")[0].partition("+")[0])
        floyd = [[i / j for i in range(1, j)] for j in range(d - k + 1, d + 1)]
        rounding = [sorted(set(map(_natural_cut, size)))] * k if "natural" in rest else []
        return floyd + rounding
    if kind == "natural":
        return [[_natural_cut(value)] for value in size]
    largest = size.max() or 1.0
    if kind == "l1":
        return [list(np.cumsum(size / largest)[:-1] / (np.sum(size / largest) or 1.0))]
    if kind == "ternary":
        return [[value / largest] for value in size]
    norm = sqrt(np.sum((size / largest) ** 2)) or 1.0
    return [[value / largest / norm * int(rest) % 1] for value in size]


def _natural_cut(size: float) -> float:
    if size < 2.0**-126:
        return float(size / 2.0**-126)
    return 2 * float(np.frexp(size)[0]) - 1


def outcomes(
    c: Compressor, x: NDArray[np.float64], fraction: float = 0.5
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All values of C(x) with their probabilities: (d, outcomes) and (outcomes,).

    The box of uniform numbers is cut into cells where the message does not change; each cell is
    evaluated at one point, ``fraction`` of the way from its lower to its upper corner, and every
    outcome is one run of a single call. Natural compression is given a number for every entry; that
    those it makes itself are uniform too is tested apart.
    """
    points, weights = [], []
    for inner in cuts(c, x):
        edges = np.unique([0.0, *inner, 1.0])
        points.append(edges[:-1] + fraction * np.diff(edges))
        weights.append(np.diff(edges))
    probability = np.array([np.prod(w) for w in product(*weights)])
    grid = np.array(list(product(*points))).reshape(1, probability.size, -1).swapaxes(1, 2)
    copies = np.repeat(x[None, :, None], probability.size, axis=2)
    if "natural" in c.name and "rand-k" not in c.name:
        return c.vector((round_power_of_two(copies, random_bits(grid)),), x.size)[0], probability
    assert len(points) == c.uniforms(x.size)
    return c.compress(copies, grid)[0], probability


def draw(
    name: str, n: int, d: int, runs: int, seed: int = 0
) -> tuple[Compressor, NDArray[np.float64], NDArray[np.float64]]:
    """A compressor with normal vectors and uniform numbers of the right shapes."""
    c = compressor(name)
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, d, runs))
    return c, x, rng.random((1 if c.shared else n, c.uniforms(d), runs))
