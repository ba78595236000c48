"""Gradient noise that is the same for all methods and parameters with the same seed.

Sample number r of a slot belongs to round r, because a method uses every slot once in a round. The
noise is a function of (seed, round, client, slot) and of nothing else. Of a method that names no
samples, sample number r belongs to the r-th gradients of the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from certibit.data.arrays import Array, is_numpy
from certibit.data.noise import Samples, StochasticGradients
from certibit.solvers.simulation.ledger import Turn
from certibit.solvers.simulation.randomness import Streams, streams_of


@dataclass(frozen=True)
class Tape:
    """The noise of a problem for some runs of a batch.

    Parameters
    ----------
    noise : StochasticGradients
        Their law.
    streams : Streams
        Random numbers of the different seeds of the batch.
    places : (R,) int, or Turn
        The place of the seed of every run among these.
    """

    noise: StochasticGradients
    streams: Streams
    places: Any

    @classmethod
    def of(
        cls,
        noise: StochasticGradients,
        seeds: Sequence[int],
        template: Array | None = None,
        alike: bool = True,
    ) -> "Tape":
        """Make the tape of a batch of runs with their seeds, some of which may be equal.

        With a template on a device, the noise is made there. Runs with the same seed share it if
        all runs are ``alike``: they communicate at the same iterations, and draw at the same times.
        """
        if template is not None and not is_numpy(template):
            streams = streams_of(seeds, template)
            return cls(noise, streams, streams.everyone)
        if not alike:
            return cls(noise, Streams(seeds), np.arange(len(seeds)))
        different, places = np.unique(np.asarray(seeds), return_inverse=True)
        return cls(noise, Streams([int(seed) for seed in different]), places)

    def at(self, runs: Any) -> "Tape":
        """Narrow to some of the runs, given by their positions among these, or as a turn."""
        return replace(self, places=runs if isinstance(runs, Turn) else self.places[runs])

    def draw(self, slot: int | str, n: int, d: int) -> Samples:
        """Return the next sample of a slot for every client and run, (n, d, R)."""
        noise: Any = self.noise
        return noise.sample(self.uniforms(slot, n, noise.uniforms(d)), d)

    def uniforms(self, slot: int | str, n: int, count: int) -> Samples:
        """Return the next uniform numbers of a slot for every client and run, (n, count, R)."""
        everyone = self.places, slice(None)
        seeds, spread = everyone if isinstance(self.places, Turn) else self._seeds
        return self.streams.uniform(f"noise {slot}", seeds, (n, count))[:, :, spread]

    @cached_property
    def _seeds(self) -> tuple[Any, Any]:
        return np.unique(self.places, return_inverse=True)
