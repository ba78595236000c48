"""The outcomes of one iteration up to a renumbering of the clients, at any number of clients.

Clients are exchangeable. Of all cohorts of a size, masks with as many owners or coins with as many
heads, one stands for all: the first clients of each cell are taken, where a cell holds the clients
that were treated alike so far. There are then n + 1 outcomes of n coins and not 2^n.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import comb, prod

import numpy as np
from numpy.typing import NDArray

from bitbound.data.arrays import Array
from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.compressors.two_way import downward
from bitbound.solvers.method import Method, WithProbability
from bitbound.solvers.world.iteration import theorem_step
from bitbound.theory.worlds.outcomes import Scripted, outcomes

MOST_NUMBERS_OF_HEADS = 2000
"""How many outcomes the coins of clients of several classes may have."""


class OrbitChannel(Scripted):
    """A scripted channel with one outcome for all that differ by the numbering of the clients.

    Only clients of one of the ``kinds``, (n,), are renumbered; by default there is one kind.
    ``cells`` gives the cell of every client, (n,), and ``alike`` the number of outcomes that there
    are with all clients told apart.
    """

    def __init__(
        self,
        n: int,
        d: int,
        script: Sequence[int] = (),
        kinds: NDArray[np.intp] | None = None,
    ) -> None:
        super().__init__(n, d, script)
        self.cells: NDArray[np.intp] = np.zeros(n, dtype=np.intp) if kinds is None else kinds
        self.alike, self.chooses = 1, False

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss one coin per client; of every cell, only the number of heads matters."""
        cells = self._cells(np.arange(self.n))
        for cell in cells:
            own = [q[i] for i in cell]
            if len(set(own)) > 1:
                raise Refusal(
                    f"the clients toss coins with probabilities from {min(own):g} to {max(own):g} "
                    "and are not exchangeable; give all of a class the same"
                )
        numbers = prod(len(cell) + 1 for cell in cells)
        if len(cells) > 1 and numbers > MOST_NUMBERS_OF_HEADS:
            raise Refusal(
                f"the coins of classes of {', '.join(str(len(cell)) for cell in cells)} clients "
                f"have {numbers} outcomes, more than {MOST_NUMBERS_OF_HEADS}; take fewer clients"
            )
        mask = np.zeros(self.n, dtype=bool)
        self.alike *= 2**self.n
        for cell in cells:
            p, size = q[cell[0]], len(cell)
            odds = [comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(size + 1)]
            mask[cell[: self._choose_count(odds)]] = True
        return self._refine(mask)

    def _subset(self, size: int, of: Sequence[int]) -> NDArray[np.bool_]:
        mask = np.zeros(self.n, dtype=bool)
        left = len(of)
        self.alike *= comb(left, size)
        for cell in self._cells(np.array(of)):
            left -= len(cell)
            fewest, most = max(size - left, 0), min(size, len(cell))
            ways = comb(left + len(cell), size)
            odds = [
                Fraction(comb(len(cell), k) * comb(left, size - k), ways)
                for k in range(fewest, most + 1)
            ]
            count = fewest + self._choose_count(odds)
            mask[cell[:count]] = True
            size -= count
        return self._refine(mask)

    def _choose_count(self, odds: Sequence[float | Fraction]) -> int:
        chosen: int = self.choose([(p, k) for k, p in enumerate(odds) if p > 0])
        return chosen

    def _cells(self, of: NDArray[np.intp]) -> list[NDArray[np.intp]]:
        return [of[self.cells[of] == label] for label in np.unique(self.cells[of])]

    def _refine(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        self.chooses = True
        self.cells = np.unique(2 * self.cells + mask, return_inverse=True)[1]
        return mask[:, None, None]


@dataclass(frozen=True)
class StepCost:
    """What one step costs in the mean: bits and gradients per client, rounds."""

    uplink_bits: float
    downlink_bits: float
    rounds: float
    gradients: float


@dataclass(frozen=True)
class Orbit:
    """An outcome: its probability, the script that gives it and the cell of every client.

    ``alike`` counts the outcomes that an enumeration of all cohorts, masks and coins of clients
    would go through; ``chooses`` tells whether there are any.
    """

    probability: float
    script: tuple[int, ...]
    cells: NDArray[np.intp]
    alike: int
    chooses: bool


class Nothing:
    """A problem whose gradients are all 0, which counts them per client."""

    def __init__(self, n: int) -> None:
        self.n, self.d = n, 1
        self.count = 0.0

    def grad(
        self, x: Array, active: Array | int | None = None, sample: int | str | None = None
    ) -> Array:
        if active is None:
            active = self.n
        self.count += active / self.n if isinstance(active, int) else float(np.mean(active))
        return np.zeros((self.n, 1, 1))

    def grad_g(self, y: Array) -> Array:
        return 0 * y

    def of(self, clients: Array) -> "Nothing":
        return self


class _Meter(OrbitChannel):
    """An orbit channel that counts the bits per client."""

    def __init__(
        self,
        n: int,
        d: int,
        script: Sequence[int],
        compressor: Compressor,
        kinds: NDArray[np.intp] | None,
    ) -> None:
        super().__init__(n, d, script, kinds)
        self.message, self.vector = compressor.bits(d), Identity().bits(d)
        self.message_down = downward(compressor).bits(d)
        self.bits = self.bits_down = 0.0

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        self.bits += self.message * (1.0 if cohort is None else float(np.mean(cohort)))
        return v

    def send(self, v: Array, mask: Array | None = None) -> Array:
        self.bits += self.vector * (1.0 if mask is None else float(np.mean(mask)))
        return v if mask is None else mask * v

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        self.bits_down += self.vector * (1.0 if mask is None else float(np.mean(mask)))
        return v

    def downlink(self, v: Array) -> Array:
        self.bits_down += self.message_down
        return v


def orbits(
    method: Method,
    n: int,
    d: int = 1,
    compressor: Compressor | None = None,
    kinds: NDArray[np.intp] | None = None,
) -> tuple[tuple[Orbit, ...], StepCost]:
    """Return all outcomes of one step of a method, and what the step costs in the mean.

    A step is an iteration, or a round of K local steps (see :func:`iteration`). The number d of
    features and the compressor matter for the bits only. Clients of different kinds, (n,), are not
    exchangeable.
    """
    spent: list[tuple[float, float, float, float]] = []
    state = method.start(np.zeros((1, 1, 1)), Nothing(n), OrbitChannel(n, max(d, 1)))

    def step(channel: _Meter) -> _Meter:
        problem = Nothing(n)
        theorem_step(method, state, problem, channel)
        bits = channel.bits, channel.bits_down
        spent.append((float(channel.probability), *bits, problem.count))
        return channel

    bits_d = max(d, 1)
    compressor = Identity() if compressor is None else compressor
    found = [
        Orbit(
            float(probability), tuple(channel.script), channel.cells, channel.alike, channel.chooses
        )
        for probability, channel in outcomes(
            step, lambda script: _Meter(n, bits_d, script, compressor, kinds)
        )
    ]
    schedule = method.schedule
    return tuple(found), StepCost(
        uplink_bits=sum(p * bits for p, bits, _, _ in spent),
        downlink_bits=sum(p * bits for p, _, bits, _ in spent),
        rounds=schedule.p if isinstance(schedule, WithProbability) else 1.0,
        gradients=sum(p * gradients for p, _, _, gradients in spent),
    )
