"""The product of parameter values and seeds as one batch of runs."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal


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


@dataclass(frozen=True)
class StepGrid:
    """Step sizes eta and thresholds tau of |grad f_i| that methods are tuned over.

    A method that clips takes steps of length at most tau eta; others have a step size alone.

    Attributes
    ----------
    etas, taus : tuple of float
        In any order; without thresholds for methods that have none.
    """

    etas: tuple[float, ...]
    taus: tuple[float, ...] = ()

    @classmethod
    def of(cls, words: str) -> Self:
        """Read a grid, such as ``eta=0.1,0.01:tau=5,10``.

        Raises
        ------
        Refusal
            If the words cannot be read, or a number is not positive or stands there twice.
        """
        pairs = [part.partition("=") for part in words.split(":")]
        try:
            found = {name: tuple(map(float, said.split(","))) for name, _, said in pairs}
        except ValueError:
            found = {}
        numbers = [x for values in found.values() for x in values]
        possible = all(0 < x < math.inf for x in numbers)
        distinct = all(len({*values}) == len(values) for values in found.values())
        names = [name for name, _, _ in pairs]
        if names not in (["eta"], ["eta", "tau"]) or not (found and possible and distinct):
            raise Refusal(
                f"the grid {words!r} cannot be read; expected different positive numbers, such as "
                "eta=0.1,0.01:tau=5,10"
            )
        return cls(found["eta"], found.get("tau", ()))

    def runs(self, clips: bool, seeds: int, **axes: Sequence[float]) -> Grid:
        """Return the batch of runs of a method; its shape is (axes, etas, taus, seeds)."""
        taus = self.taus if clips else (math.inf,)
        return Grid(axes | {"eta": self.etas, "tau": taus}, seeds)

    def best(self, *scores: NDArray[np.float64]) -> tuple[int, int]:
        """Return the places of the eta and tau with the least score, (etas, taus).

        Ties are broken by further scores, then by the order of the grid.
        """
        least = np.lexsort([score.ravel() for score in reversed(scores)])[0]
        eta, tau = np.unravel_index(least, scores[0].shape)
        return int(eta), int(tau)

    def edges(self, eta: float, tau: float) -> dict[str, str]:
        """Return where a pair lies on the edge of the grid: the smallest or the largest value."""
        found = {}
        for name, value, values in (("eta", eta, self.etas), ("tau", tau, self.taus)):
            if len(values) > 1 and value in (min(values), max(values)):
                found[name] = "smallest" if value == min(values) else "largest"
        return found

    def marked(self, eta: float, tau: float) -> tuple[str, str]:
        """Return a pair as text, with * on the edge of the grid; without a threshold "" for tau."""
        edges = self.edges(eta, tau)
        return (
            f"{eta:g}{'*' * ('eta' in edges)}",
            f"{tau:g}{'*' * ('tau' in edges)}" if tau < math.inf else "",
        )

    @property
    def described(self) -> str:
        """The grid in words."""
        etas, taus = (", ".join(f"{x:g}" for x in values) for values in (self.etas, self.taus))
        return f"eta = {etas}" + (f" and tau = {taus}" if taus else "")
