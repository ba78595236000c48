"""Some runs of a batch, and their ledger: bits, gradients and synchronisations of each run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.errors import Refusal
from certibit.solvers.libraries import like
from certibit.solvers.registry import on_device

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


Bits = int | Array
"""A number for all runs, or one for each, (R,)."""


class Ledger:
    """The costs of each run so far, (R,) each.

    Attributes
    ----------
    uplink_bits : bits sent by all clients together
    busiest_bits : of every message the bits of the client who sends most, summed: what a server
        waits for
    downlink_bits : bits received by all clients together
    gradients : gradients of an f_i evaluated by all clients together
    synchronisations : how often the server has waited for clients; what they send between two
        broadcasts counts once
    """

    def __init__(self, runs: int) -> None:
        self.uplink_bits = np.zeros(runs, dtype=np.int64)
        self.busiest_bits = np.zeros(runs, dtype=np.int64)
        self.downlink_bits = np.zeros(runs, dtype=np.int64)
        self.gradients = np.zeros(runs, dtype=np.int64)
        self.synchronisations = np.zeros(runs, dtype=np.int64)
        self._waiting = np.zeros(runs, dtype=bool)

    def up(self, runs: Runs, bits: Bits, busiest: Bits, most: int | None = None) -> None:
        """Count bits of the clients of some runs, and of the busiest one; ``most`` at most."""
        self.uplink_bits[runs] += bits
        self.busiest_bits[runs] += busiest
        sent, waiting = np.asarray(bits) > 0, self._waiting[runs]
        self.synchronisations[runs] += sent & ~waiting
        self._waiting[runs] = sent | waiting

    def down(self, runs: Runs, bits: Bits) -> None:
        """Count bits received by the clients of some runs, a number or (R,)."""
        self.downlink_bits[runs] += bits
        self._waiting[runs] &= np.asarray(bits) == 0

    def evaluate(self, runs: Runs, gradients: Bits, most: int) -> None:
        """Count gradients evaluated by the clients of some runs, a number or (R,)."""
        self.gradients[runs] += gradients

    def reached(self, column: str, runs: NDArray[np.intp], limit: float) -> NDArray[np.bool_]:
        """Say which of some runs have spent a limit of bits or gradients."""
        spent: NDArray[np.int64] = getattr(self, column)
        return spent[runs] >= limit

    @property
    def spent(self) -> dict[str, NDArray[Any]]:
        """All columns, (R,) each, as they are now."""
        return {name: column.copy() for name, column in vars(self).items()}

    def resume(self, spent: Mapping[str, NDArray[Any]]) -> None:
        """Go on where runs have spent so much."""
        vars(self).update(spent)


def ledger_of(everyone: Runs) -> Ledger:
    """Return the ledger of runs that begin, on their device."""
    if isinstance(everyone, Turn):
        ledger: Ledger = on_device().DeviceLedger(everyone)
        return ledger
    return Ledger(len(everyone))


def let_through(mask: Array, shape: tuple[int, ...]) -> Array:
    """Count what a mask, stretched to a shape, lets through of every client: (n, R) or (1, R).

    One row stands for all clients.

    Raises
    ------
    Refusal
        If it is no array of bool, or does not stretch to the shape.
    """
    sizes, kind = tuple(getattr(mask, "shape", ())), getattr(mask, "dtype", type(mask).__name__)
    fits = len(sizes) == 3 and all(
        size in (1, most) for size, most in zip(sizes, shape, strict=False)
    )
    if not fits or kind != array_namespace(mask).bool:
        raise Refusal(
            f"a mask of {kind} {sizes} does not fit {tuple(shape)}; give an array of bool with 1 "
            "or as many clients, entries and runs"
        )
    xp, times = array_namespace(mask), shape[1] // mask.shape[1]
    counts = xp.count_nonzero(np.asarray(mask) if is_numpy(mask) else mask, axis=1)
    return xp.broadcast_to(times * counts, (mask.shape[0], shape[2]))


def sum_and_largest(each: Array, clients: int) -> tuple[Array, Array]:
    """Return the sum over the clients of (n, R) or (1, R), and the largest: (R,) both."""
    xp = array_namespace(each)
    return clients // each.shape[0] * xp.sum(each, axis=0), xp.max(each, axis=0)
