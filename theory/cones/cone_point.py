"""Points of a cone: symmetric matrices, and a number for each linear inequality."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from certibit.theory.cones.direction_equations import Floats
from certibit.theory.cones.triangles import from_triangle, triangle


@dataclass(frozen=True, eq=False)
class ConePoint:
    """Symmetric matrices (k, k), by blocks, and numbers (K,): all positive, or a change of such."""

    matrices: tuple[Floats, ...]
    weights: Floats

    @classmethod
    def of(cls, flat: Floats, sizes: Sequence[int]) -> "ConePoint":
        """Read one from its triangles and numbers."""
        *triangles, weights = np.split(flat, np.cumsum([k * (k + 1) // 2 for k in sizes]))
        return cls(tuple(map(from_triangle, triangles)), weights)

    @classmethod
    def identity(cls, sizes: Sequence[int], count: int) -> "ConePoint":
        """Return the matrices 1 and the numbers 1."""
        return cls(tuple(np.eye(k) for k in sizes), np.ones(count))

    @property
    def flat(self) -> Floats:
        """Its triangles and numbers, with the same inner products."""
        return np.concatenate([*map(triangle, self.matrices), self.weights])

    @property
    def trace(self) -> float:
        """The sum of all eigenvalues and numbers."""
        return float(sum(x.trace() for x in self.matrices) + self.weights.sum())

    @property
    def size(self) -> int:
        """How many these are."""
        return sum(map(len, self.matrices)) + len(self.weights)

    def __add__(self, other: "ConePoint") -> "ConePoint":
        pairs = zip(self.matrices, other.matrices, strict=True)
        return ConePoint(tuple(a + b for a, b in pairs), self.weights + other.weights)

    def __mul__(self, factor: float) -> "ConePoint":
        return ConePoint(tuple(factor * x for x in self.matrices), factor * self.weights)

    def __sub__(self, other: "ConePoint") -> "ConePoint":
        return self + other * -1.0

    def dot(self, other: "ConePoint") -> float:
        """Return the inner product."""
        return float(self.flat @ other.flat)

    def reach(self, change: "ConePoint") -> float:
        """Return how often a change may be added to a diagonal, positive point."""
        lowest = [float((change.weights / self.weights).min(initial=0.0))]
        for own, x in zip(self.matrices, change.matrices, strict=True):
            root = own.diagonal() ** -0.5
            lowest.append(float(np.linalg.eigvalsh(root[:, None] * x * root)[0]))
        return -1 / min(lowest) if min(lowest) < 0 else np.inf

    def towards(self, target: float, primal: "ConePoint", dual: "ConePoint") -> "ConePoint":
        """Return the sum of changes after which a diagonal point has products near a target.

        The product of the two changes that are foreseen is taken off: Mehrotra's correction.
        """
        matrices = []
        for own, a, b in zip(self.matrices, primal.matrices, dual.matrices, strict=True):
            values = own.diagonal()
            second = (a @ b + b @ a) / (values[:, None] + values)
            matrices.append(np.diag(target / values - values) - second)
        both = primal.weights * dual.weights
        return ConePoint(tuple(matrices), (target - both) / self.weights - self.weights)
