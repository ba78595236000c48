"""Checks that random numbers and costs of runs on a device equal those of the host."""

import numpy as np

from certibit.solvers.device.device_runs import DeviceLedger, DeviceStreams
from certibit.solvers.simulation.ledger import Ledger, Turn
from certibit.solvers.simulation.randomness import Streams
from certibit.theory.verdict import Verdict, worst_of

_RUNS, _ROUNDS = 3, 12
_COLUMNS = ("uplink_bits", "busiest_bits", "downlink_bits", "gradients", "synchronisations")


def device_as_host(seed: int = 0) -> Verdict:
    """Check that streams and ledger of a device, here arrays of numpy, are those of the host.

    Some runs at a time draw and spend, are stopped in the middle and go on.
    """
    generator = np.random.default_rng(seed)
    seeds, template = range(seed, seed + _RUNS), np.zeros((1, 1, _RUNS))
    streams, others = Streams(seeds), DeviceStreams(seeds, template)
    ledger, counts = Ledger(_RUNS), DeviceLedger(Turn.of_all(_RUNS, template))
    found = [(0.0, "")]
    for number in range(_ROUNDS):
        mask = generator.random(_RUNS) < 0.7
        runs, turn = np.flatnonzero(mask), Turn(mask, mask)
        for purpose, shape in (("compressor", (2, number + 1)), ("coin", (1, 1))):
            drawn = streams.uniform(purpose, runs, shape)
            other = others.uniform(purpose, turn, shape)[..., runs]
            found.append((float(np.max(np.abs(other - drawn), initial=0.0)), "a random number"))
        up, down, gradients = (int(x) for x in generator.integers(0, 3, 3) * 1000)
        ledger.up(runs, 3 * up, up)
        counts.up(turn, np.full(_RUNS, 3 * up), np.full(_RUNS, up), 3 * up)
        ledger.gradients[runs] += gradients
        counts.evaluate(turn, gradients, gradients)
        if number % 3:
            ledger.down(runs, down)
            counts.down(turn, down)
        for name in _COLUMNS:
            off = np.max(np.abs(getattr(counts, name) - getattr(ledger, name)))
            found.append((float(off), f"a count of {name}"))
        reached = counts.reached("uplink_bits", np.arange(_RUNS), 5000)
        off = np.count_nonzero(reached != (ledger.uplink_bits >= 5000))
        found.append((float(off), "who has spent a limit"))
        if number == _ROUNDS // 2:
            others.resume(streams.drawn)
            counts.resume({name: np.asarray(x) for name, x in counts.spent.items()})
    worst, what = worst_of(found)
    advice = f"On a device {what} differs from the host: look at its streams and its ledger."
    return Verdict("a device as the host", worst, 0.0, f"{_ROUNDS} rounds", advice)
