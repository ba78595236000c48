"""Checks of the code that a run goes through: what is recorded, resumed and compiled."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from tool.compiled import compiled_as_plain
from tool.replay import recorded
from tool.resumed import goes_on

from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.state import narrow
from certibit.theory.verdict import Verdict


def trace_checks(experiment: Experiment[Any], seed: int = 0) -> Iterator[Verdict]:
    """Check what is recorded of a run, whether it can be resumed, and compiled passes."""
    with np.errstate(all="ignore"):
        yield recorded(experiment, seed)
        yield goes_on(experiment, seed)
        compiled = compiled_as_plain(narrow(experiment.problem, np.array([0])), seed)
    if compiled:
        yield compiled
