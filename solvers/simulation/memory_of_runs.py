"""The memory that runs need, estimated before anything is computed."""

from dataclasses import dataclass

import numpy as np

from certibit.data.arrays import Array
from certibit.data.memory import require_memory
from certibit.data.problem import Problem
from certibit.solvers.compressors.identity import Identity
from certibit.solvers.method import ExactGradients, Slot
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.ledger import Ledger
from certibit.solvers.simulation.randomness import Streams, stream_width
from certibit.solvers.state import narrow

_NO_RUNS = np.arange(0)


def require_memory_of_runs(experiment: Experiment[Problem], runs: int) -> None:
    """Refuse runs whose state, gradients and random numbers the machine cannot hold.

    Uniform numbers are drawn for many messages at once.

    Raises
    ------
    Refusal
        If they take more than the memory that this process may use.
    """
    n, d, compressor = experiment.n, experiment.d, experiment.compressor
    message = (1 if compressor.shared else n) * compressor.uniforms(d)
    require_memory(
        runs * (_numbers_of_state(experiment) + n * d + stream_width(message)),
        f"{experiment.method.name} with {n} clients, {d} features and {runs} runs at once",
    )


def _numbers_of_state(experiment: Experiment[Problem]) -> int:
    """Count the numbers in the state of a run, by the shapes that the method starts with.

    It is started for no runs: arrays (n, d, 0) take no memory.
    """
    n, x = experiment.n, np.zeros((1, experiment.d, 0))
    channel = Channel(n, Identity(), _NO_RUNS, Streams(()), Ledger(0), x)
    method = narrow(experiment.method, _NO_RUNS)
    state = method.start(x, _Gradients(n, experiment.d), channel)
    return sum(field.shape[0] * field.shape[1] for field in vars(state).values())


@dataclass(frozen=True)
class _Gradients(ExactGradients):
    """The gradients of no runs."""

    n: int
    d: int

    def grad(
        self, x: Array, active: Array | int | None = None, sample: Slot | None = None
    ) -> Array:
        return np.zeros((self.n, self.d, 0))

    def grad_g(self, y: Array) -> Array:
        return y
