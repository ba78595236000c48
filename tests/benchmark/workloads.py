"""What is measured on: problems of the figures, and a large sparse one made on the spot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from certibit import Constants, LogisticRegression, Refusal, problem
from certibit.data.files.splits import Division
from certibit.data.problems.rows import sparse

SPARSE = "sparse@1000"


@dataclass(frozen=True)
class Workload:
    """A problem, and how many runs at once it is measured with.

    ``methods`` names the methods; by default all are measured.
    """

    problem: str
    runs: tuple[int, ...] = (1, 5, 16, 64)
    methods: tuple[str, ...] = ()

    def at(self, *wanted: int) -> tuple[int, ...]:
        """Return those of its numbers of runs that are wanted, or its last one."""
        return tuple(runs for runs in self.runs if runs in wanted) or self.runs[-1:]


WORKLOADS = (
    Workload("a5a@87"),
    Workload("a5a@288"),
    Workload("w1a@87"),
    Workload("w1a@619", (1, 5, 16)),
    Workload("diabetes@73"),
    Workload("australian@225"),
    Workload("breast-cancer@9"),
    Workload(SPARSE, (1, 5), ("gd", "diana", "scaffnew", "locodl")),
)


def made(workload: Workload) -> Any:
    """Return the problem of a workload, or None where its file is not here."""
    if workload.problem == SPARSE:
        return sparse_problem()
    try:
        return problem(workload.problem, download=False)
    except Refusal:
        return None


def sparse_problem(
    n: int = 1000, m: int = 5, d: int = 20_000, density: float = 1e-3
) -> LogisticRegression:
    """Make a problem of random sparse rows of length 1, as it is used for its cost only.

    The constants are upper bounds, and ``x_star`` is no solution.
    """
    draw = np.random.default_rng(0)
    rows, entries = n * m, max(1, round(density * d))
    indices = np.sort(draw.integers(d, size=(rows, entries)), axis=1).ravel()
    values = draw.choice([-1.0, 1.0], rows * entries) / np.sqrt(entries)
    starts = np.arange(0, rows * entries + 1, entries)
    matrix = scipy.sparse.csr_array((values, indices, starts), shape=(rows, d))
    matrix.sum_duplicates()
    return LogisticRegression(
        name=f"sparse@{n}",
        seed=0,
        fingerprint="",
        bare=Constants(0.0, np.full(n, 0.25), 0.25),
        ridge=5e-5,
        ridge_g=2.5e-5,
        x_star=np.zeros((1, d, 1)),
        rows=sparse(matrix, n),
        split="made",
        division=Division((), ((m,),) * n),
    )
