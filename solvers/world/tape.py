"""Samples of gradient noise that two methods share, and all runs with the same seed.

Sample number r of a slot belongs to round r: a method asks for every slot once in a round. So what
a client sees is keyed by (seed, round, client, slot), whatever the method and its parameters are.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bitbound.data.noise import Noise, Samples
from bitbound.solvers.world.randomness import Streams


@dataclass(frozen=True)
class Tape:
    """The noise of a problem for some runs of a batch.

    Parameters
    ----------
    noise : Noise
        Its law.
    streams : Streams
        Random numbers of the different seeds of the batch.
    places : (R,) int
        The place of the seed of every run among these.
    """

    noise: Noise
    streams: Streams
    places: NDArray[np.intp]

    @classmethod
    def of(cls, noise: Noise, seeds: Sequence[int]) -> "Tape":
        """Make the tape of a batch of runs with their seeds, some of which may be equal."""
        different, places = np.unique(np.asarray(seeds), return_inverse=True)
        return cls(noise, Streams([int(seed) for seed in different]), places)

    def at(self, runs: NDArray[np.intp]) -> "Tape":
        """Narrow to some of the runs, given by their positions among these."""
        return replace(self, places=self.places[runs])

    def draw(self, slot: int | str, n: int, d: int) -> Samples:
        """Return the next sample of a slot for every client and run, (n, d, R)."""
        seeds, spread = self._seeds
        uniforms = self.streams.uniform(f"noise {slot}", seeds, (n, self.noise.uniforms(d)))
        return self.noise.sample(uniforms, d)[:, :, spread]

    @cached_property
    def _seeds(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        return np.unique(self.places, return_inverse=True)
