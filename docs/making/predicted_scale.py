"""The table of docs/scale.md: what the panels of Figures 1 to 4 would cost with more clients."""

import heapq
import math
import time
from dataclasses import dataclass, replace

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import quiet_machine
from certibit.figures.locodl.jobs import experiment_of
from certibit.figures.locodl.panels import Curve, Panel
from certibit.figures.locodl.recipes import FIGURES, paper_figure
from certibit.solvers.libraries import host
from certibit.solvers.runs.budget import Budget, Record
from certibit.solvers.runs.engine import simulate
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.method.promise import promise
from certibit.theory.setting import Setting

CLIENTS = (10**3, 10**4, 10**5, 10**6)
WORKERS = (1, 16, 256)
SEEDS = 5
SERVER = 0.0017 / 0.037
"""Work of the server for a client, beside that of the client, as docs/clusters.md measures it."""


@dataclass(frozen=True)
class CurveCost:
    """Rounds of a curve by the number of clients, and the time of a client in a round."""

    panel: Panel
    curve: Curve
    rounds: dict[int, float]
    seconds: float

    def hours(self, n: int) -> float:
        """Return the hours of all clients and seeds on one core."""
        return self.rounds[n] * n * self.seconds / 3600


def cost_of(panel: Panel, curve: Curve) -> CurveCost | None:
    """Measure a client's time, and promise the rounds; None without a theorem."""
    experiment = experiment_of(panel, curve)
    card, setting = METHODS[curve.method], Setting.at(experiment)
    theorem = card.best_theorem(experiment.method, setting)
    if theorem is None:
        return None
    promised = promise(theorem, experiment)
    by_bits = panel.budget.bits / promised.cost.uplink_bits
    taken = []
    for rounds in (5, 5, 45):  # the first loads and compiles
        start = time.process_time()
        simulate(experiment, seeds=SEEDS, budget=Budget(rounds=rounds), record=Record(every=1000))
        taken.append(time.process_time() - start)
    seconds = max(taken[2] - taken[1], 0.0) / 40 / setting.n
    rounds_of = {}
    L = float(np.max(host(setting.constants.L_i)))
    for n in CLIENTS:
        larger = replace(setting, n=n, constants=replace(setting.constants, L_i=np.full(n, L)))
        method = card.at(larger, curve.rule, **dict(curve.options))
        rate = theorem.rate(method, larger)
        p = getattr(method.schedule, "p", 1.0)
        decades = math.log(promised.start / panel.floor)
        needed = decades / -math.log(rate) * p if 0 < rate < 1 else math.inf
        rounds_of[n] = min(needed, by_bits)
    return CurveCost(panel, curve, rounds_of, seconds)


def longest_first(jobs: list[float], workers: int) -> float:
    """Return when jobs are done that are given, the longest first, to the first worker free."""
    free = [0.0] * workers
    for job in sorted(jobs, reverse=True):
        heapq.heapreplace(free, free[0] + job)
    return max(free)


def with_ranks(jobs: list[float], workers: int) -> float:
    """Return the shortest time in which all jobs are done, each over ranks of its own number.

    A job of t hours takes t (1/r + s) on r ranks, s being the work of the server. Ranks are taken
    as a whole number, and workers as never waiting.
    """
    low, high = max(jobs) * (1 / workers + SERVER), sum(jobs) + max(jobs)
    for _ in range(60):
        middle = (low + high) / 2
        ranks = [max(1, math.ceil(1 / max(middle / job - SERVER, 1e-9))) for job in jobs]
        busy = sum(r * job * (1 / r + SERVER * (r > 1)) for r, job in zip(ranks, jobs, strict=True))
        fits = max(ranks) <= workers and busy <= workers * middle
        low, high = (low, middle) if fits else (middle, high)
    return high


def main() -> None:
    """Print the table."""
    costs: list[CurveCost] = []
    left_out = 0
    with quiet_machine():
        for number in FIGURES:
            for panel in paper_figure(number).panels:
                for curve in panel.curves:
                    try:
                        found = cost_of(panel, curve)
                    except Refusal:
                        found = None
                    left_out += found is None
                    costs += [found] if found else []
    print(f"{len(costs)} curves, {left_out} left out")
    print("| n | 1 worker | 16 | 16, ranks | 256 | 256, ranks |")
    print("|---|---|---|---|---|---|")
    for n in CLIENTS:
        hours = [cost.hours(n) for cost in costs]
        walls = [sum(hours)]
        for workers in WORKERS[1:]:
            walls += [longest_first(hours, workers), with_ranks(hours, workers)]
        print(f"| {n:,} | " + " | ".join(f"{wall:,.3g}" for wall in walls) + " |")
    slowest = max(costs, key=lambda cost: cost.hours(CLIENTS[0]))
    print(slowest.panel.title, slowest.curve.label)


if __name__ == "__main__":
    main()
