"""How the cost of a local step grows: ``python tests/benchmark/growth.py [FOLDER]`` draws it.

Each of clients, features, runs and entries of the data that are not zero is doubled, the others
being kept; a slope of 1 on doubly logarithmic axes is a cost proportional to it.
"""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from iterations import Iterations
from matplotlib.figure import Figure
from tricks import experiment_of
from workloads import sparse_problem

from certibit.data.quiet_machine import quiet_machine

BASE = {"clients": 200, "features": 500, "runs": 8, "nonzeros per row": 50}
TIMES = (1, 2, 4, 8, 16)


def seconds(clients: int, features: int, runs: int, nonzeros: int, repeat: int = 15) -> float:
    """Return the shortest processor time of an iteration of GD and one of Scaffnew."""
    problem = sparse_problem(clients, 5, features, nonzeros / features)
    steps = [Iterations(experiment_of(problem, name), runs) for name in ("gd", "scaffnew")]
    found = []
    for step in steps:
        times = []
        for _ in range(repeat):
            start = time.process_time()
            step()
            times.append(time.process_time() - start)
        found.append(min(times))
    return sum(found)


def measured(times: Sequence[int] = TIMES, repeat: int = 15) -> dict[str, list[float]]:
    """Return the times for each quantity, at these multiples of its first value."""
    return {
        name: [seconds(*(BASE | {name: factor * BASE[name]}).values(), repeat) for factor in times]
        for name in BASE
    }


def main(folder: Path) -> None:
    """Measure, print the slopes and draw the plot."""
    with quiet_machine():
        found = measured()
    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    for name, times in found.items():
        slope = np.polyfit(np.log(TIMES), np.log(times), 1)[0]
        print(f"{name:18}{slope:6.2f}   {' '.join(f'{1e3 * t:.2f}' for t in times)} ms")
        axes.loglog(TIMES, np.array(times) / times[0], "o-", label=f"{name}, slope {slope:.2f}")
    axes.loglog(TIMES, TIMES, "k:", label="linear")
    axes.set(xlabel="times as many", ylabel="times as long")
    axes.legend()
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "growth.png", dpi=150)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "results/bench"))
