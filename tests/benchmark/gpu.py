"""What an iteration takes on a GPU: ``python tests/benchmark/gpu.py``, a part of `make gpu`.

One JSON line for each method and place, times in microseconds: of an iteration on the device and,
up to a size, of numpy on one thread; of the bare products and the sigmoid on the device; and of an
iteration of a whole run with what it records. ``vectors`` is the memory that the device held, in
vectors (n, d, R).
"""

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
from iterations import Iterations

import certibit
from certibit import Budget, Experiment
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.libraries import host, like, namespace, transfer

METHODS = {
    "gd": None,
    "locodl": "rand-k:2+natural",
    "diana": "natural",
    "adiana": "rand-k:2+natural",
    "scaffnew": None,
    "ef21": "top-k:2",
}
SHAPES = (
    ("dense", 10, 100, 50, (20, 256)),
    ("dense", 100, 20, 100, (1, 16, 256)),
    ("dense", 300, 20, 300, (1, 16, 110)),
    ("sparse", 100, 50, 1000, (1, 16, 100)),
    ("dense", 3000, 10, 300, (1, 10, 110)),
    ("sparse", 1000, 10, 1000, (10, 100)),
)
"""Storage, clients, rows of each, features, runs."""
ON_HOST = 1 << 24, ("locodl", "diana")
"""Numbers n d R up to which all methods are measured on the host; beyond, these are."""
WHOLE = ("gd", "diana"), 16
"""The methods whose whole runs are measured, and the largest number of runs for it."""


def made(storage: str, n: int, m: int, d: int) -> Any:
    """Return a logistic regression with random rows, 1 in 50 entries where they are sparse."""
    rng = np.random.default_rng(0)
    rows: Any = rng.standard_normal((n * m, d))
    if storage == "sparse":
        rows = scipy.sparse.random_array((n * m, d), density=0.02, rng=rng, format="csr")
    targets = rng.integers(0, 2, n * m)
    choices: dict[str, Any] = {"split": "in-order", "storage": storage, "name": storage}
    return certibit.problem(rows, targets, clients=n, kappa=1e3, **choices)


def of_an_iteration(experiment: Any, runs: int, library: str, most: int) -> float:
    """Return the microseconds of an iteration alone."""
    one = Iterations(
        replace(
            experiment,
            method=transfer(experiment.method, library),
            problem=transfer(experiment.problem, library),
        ),
        runs,
    )
    for times in (2, most):
        begun = time.perf_counter()
        for _ in range(times):
            one()
        float(host(one.method.model(one.state)).sum())  # waits for the device
    return 1e6 * (time.perf_counter() - begun) / most


def of_a_run(experiment: Any, runs: int, library: str, most: int) -> float:
    """Return the microseconds of an iteration of a run, from two runs of different length."""
    times = {}
    for iterations in (2, most, 2 * most):
        begun = time.perf_counter()
        certibit.run(
            *(experiment.method, experiment.problem, experiment.compressor),
            seeds=runs, library=library, budget=Budget(iterations=iterations),
        )  # fmt: skip
        times[iterations] = time.perf_counter() - begun
    return 1e6 * (times[2 * most] - times[most]) / most


def of_products(problem: Any, runs: int, library: str) -> float:
    """Return the microseconds of the bare products and the sigmoid on the device."""
    xp, (n, m, d) = namespace(library), problem.rows.shape
    rows = transfer(problem.rows, library)
    if hasattr(rows, "stack"):
        there, shape = rows.stack, (n, d)
        back = like(there, np.ascontiguousarray(problem.rows.stack.transpose(0, 2, 1)))
    else:
        there, back, shape = rows.blocks, rows.transposed, (n * d,)
    points = np.random.default_rng(1).standard_normal((*shape, runs)) / d
    x = like(transfer(problem, library).x_0, points)
    for times in (5, 50):
        begun = time.perf_counter()
        for _ in range(times):
            last = back @ (-1.0 / (m + m * xp.exp(there @ x)))
        float(host(last).sum())
    return 1e6 * (time.perf_counter() - begun) / times


def held(library: str) -> float:
    """Return the bytes that the device has held since the last time."""
    if library != "cupy":
        return float("nan")
    pool = namespace(library).get_default_memory_pool()
    held = pool.total_bytes()
    pool.free_all_blocks()
    return float(held)


def measured(problem: Any, runs: int, library: str) -> Iterator[dict[str, Any]]:
    """Yield one record for the products, and one for every method."""
    numbers = problem.n * problem.d * runs
    place = {"problem": repr(problem), "runs": runs, "numbers": numbers}
    yield place | {"what": "products", "device": of_products(problem, runs, library)}
    for name, selector in METHODS.items():
        sent = certibit.compressor(selector) if selector else None
        experiment = Experiment.of(certibit.parameters(name, problem, sent), problem, sent)
        held(library)
        most = int(np.clip(2e9 / numbers, 4, 60))
        found = {"device": of_an_iteration(experiment, runs, library, most)}
        found["vectors"] = held(library) / (8 * numbers)
        if name in WHOLE[0] and runs <= WHOLE[1]:
            found["run"] = of_a_run(experiment, runs, library, most)
        if numbers <= ON_HOST[0] or name in ON_HOST[1]:
            most = int(np.clip(3e7 / numbers, 2, 60))
            found["host"] = of_an_iteration(experiment, runs, "numpy", most)
        yield place | {"what": name} | found


def main() -> None:
    """Measure and print."""
    most = int(sys.argv[1]) if len(sys.argv) > 1 else len(SHAPES)  # small ones first
    with quiet_machine():
        for storage, n, m, d, all_runs in SHAPES[:most]:
            problem = made(storage, n, m, d)
            for runs in all_runs:
                for found in measured(problem, runs, "cupy"):
                    print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
