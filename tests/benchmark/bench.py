"""The benchmark: ``python tests/benchmark/bench.py [--quick]``; see docs/benchmark.md.

It writes a record into results/bench and compares it with the last one there.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from measurements import measured, tricks
from ratios import Ratio, ratio_text, slower, slower_throughout, tables
from record import Record, last
from workloads import WORKLOADS, Workload, made

from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.registry import use_extensions

SECONDS, QUICK_SECONDS = 0.12, 0.02
QUICK = ("a5a@87", "breast-cancer@9")
TRICKS_ON = ("w1a@87", "a5a@87", "a5a@288", "australian@225", "breast-cancer@9")
TRICKS_RUNS = 16
"""What the tricks are measured on."""
SHOWN = 10
"""Places that are named in a comparison."""


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    names = [workload.problem for workload in WORKLOADS]
    parser = argparse.ArgumentParser(description="Measure what things cost, as ratios.")
    parser.add_argument("--quick", action="store_true", help="two problems, R = 1 and 16")
    parser.add_argument("--problems", nargs="+", choices=names, metavar="PROBLEM", default=None)
    parser.add_argument("--seconds", type=float, help="for every ratio")
    parser.add_argument("--output", type=Path, default=Path("results/bench"), help="folder")
    return parser.parse_args(words)


def selected(chosen: argparse.Namespace) -> list[Workload]:
    """Return the workloads that are asked for."""
    names = chosen.problems or (QUICK if chosen.quick else [w.problem for w in WORKLOADS])
    workloads = [workload for workload in WORKLOADS if workload.problem in names]
    return [replace(w, runs=w.at(1, 16)) for w in workloads] if chosen.quick else workloads


def main(words: Sequence[str] | None = None) -> Record:
    """Measure, print the tables and what has become slower, and keep the record."""
    chosen = arguments(words)
    seconds = chosen.seconds or (QUICK_SECONDS if chosen.quick else SECONDS)
    problems = {workload: made(workload) for workload in selected(chosen)}
    absent = [workload.problem for workload, problem in problems.items() if problem is None]
    here = {w.problem: (w, problem) for w, problem in problems.items() if problem is not None}
    ratios: list[Ratio] = []
    with quiet_machine(), use_extensions("always"):
        for workload, problem in here.values():
            print(f"{time.strftime('%X')}  {workload.problem}", file=sys.stderr)
            ratios += measured(workload, problem, seconds)
        print(f"{time.strftime('%X')}  speed tricks", file=sys.stderr)
        for name in (name for name in TRICKS_ON if name in here):
            ratios += tricks(here[name][1], TRICKS_RUNS, 3 * seconds)
    before, record = last(chosen.output), Record.now(ratios, absent)
    path = record.write(chosen.output)
    print(tables(ratios))
    print()
    for name in absent:
        print(f"{name} is left out: its file is in no folder of CERTIBIT_DATA")
    print(comparison(record, before))
    print(f"written to {path}")
    return record


def comparison(record: Record, before: Record | None) -> str:
    """Say what has become slower since the last record."""
    if before is None:
        return "there is no earlier record to compare with"
    since = f"{before.date} ({before.commit}, {before.hardware['processor']})"
    now, old = record.ratios, before.ratios
    throughout = [
        f"  {factor:.2f} times: {' / '.join(row)}" for row, factor in slower_throughout(now, old)
    ]
    single = [
        f"  {factor:.2f} times: {' / '.join(map(str, ratio.key))}, now {ratio_text(ratio.value)}"
        for ratio, factor in slower(now, old)
    ]
    return "\n".join(
        [
            f"slower by more than 20 % since {since}",
            "in the median over problems and runs:",
            *(throughout or ["  nothing"]),
            f"in one place, with quartiles apart: {len(single)} of {len(now)}",
            *single[:SHOWN],
        ]
    )


if __name__ == "__main__":
    main()
