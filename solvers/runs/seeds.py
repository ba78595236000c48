"""The seeds of the runs of a batch."""

from collections.abc import Sequence

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.memory import require_memory

_NUMBERS = 24
"""What a run needs at least: its seed, and two recorded points."""


def fitted_seeds(seeds: int | Sequence[int], batch: int = 1) -> tuple[int, ...]:
    """Return the run seeds; a number R stands for the seeds 0, ..., R - 1.

    ``batch`` is the number of runs that method and problem are made for. If it is not 1, runs
    differ in their parameters too, and two may have the same seed.

    Raises
    ------
    Refusal
        If there is none, one is negative or not a whole number, two runs are the same, or their
        number is not that of the batch; or if the machine has not the memory for so many.
    """
    many = f"the seeds {seeds!r} are not all whole numbers >= 0; give such as 0, 1, 2"
    if not isinstance(seeds, int | np.integer | Sequence | np.ndarray):
        raise Refusal(many)
    count = seeds if isinstance(seeds, int | np.integer) else len(seeds)
    require_memory(count * _NUMBERS, f"a batch of {count} runs")
    chosen = range(seeds) if isinstance(seeds, int | np.integer) else seeds
    if any(not isinstance(seed, int | np.integer) or seed < 0 for seed in chosen):
        raise Refusal(many)
    if batch != 1 and len(chosen) != batch:
        raise Refusal(
            f"there are {len(chosen)} seeds and parameters for {batch} runs; give one seed per run"
        )
    if not len(chosen) or (batch == 1 and len(set(chosen)) != len(chosen)):
        raise Refusal(f"the seeds {seeds!r} must be at least one and all different")
    return tuple(int(seed) for seed in chosen)
