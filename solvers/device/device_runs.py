"""Runs on a device: all are computed in every iteration, and a mask marks those that communicate.

Random numbers and costs stay on the device. The host receives the coins of the schedule for many
iterations at once and has upper bounds of the costs, so that it need not wait for the device.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from certibit.data.arrays import Array, array_namespace
from certibit.solvers.libraries import host, like
from certibit.solvers.simulation.ledger import Ledger, Turn
from certibit.solvers.simulation.randomness import (
    Streams,
    key,
    require_own_numbers,
    uniform_numbers,
)

_COINS = 64
"""Iterations whose coins are tossed at once."""


class DeviceStreams(Streams):
    """The same numbers, on the device."""

    def __init__(self, seeds: Sequence[int], template: Array) -> None:
        super().__init__(seeds)
        self._everyone = Turn.of_all(len(seeds), template)
        self._keys: dict[str, tuple[Array, Array]] = {}
        self._drawn: dict[str, Array] = {}
        self._coins: list[Turn] = []

    @property
    def everyone(self) -> Turn:
        """All runs."""
        return self._everyone

    @property
    def drawn(self) -> dict[str, NDArray[np.int64]]:
        """How many numbers of each purpose each run has drawn, (R,)."""
        drawn = {purpose: host(numbers) for purpose, numbers in self._drawn.items()}
        if self._coins:
            drawn["round"] = drawn["round"] - len(self._coins)
        return drawn

    def resume(self, drawn: Mapping[str, NDArray[np.int64]]) -> None:
        """Continue the streams after the given numbers of draws of each purpose and run."""
        self._coins = []
        for purpose, numbers in drawn.items():
            self._begin(purpose, numbers)

    def uniform(self, purpose: str, runs: Turn, shape: tuple[int, int]) -> Array:
        """Draw uniform numbers of [0, 1) of a purpose: (*shape, R).

        All runs see numbers, and those whose turn it is have drawn them.
        """
        if purpose not in self._keys:
            require_own_numbers(purpose, self._keys)
            self._begin(purpose, np.zeros(len(self), dtype=np.int64))
        first, (rows, columns) = self._drawn[purpose], shape
        xp = array_namespace(first)
        places = first + xp.arange(rows * columns, dtype=xp.int64, device=device(first))[:, None]
        numbers = uniform_numbers(*self._keys[purpose], xp.astype(places, xp.uint64))
        self._drawn[purpose] = first + runs.only(rows * columns)
        return xp.reshape(numbers, (rows, columns, len(self)))

    def turn(self, p: Array | float, runs: Turn) -> Turn:
        """Toss the coins of the schedule, with probability p or (1, 1, R) of heads."""
        if not self._coins:
            coins = (self.uniform("round", self.everyone, (_COINS, 1)) < p)[:, 0, :]
            known = host(coins)
            self._coins = [Turn(known[i], coins[i, :]) for i in reversed(range(_COINS))]
        return self._coins.pop()

    def _begin(self, purpose: str, drawn: NDArray[np.int64]) -> None:
        template = self.everyone.mask
        keys = np.array([key(seed, purpose) for seed in self._seeds])
        self._keys[purpose] = like(template, keys[:, 0]), like(template, keys[:, 1])
        self._drawn[purpose] = like(template, drawn)


class DeviceLedger(Ledger):
    """The costs of each run so far.

    The arrays are on the device. The host has bounds, and asks for the numbers when these reach a
    limit.
    """

    def __init__(self, everyone: Turn) -> None:
        nothing = everyone.only(0)
        self.uplink_bits = self.busiest_bits = self.downlink_bits = nothing
        self.gradients = self.synchronisations = nothing
        self._waiting = nothing > 0
        self._most = {name: np.zeros(len(everyone), np.int64) for name in _BOUNDED}

    def up(
        self, runs: Turn, bits: Array | int, busiest: Array | int, most: int | None = None
    ) -> None:
        """Count bits of the clients of some runs, and of the busiest one; ``most`` at most."""
        sent = runs.only(bits)
        self.busiest_bits = self.busiest_bits + runs.only(busiest)
        self.uplink_bits = self.uplink_bits + sent
        self._most["uplink_bits"][runs.known] += bits if most is None else most
        begins = (sent > 0) & ~self._waiting
        xp = array_namespace(sent)
        self.synchronisations = self.synchronisations + xp.astype(begins, xp.int64)
        self._waiting = self._waiting | begins

    def down(self, runs: Turn, bits: Array | int) -> None:
        """Count bits received by the clients of some runs, a number or (R,)."""
        received = runs.only(bits)
        self.downlink_bits = self.downlink_bits + received
        self._waiting = self._waiting & (received == 0)

    def evaluate(self, runs: Turn, gradients: Array | int, most: int) -> None:
        """Count gradients evaluated by the clients of some runs, a number or (R,)."""
        self.gradients = self.gradients + runs.only(gradients)
        self._most["gradients"][runs.known] += most

    def reached(self, column: str, runs: NDArray[np.intp], limit: float) -> NDArray[np.bool_]:
        """Say which of some runs have spent a limit of bits or gradients."""
        if (self._most[column][runs] >= limit).any():
            self._most[column] = host(getattr(self, column)).copy()
        return self._most[column][runs] >= limit

    @property
    def spent(self) -> dict[str, Array]:
        """All columns, (R,) each, as they are now."""
        return {name: column for name, column in vars(self).items() if name != "_most"}

    def resume(self, spent: Mapping[str, NDArray[Any]]) -> None:
        """Go on where runs have spent so much."""
        for name, column in spent.items():
            setattr(self, name, like(self.uplink_bits, column))
        self._most = {name: spent[name].copy() for name in _BOUNDED}


_BOUNDED = ("uplink_bits", "gradients")
