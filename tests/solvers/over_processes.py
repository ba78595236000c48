"""Run methods over the processes of mpirun, as a script; rank 0 compares with one process."""

import sys
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problems.selector import problem
from certibit.solvers.authoring import mean
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.gd import GD
from certibit.solvers.methods.locodl import LoCoDL, State
from certibit.solvers.processes.mpi_run import MPIRun
from certibit.solvers.processes.ranks import Ranks
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import parameters


@dataclass(frozen=True)
class Whispered(LoCoDL):
    """A planted fault: the clients use the server's mean, which is not broadcast."""

    name: ClassVar[str] = "whispered"

    def communicate(self, s, problem, channel):
        d = channel.uplink(s.x - s.y)
        d_mean = mean(d) / 2
        channel.broadcast(d_mean)
        dual = self.p * self.chi / (self.gamma * (1 + 2 * self.omega))
        return State(
            x=(1 - self.rho) * s.x + self.rho * (s.y + d_mean),
            y=s.y + self.rho * d_mean,
            u=s.u + dual * (d_mean - d),
            v=s.v + dual * d_mean,
        )


class Unsent(GD):
    """A planted fault: the mean of gradients that nobody has sent."""

    name: ClassVar[str] = "unsent"

    def communicate(self, s, problem, channel):
        return type(s)(channel.broadcast(s.x - self.gamma * mean(problem.grad(s.x))))


class Shorter(Ranks):
    """A planted fault: the last process sends a byte less than is counted."""

    def to_server(self, payload, sizes):
        last = self.rank == self.size - 1
        return super().to_server(payload[:-1] if last else payload, sizes)


PLANTED = {"whispered": Whispered, "unsent": Unsent}


def experiment_named(name, selector, sent):
    some = problem(selector) if "nonconvex" in selector else problem(selector, kappa=30)
    used = compressor(sent) if sent else None
    planted = PLANTED.get(name)
    base = {"whispered": "locodl", "unsent": "gd"}.get(name, name)
    rule = "nonconvex" if "nonconvex" in selector else None
    method = parameters(base, some, used, rule)
    if planted:
        method = planted(**vars(method))
    return Experiment.of(method, some, used)


def compare(ranks, words):
    """Say of a case METHOD,PROBLEM,COMPRESSOR whether its trace is that of one process."""
    name, selector, sent = words.split(",")
    experiment = experiment_named(name, selector, sent)
    options = {"seeds": 3, "budget": Budget(rounds=12, iterations=400), "keep_model": True}
    before = ranks.traffic.uplink_bytes
    try:
        found = MPIRun(ranks).simulated(experiment, lambda run: run(experiment, **options), seeds=3)
    except Refusal as reason:
        return f"refused {reason}"
    if found is None:
        return ""
    with use_extensions("never"):
        alone = simulate(experiment, wire=True, library="numpy", **options)
    other = [name for name, column in alone.columns.items()
             if not np.array_equal(column, found.columns[name], equal_nan=True)]  # fmt: skip
    same = not other and np.array_equal(alone.x, found.x)
    moved = ranks.traffic.uplink_bytes - before
    bits = int(alone.final("uplink_bits").sum() * experiment.n)
    return f"{'same' if same else 'other ' + ' '.join(other)} {moved} {bits}"


def main():
    warnings.simplefilter("ignore")
    kind, *cases = sys.argv[1:]
    ranks = Ranks.start()
    if kind == "shorter":
        ranks = Shorter(**vars(ranks))
    for words in cases:
        told = compare(ranks, words)
        if ranks.rank == 0:
            print(words, told, sep=": ", flush=True)


if __name__ == "__main__":
    main()
