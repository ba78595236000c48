"""The simulated world of some runs: the network with its ledger, and the gradients."""

from collections.abc import Sequence

from array_api_compat import device

from certibit.data.arrays import array_namespace, is_numpy
from certibit.data.problem import Problem
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.method import Every
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.ledger import ledger_of
from certibit.solvers.simulation.oracle import Oracle
from certibit.solvers.simulation.randomness import streams_of
from certibit.solvers.simulation.tape import Tape


def simulated_world(
    experiment: Experiment[Problem], seeds: Sequence[int] = (0,), wire: bool = False
) -> tuple[Channel, Oracle]:
    """Return channel and gradients of runs with some seeds; the channel's template is x_0.

    Parameters
    ----------
    experiment : Experiment
        The method with its problem, of any array library, and compressor.
    seeds : sequence of int
        One for each run.
    wire : bool
        Whether every message goes through its bytes.
    """
    problem, x_0 = experiment.problem, experiment.problem.x_0
    xp = array_namespace(x_0)
    start = x_0 + xp.zeros((1, 1, len(seeds)), dtype=x_0.dtype, device=device(x_0))
    method = experiment.method
    alike = isinstance(method.schedule, Every)
    tape = Tape.of(problem.noise, seeds, start, alike) if problem.noise else None
    streams = streams_of(seeds, start)
    runs = streams.everyone
    ledger = ledger_of(runs)
    channel = Channel(problem.n, experiment.compressor, runs, streams, ledger, start, wire)
    if not is_numpy(start):  # not in the middle of a run
        for sent in (experiment.compressor, downward(experiment.compressor)):
            channel.message_bits(sent, problem.d)
    return channel, Oracle(problem, runs, ledger, tape, method.needs.samples)
