"""Some runs of a batch: positions among all, or on a device a mask."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.solvers.libraries import like

Runs = Any
"""Positions in the whole batch, (R,) int, or a :class:`Turn` on a device."""


@dataclass(frozen=True, eq=False)
class Turn:
    """Some of R runs on a device, for numpy an array (R,) of bool.

    Attributes
    ----------
    known : (R,) bool
        Which, on the host.
    mask : (R,) bool
        The same on the device.
    """

    known: NDArray[np.bool_]
    mask: Array

    @classmethod
    def of_all(cls, runs: int, template: Array) -> "Turn":
        """Return all runs, on the device of an array."""
        known = np.ones(runs, dtype=bool)
        return cls(known, like(template, known))

    def __len__(self) -> int:
        return self.known.size

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.known

    def only(self, numbers: Array | int) -> Array:
        """Return numbers of these runs, and 0 of the others: (R,) integers."""
        xp = array_namespace(self.mask)
        return xp.astype(self.mask, xp.int64) * numbers


def some_of(runs: Runs, among: Runs) -> Runs:
    """Return some of the runs: by their positions among these, or on a device a turn."""
    return among if isinstance(among, Turn) else runs[among]
