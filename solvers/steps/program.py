"""Iterations done by compiled code, with all their vectors and numbers in one array."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Program:
    """What an iteration does, as a table.

    Parameters
    ----------
    operations, draws : arrays of int
        What is done, and where random numbers go: see ``program_pass.repeat``.
    losses : tuple
        What gradients need beside the points.
    powers : array
        What natural messages need beside the vectors.
    memory : array
        All vectors and numbers.
    state : mapping
        The fields of the state, as views of the memory.
    counted : (R,) int
        Gradients of some clients that were evaluated, by all clients together.
    """

    operations: NDArray[np.int64]
    draws: NDArray[np.int64]
    losses: tuple[Any, ...]
    powers: NDArray[np.uint64]
    memory: NDArray[np.float64]
    state: Mapping[str, NDArray[np.float64]]
    counted: NDArray[np.int64]

    def begin(self, state: Any) -> None:
        """Write a state into the memory; no gradients are counted yet."""
        self.counted[:] = 0
        for name, x in self.state.items():
            x[:] = getattr(state, name)

    def repeat(self, numbers: NDArray[np.float64]) -> None:
        """Do an iteration with every row of random numbers, (iterations, count, R)."""
        from certibit.solvers.steps import program_pass  # noqa: PLC0415  (numba is slow)

        program_pass.repeat(
            self.operations, self.draws, numbers.reshape(len(numbers), -1), self.losses,
            self.powers, self.memory, self.counted,
        )  # fmt: skip

    def end(self, state: Any) -> dict[str, NDArray[Any]]:
        """Return the fields of the state as they are now, of the types of those of a state."""
        return {name: x.astype(getattr(state, name).dtype) for name, x in self.state.items()}
