"""Checks of the code that a run goes through: what is recorded, resumed, batched and compiled."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from tool.compiled import compiled_as_plain
from tool.long_runs import long_and_many_runs_as_plain, runs_as_plain
from tool.replay import recorded
from tool.resumed import goes_on

from certibit.solvers.simulation.experiment import Experiment, is_convex
from certibit.solvers.state import narrow
from certibit.theory.card import Card
from certibit.theory.catalogue.covered_run import lyapunov_record
from certibit.theory.setting import Setting
from certibit.theory.verdict import Verdict


def trace_checks(card: Card, experiment: Experiment[Any], seed: int = 0) -> Iterator[Verdict]:
    """Check what is recorded of a run, whether it can be resumed, whole runs and compiled passes.

    The Lyapunov function is the one that runs record by default.
    """
    potential = None
    if is_convex(experiment):
        setting = Setting.at(experiment)
        theorem = card.potential(experiment.method, setting)
        potential = lyapunov_record(theorem, setting) if theorem else None
    with np.errstate(all="ignore"):
        yield recorded(experiment, seed)
        yield goes_on(experiment, seed)
        others = (
            runs_as_plain(experiment, seed, potential),
            long_and_many_runs_as_plain(experiment, seed),
            compiled_as_plain(narrow(experiment.problem, np.array([0])), seed),
        )
    yield from (verdict for verdict in others if verdict)
