"""What a message costs: compressors alone, with the random numbers that they draw."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from timing import Action

from certibit import GD, Compressor, Experiment, compressor
from certibit.solvers.compressors.selector import NAMES
from certibit.solvers.simulation.iteration import simulated_world, world_of_runs


def compressors() -> Iterator[Compressor]:
    """Yield every compressor that has a name, with k = 1 entry or s = 3 levels."""
    plain = (form for form in NAMES if "(" not in form)
    made = (compressor(form.replace("K", "1").replace("S", "3")) for form in plain)
    return iter({chosen.name: chosen for chosen in made}.values())


def vectors(problem: Any, runs: int) -> np.ndarray:
    """Return vectors (n, d, R) of normal numbers."""
    return np.random.default_rng(2).standard_normal((problem.n, problem.d, runs))


def message(problem: Any, chosen: Compressor, v: np.ndarray) -> Action:
    """Return one message from every client."""
    experiment = Experiment(GD(1.0), problem, chosen)
    channel, _ = world_of_runs(*simulated_world(experiment, range(v.shape[2])))
    return lambda: channel.uplink(v)
