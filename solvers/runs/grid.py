"""The product of parameter values and seeds as one batch of runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Grid:
    """Every combination of parameter values with every seed; the last axis is that of the seeds.

    Parameters
    ----------
    axes : mapping
        Values of each parameter, by name.
    seeds : int
        Seeds 0, ..., seeds - 1 of every combination.

    Examples
    --------
    >>> grid = Grid({"eta": (0.1, 0.01), "tau": (5, 10, 15)}, seeds=4)
    >>> grid.shape, grid["eta"].shape, len(grid.runs)
    ((2, 3, 4), (1, 1, 24), 24)
    """

    axes: Mapping[str, Sequence[float]]
    seeds: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of values of each axis, and of seeds."""
        return (*map(len, self.axes.values()), self.seeds)

    @property
    def runs(self) -> tuple[int, ...]:
        """The seed of every run, (R,)."""
        return tuple(range(self.seeds)) * (math.prod(self.shape) // self.seeds)

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """Return the value of a parameter in every run, (1, 1, R)."""
        place = list(self.axes).index(name)
        values = np.asarray(self.axes[name], dtype=np.float64)
        along = values.reshape([-1 if axis == place else 1 for axis in range(len(self.shape))])
        return np.broadcast_to(along, self.shape).reshape(1, 1, -1)

    def table(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one value per run, (R,), as an array of the grid's shape."""
        return values.reshape(self.shape)
