"""A trace counted again, point by point."""

import numpy as np

from bitbound.solvers.runs.budget import Budget, Record
from bitbound.solvers.runs.engine import simulate
from bitbound.solvers.world.experiment import ConvexExperiment
from bitbound.solvers.world.iteration import advance
from bitbound.solvers.world.simulation import simulated_world
from bitbound.theory.checks.channel.walk import EXACT
from bitbound.theory.verdict import Verdict, largest


def recorded(experiment: ConvexExperiment, seed: int = 0) -> Verdict:
    """Check that a trace holds what a run gives, counted again point by point.

    f - f* is held against the difference of the two values, whose rounding is larger.
    """
    method, view, seeds = experiment.method, experiment.problem, [seed, seed + 1]
    budget = Budget(iterations=60)
    trace = simulate(experiment, seeds=seeds, budget=budget, record=Record(every=1))
    channel, oracle = simulated_world(experiment, seeds)
    state, rounds = method.start(channel.template, oracle, channel), np.zeros(2)
    worst = 0.0
    for iteration in range(budget.iterations + 1):
        if iteration:
            state, talking = advance(method, state, oracle, channel, iteration)
            rounds += talking
        x, ledger = method.model(state), channel.ledger
        expected = {
            "rounds": rounds,
            "gap": view.value(x) - view.f_star,
            "distance": np.sum((x - view.x_star) ** 2, axis=(0, 1)),
            "uplink_bits": ledger.uplink_bits / view.n,
            "downlink_bits": ledger.downlink_bits / view.n,
            "gradients": ledger.gradients / view.n,
            "synchronisations": ledger.synchronisations,
        }
        now = trace.columns["iteration"] == iteration
        for name, values in expected.items():
            here = values[trace.columns["run"][now]]
            apart = np.abs(trace.columns[name][now] - here) / (1 + np.abs(here))
            worst = largest((worst, *np.where(np.isfinite(here), apart, 0.0)))
    ended = zip(trace.ending, trace.final("iteration"), trace.final("gap"), strict=True)
    complete = all(
        not np.isfinite(gap) if ending == "diverged" else (ending, last) == ("iterations", 60)
        for ending, last, gap in ended
    )
    advice = "A trace does not hold what the run gives: look at what is recorded, and how it ends."
    return Verdict("recorded as run", worst if complete else np.inf, EXACT, advice=advice)
