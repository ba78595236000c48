"""Mutants tried by the quick form of `certibit check`."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from mutations import Mutant
from private_tree import ROOMS, Answer, PrivateTree
from recordings import Reached
from subjects import first_finding

SOURCE = (*ROOMS, "certibit")
MOST = 120
"""Subjects that are run for one mutant."""
CHOICE, DELAY = 200, 0.1
"""So many of the shortest are compared, and what any of them takes beside its own seconds."""
COMPILED = {
    "data/passes/message_passes.py": "solvers/compressors/natural.py:Natural.hardest",
    "data/passes/row_passes.py": "data/passes/fused.py:",
}
"""What compiled code does is not recorded: who calls it is asked."""


@dataclass(frozen=True)
class Stage:
    """How mutants are tried.

    Attributes
    ----------
    name : str
        What catches them.
    candidates : sequence of Reached
        The subjects.
    ask : callable
        Runs some of them, by name, and gives 0 if nothing is found.
    seconds : float
        Processor time that those chosen for a mutant take together, as recorded; three times that,
        and twenty seconds, is the limit.
    uses : sequence of str
        The folders of the tree that it depends on.
    """

    name: str
    candidates: Sequence[Reached]
    ask: Callable[[Sequence[str]], int]
    seconds: float
    uses: Sequence[str]

    @property
    def limit(self) -> float:
        """Seconds of processor time after which a mutant counts as caught."""
        return 20 + 3 * self.seconds


def check_stage(candidates: Sequence[Reached]) -> Stage:
    """Return the stage of the battery."""
    return Stage("check", candidates, first_finding, 20.0, SOURCE)


def false_alarm(stage: Stage, tree: PrivateTree) -> str:
    """Return what some of the candidates, from short to long, see in a tree without a fault."""
    some = sorted(stage.candidates, key=lambda c: c.seconds)[::20]
    return dict(tried(replace(stage, candidates=some), [None], [tree]))[None]


def reaching(mutant: Mutant, candidates: Iterable[Reached], seconds: float) -> list[str]:
    """Return who calls the mutated function; if nobody does, who calls another one of its file.

    Those that call most that was not called yet come first, by their time, and the first one
    always; all together take so many seconds.
    """
    possible = list(candidates)
    start = COMPILED.get(mutant.file, f"{mutant.file}:")
    called = [c for c in possible if mutant.function and start + mutant.function in c.functions]
    near = [] if called else [c for c in possible if any(f.startswith(start) for f in c.functions)]
    chosen: list[str] = []
    for candidate in unlike(called or near):
        seconds -= candidate.seconds
        if chosen and (seconds < 0 or len(chosen) == MOST):
            break
        chosen.append(candidate.name)
    return chosen


def unlike(candidates: Iterable[Reached]) -> Iterator[Reached]:
    """Yield candidates that differ: first the shortest one, then in turn two kinds of others.

    Who calls most that is new, and who calls least beside it.
    """
    left = sorted(candidates, key=lambda c: (c.seconds, c.name))
    known: frozenset[str] = frozenset()
    for turn in range(min(MOST, len(left))):
        some = left[:CHOICE] if known else left[:1]
        best = max(some, key=lambda c: len(c.functions - known) / (c.seconds + DELAY))
        if turn and turn % 2 == 0:
            best = min(left, key=lambda c: len(c.functions))
        left.remove(best)
        known |= best.functions
        yield best


def tried(
    stage: Stage, mutants: Iterable[Mutant | None], trees: Sequence[PrivateTree]
) -> Iterator[tuple[Mutant | None, str]]:
    """Yield mutants with what is seen of them, "" if nothing, one for each tree at a time."""
    waiting = iter(mutants)
    free, running = list(trees), []

    def begin() -> None:
        while free and (mutant := next(waiting, _END)) is not _END:
            tree = free.pop()
            tree.plant(mutant)
            names = [candidate.name for candidate in stage.candidates]
            if mutant is not None:
                names = reaching(mutant, stage.candidates, stage.seconds)
            answer = tree.start(partial(stage.ask, names), stage.limit)
            running.append((mutant, tree, answer))

    begin()
    while running:
        time.sleep(0.02)
        for trial in [trial for trial in running if trial[2].ended]:
            mutant, tree, answer = trial
            running.remove(trial)
            free.append(tree)
            yield mutant, seen(answer)
        begin()


_END = object()


def seen(answer: Answer) -> str:
    """Return the line that says what failed, or "" if nothing did."""
    code, told = answer.read()
    if code == 0:
        return ""
    lines = [line for line in told.splitlines() if line.strip()] or [f"exit code {code}"]
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])[:300]


def _row(line: str) -> dict[str, str]:
    """Return what a line holds; nothing where it is empty, damaged or cut."""
    try:
        row = json.loads(line)
        return row if row.keys() == {"stage", "tree", "key", "seen"} else {}
    except (ValueError, AttributeError):
        return {}


@dataclass(frozen=True)
class Memory:
    """What is finished, one JSON line each.

    What was caught stays caught while the text of its file is the same; what was not is tried
    again when any file of the tree is another.
    """

    file: Path

    def read(self, stage: str, whole: str) -> dict[str, str]:
        """Return what was seen at a stage, by the keys of mutants."""
        if not self.file.exists():
            return {}
        rows = map(_row, self.file.read_text(encoding="utf-8", errors="replace").splitlines())
        return {
            row["key"]: row["seen"]
            for row in rows
            if row and row["stage"] == stage and (row["seen"] or row["tree"] == whole)
        }

    def add(self, stage: str, whole: str, key: str, seen: str) -> None:
        """Keep what was seen of one mutant."""
        row = {"stage": stage, "tree": whole, "key": key, "seen": seen}
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(f"\n{json.dumps(row)}\n")  # after whatever was cut before
