"""A plain world of one run: loops over clients and entries, the same streams, whole numbers.

Nothing of the simulated channel and its ledger is used; a compressor is asked for one client at a
time, and a gradient at one shared point at a time.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.arrays import Array
from certibit.solvers.compressors.composition import downward
from certibit.solvers.method import Every, Sample, Schedule, Slot, slot_of
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.solvers.simulation.randomness import generator


class PlainLedger:
    """The costs of one run, counted one message at a time."""

    def __init__(self) -> None:
        self.uplink_bits = self.busiest_bits = self.downlink_bits = 0
        self.gradients = self.synchronisations = 0
        self._waiting = False

    def up(self, bits: list[int]) -> None:
        """Count the bits of a message of every client."""
        self.uplink_bits += sum(bits)
        self.busiest_bits += max(bits)
        if any(bits) and not self._waiting:
            self.synchronisations += 1
            self._waiting = True

    def down(self, bits: int) -> None:
        """Count bits that a client receives."""
        self.downlink_bits += bits
        if bits:
            self._waiting = False


class PlainChannel:
    """The network of one run, client by client and entry by entry; arrays are (., d, 1)."""

    def __init__(self, experiment: ConvexExperiment, seed: int, ledger: PlainLedger) -> None:
        self.n, self.compressor = experiment.n, experiment.compressor
        self.ledger, self.template = ledger, np.asarray(experiment.problem.x_0)
        self._seed, self._streams = seed, dict[str, np.random.Generator]()

    def at(self, runs: Array) -> "PlainChannel":
        """Return itself: there is one run."""
        return self

    def draw(self, purpose: str, count: int) -> list[float]:
        """Draw the next numbers of a purpose."""
        if purpose not in self._streams:
            self._streams[purpose] = generator(self._seed, purpose)
        return [float(self._streams[purpose].random()) for _ in range(count)]

    def uplink(self, v: Array, cohort: Array | None = None) -> Array:
        """Send C_i(v_i) from every client of the cohort."""
        n, d, _ = v.shape
        count = self.compressor.uniforms(d)
        drawn = [self.draw("compressor", count) for _ in range(1 if self.compressor.shared else n)]
        received, bits = np.zeros((n, d, 1)), [0] * n
        for client in range(n):
            if _inside(cohort, client, 0):
                uniforms = np.array(drawn[client % len(drawn)]).reshape(1, count, 1)
                received[client] = self.compressor.compress(v[client : client + 1], uniforms)[0]
                bits[client] = self.compressor.bits(d)
        self.ledger.up(bits)
        return received

    def send(self, v: Array, mask: Array | None = None) -> Array:
        """Send v_i from every client, the entries of the mask, 32 bits each."""
        received, bits = np.zeros(v.shape), [0] * len(v)
        for client, entry in np.ndindex(*v.shape[:2]):
            if _inside(mask, client, entry):
                received[client, entry] = v[client, entry]
                bits[client] += 32
        self.ledger.up(bits)
        return received

    def broadcast(self, v: Array, mask: Array | None = None) -> Array:
        """Send v from the server to all clients, or to those of a mask."""
        for client, entry in np.ndindex(self.n, v.shape[1]):
            if _inside(mask, client, entry):
                self.ledger.down(32)
        return v

    def downlink(self, v: Array) -> Array:
        """Send C(v) from the server to all clients."""
        compressor, d = downward(self.compressor), v.shape[1]
        count = compressor.uniforms(d)
        uniforms = np.array(self.draw("downlink", count)).reshape(1, count, 1)
        for _ in range(self.n):
            self.ledger.down(compressor.bits(d))
        return compressor.compress(v, uniforms)

    def talking(self, schedule: Schedule, iteration: int) -> bool:
        """Say whether the run communicates after an iteration, counted from 1."""
        if isinstance(schedule, Every):
            return iteration % schedule.iterations == 0
        return self.draw("round", 1)[0] < schedule.p

    def coin(self, p: float) -> Array:
        """Toss one coin."""
        return np.array(self.draw("coin", 1)[0] < p).reshape(1, 1, 1)

    def client_coins(self, q: Sequence[float]) -> Array:
        """Toss a coin on every client."""
        tossed = [u < p for u, p in zip(self.draw("client coins", self.n), q, strict=True)]
        return np.array(tossed).reshape(self.n, 1, 1)

    def cohort(self, m: int) -> Array:
        """Draw m clients: those with the smallest numbers."""
        places = _places(self.draw("cohort", self.n))
        return np.array([place < m for place in places]).reshape(self.n, 1, 1)

    def ownership(self, s: int, cohort: Array | None = None) -> Array:
        """Draw s owners in the cohort for every entry, each next to the last of the one before."""
        members = [_inside(cohort, client, 0) for client in range(self.n)]
        d, m = self.template.shape[1], sum(members)
        drawn = self.draw("ownership", self.n)
        places = _places([u if inside else u + 1 for u, inside in zip(drawn, members, strict=True)])
        owned = np.zeros((self.n, d, 1), dtype=bool)
        for number in range(s * d):
            entry, column = (number // s, number % m) if s * d >= m else (number % d, number)
            owned[places.index(column), entry] = True
        return owned


@dataclass(frozen=True, eq=False)
class PlainSample(Sample):
    """A sample as the numbers that it is made from, (n, ., 1); None for no noise."""

    numbers: Array | None


class PlainOracle:
    """The gradients of one run, each client's at its own point, one after the other."""

    def __init__(self, experiment: ConvexExperiment, channel: PlainChannel) -> None:
        self._experiment, self._channel = experiment, channel
        self.n, self.d = experiment.n, experiment.d
        self.grad_g: Callable[[Array], Array] = experiment.problem.grad_g

    def __getattr__(self, name: str) -> Any:
        return getattr(self._experiment.problem, name)

    def at(self, runs: Array) -> "PlainOracle":
        """Return itself: there is one run."""
        return self

    def sample(self, slot: int | str) -> PlainSample:
        """Draw the next sample of a slot."""
        return PlainSample(self._drawn(slot))

    def _drawn(self, sample: Slot | None) -> Array | None:
        slot = slot_of(sample, self._experiment.method.needs.samples)
        if isinstance(slot, PlainSample):
            return slot.numbers
        problem = self._experiment.problem
        if slot is None or problem.noise is None:
            return None
        count = problem.noise.numbers(problem)
        numbers = self._channel.draw(f"noise {slot}", self.n * count)
        return np.array(numbers).reshape(self.n, count, 1)

    def grad(self, x: Array, active: Any = None, sample: Any = None) -> Array:
        """Return the gradient of every client at its own point; count those that are active."""
        drawn, problem = self._drawn(sample), self._experiment.problem
        law = problem.noise
        if not isinstance(active, int):
            active = sum(1 for client in range(self.n) if _inside(active, client, 0))
        each = law.counted(problem, sampled=drawn is not None) if law else 1
        self._channel.ledger.gradients += each * active
        rows = []
        for client in range(self.n):
            point = x[client : client + 1] if len(x) > 1 else x
            if law and drawn is not None:
                gradients = law.gradient(problem, point, drawn, problem.grad)
            else:
                gradients = problem.grad(point)
            rows.append(gradients[client] if active else 0 * point[0])
        return np.array(rows)


def _inside(mask: Array | None, client: int, entry: int) -> bool:
    """Say whether a mask, of clients or of their entries, lets a number through."""
    if mask is None:
        return True
    row = mask[client if mask.shape[0] > 1 else 0]
    return bool(row[entry if row.shape[0] > 1 else 0, 0])


def _places(numbers: Sequence[float]) -> list[int]:
    """Return the place of every number in their order."""
    order = sorted(range(len(numbers)), key=lambda i: numbers[i])
    return [order.index(i) for i in range(len(numbers))]
