"""Checks of certibit itself: traces, the channel, compiled passes, refusals, certificates.

None of it depends on who wrote the method. The tests make these checks; ``certibit check --tool``
repeats them for one method, problem and compressor, on the machine where it runs.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.state import narrow
from certibit.theory.card import Card
from certibit.theory.checks.compressor.compression import small_dimension
from certibit.theory.tool.compiled import compiled_as_plain
from certibit.theory.tool.dealt import rows_dealt_once
from certibit.theory.tool.draws.choices import channel_checks
from certibit.theory.tool.known_proofs import known_proofs
from certibit.theory.tool.long_runs import long_and_many_runs_as_plain
from certibit.theory.tool.refusals import refusals, refusals_of_the_tool
from certibit.theory.tool.traces.batches import seeds_of_batches
from certibit.theory.tool.traces.replay import recorded
from certibit.theory.tool.traces.resumed import goes_on
from certibit.theory.verdict import Verdict

_DRAWS = 2000


def tool_checks(card: Card, experiment: Experiment[Any], seed: int = 0) -> tuple[Verdict, ...]:
    """Check the code that a run goes through, refusals, and what is counted and certified.

    Checks that do not depend on the method are made once in a process.
    """
    sent = experiment.compressor
    return (
        *trace_checks(experiment, seed),
        *channel_checks(sent, d=small_dimension(sent), seed=seed, draws=_DRAWS),
        refusals(card, experiment),
        *_of_any_method(),
    )


def trace_checks(experiment: Experiment[Any], seed: int = 0) -> Iterator[Verdict]:
    """Check what is recorded of a run, whether it can be resumed, long runs and compiled passes."""
    with np.errstate(all="ignore"):
        yield recorded(experiment, seed)
        yield goes_on(experiment, seed)
        others = (
            long_and_many_runs_as_plain(experiment, seed),
            compiled_as_plain(narrow(experiment.problem, np.array([0])), seed),
        )
    yield from (verdict for verdict in others if verdict)


@cache
def _of_any_method() -> tuple[Verdict, ...]:
    return tuple(of_any_method())


def of_any_method(seed: int = 0) -> Iterator[Verdict]:
    """Check what does not depend on the method."""
    yield refusals_of_the_tool()
    yield rows_dealt_once(seed)
    yield known_proofs()
    yield seeds_of_batches()
