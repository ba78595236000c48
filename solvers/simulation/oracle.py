"""The gradient oracle of a simulation, which counts the gradients, and the noise of gradients.

The noise is the same for all methods and parameters with the same seed: a function of (seed, round,
client, slot) and of nothing else. Sample number r of a slot belongs to round r, because a method
uses every slot once in a round. Of a method that names no samples, sample number r belongs to the
r-th gradients of the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import device

from certibit.data.arrays import Array, array_namespace, is_numpy
from certibit.data.noise import Samples, StochasticGradients
from certibit.data.problem import Problem, require_vectors
from certibit.solvers.method import Sample, Slot, slot_of
from certibit.solvers.simulation.ledger import (
    Bits,
    Ledger,
    Runs,
    Turn,
    let_through,
    some_of,
    sum_and_largest,
)
from certibit.solvers.simulation.randomness import Streams, streams_of
from certibit.solvers.state import narrow


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


@dataclass(frozen=True, eq=False)
class _DrawnSample(Sample):
    """A sample as the uniform numbers that it is made from, (n, ., R); None for no noise."""

    uniforms: Array | None


@dataclass(frozen=True)
class Oracle:
    """The gradients of a problem, counted, for some runs of a batch; with a tape, with noise.

    The method names its samples of the noise, or every gradient is of a new one.
    """

    problem: Problem
    runs: Runs
    ledger: Ledger
    tape: Tape | None = None
    named: bool = True

    @property
    def n(self) -> int:
        """Number of clients."""
        return int(self.problem.n)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.problem.d)

    def at(self, runs: Runs) -> "Oracle":
        """Narrow to some of the runs served, given by their positions among these."""
        return replace(
            self,
            problem=self.problem if isinstance(runs, Turn) else narrow(self.problem, runs),
            runs=some_of(self.runs, runs),
            tape=self.tape and self.tape.at(runs),
        )

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        """Evaluate the gradient of f_i at x_i on every client; (n, d, R).

        With ``active`` only these clients are counted: which, (n, 1, R) bool, or how many. If
        there is none in any run, 0 is given and nothing evaluated; a device does not look.
        With ``sample`` they are stochastic, if there is any noise: of the next sample of a slot, or
        of one that is drawn already. If the method names none, they are of a new sample.

        Raises
        ------
        Refusal
            If x is not (n, d, R) or (1, d, R), with the runs that are served.
        """
        require_vectors(x, (self.n, 1), self.d, len(self.runs))
        sampled = self.drawn(sample)
        if active is None:
            active = self.problem.n
        if not isinstance(active, int):
            active, _ = sum_and_largest(
                let_through(active, (self.problem.n, 1, len(self.runs))), self.problem.n
            )
        self.count(active, sampled is not None)
        some = active > 0 if isinstance(active, int) else not is_numpy(active) or active.any()
        if self.tape is None or sampled is None:
            return self._evaluated(x) if some else self._nothing(x)
        exact = self._evaluated if some else self._nothing
        return self.tape.noise.gradient(self.problem, x, sampled, exact)

    @property
    def always_new(self) -> bool:
        """Whether every gradient is of a new sample."""
        return self.tape is not None and not self.named

    def sample(self, slot: int | str) -> "_DrawnSample":
        """Draw the next sample of a slot on every client."""
        return _DrawnSample(self.drawn(slot))

    def drawn(self, sample: Slot | None) -> Array | None:
        """Return the uniform numbers of a sample, (n, ., R); None where gradients are exact."""
        slot: Any = slot_of(sample, self.named)
        if isinstance(slot, _DrawnSample):
            return slot.uniforms
        if slot is None or self.tape is None:
            return None
        return self.tape.uniforms(slot, self.n, self.tape.noise.numbers(self.problem))

    def count(self, gradients: Bits, sampled: bool = False) -> None:
        """Count gradients of all clients together in one step: a number, or one for each run."""
        each = self.tape.noise.counted(self.problem, sampled) if self.tape else 1
        self.ledger.evaluate(self.runs, each * gradients, each * self.problem.n)

    def _evaluated(self, x: Array) -> Array:
        return self.problem.grad(x)

    def _nothing(self, x: Array) -> Array:
        xp = array_namespace(x)
        return xp.zeros((self.n, *x.shape[1:]), dtype=x.dtype, device=device(x))

    def grad_g(self, y: Array) -> Array:
        """Evaluate the gradient of g; (1, d, R). Not counted: g is a known quadratic."""
        return self.problem.grad_g(y)
