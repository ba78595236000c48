"""What is measured on: problems of the figures."""

from dataclasses import dataclass
from typing import Any

from certibit import Refusal, problem


@dataclass(frozen=True)
class Workload:
    """A problem, and how many runs at once it is measured with."""

    problem: str
    runs: tuple[int, ...] = (1, 5, 16, 64)

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
)


def made(workload: Workload) -> Any:
    """Return the problem of a workload, or None where its file is not here."""
    try:
        return problem(workload.problem, download=False)
    except Refusal:
        return None
