"""One mutant tried: first by the quick form of `bitbound check`, then by the tests that reach it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mutations import Mutant
from private_tree import PrivateTree
from recordings import Reached

CHECK_SECONDS, TEST_SECONDS, MOST_TESTS = 30.0, 60.0, 300
"""What the subjects and the tests chosen take together, as they were recorded."""
PLANTING = ("test_fault_is_caught", "tests/mutants/", "test_fuzz_stored")
"""Tests that look for a text, or only take long, are not run."""


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant: caught by ``check`` or by ``tests``, or survived; and who saw it."""

    caught: str
    by: str


def reaching(mutant: Mutant, candidates: Iterable[Reached], seconds: float) -> list[str]:
    """Return who calls the mutated function, then who calls another one of its file.

    Short ones come first, and the first one always; all together take so many seconds.
    """
    place = f"{mutant.file}:{mutant.function}"
    ranked = []
    for candidate in candidates:
        if any(part in candidate.name for part in PLANTING):
            continue
        if place in candidate.functions:
            ranked.append((0, candidate.seconds, candidate.name))
        elif any(f.startswith(f"{mutant.file}:") for f in candidate.functions):
            ranked.append((1, candidate.seconds, candidate.name))
    chosen: list[str] = []
    for _, needed, name in sorted(ranked):
        seconds -= needed
        if chosen and (seconds < 0 or len(chosen) == MOST_TESTS):
            break
        chosen.append(name)
    return chosen


def tried(
    mutant: Mutant | None, tree: PrivateTree, subjects: Sequence[str], tests: Sequence[str]
) -> Outcome:
    """Try a mutant, or no fault at all, on subjects of the battery and then on tests."""
    with tree.planted(mutant):
        if subjects:
            code, told = tree.run(["tests/mutants/subjects.py", *subjects], 60 + 5 * CHECK_SECONDS)
            if code != 0:
                return Outcome("check", _last(told))
        if tests:
            words = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
            code, told = tree.run([*words, *tests], 60 + 5 * TEST_SECONDS)
            if code != 0:
                return Outcome("tests", _last(told))
    return Outcome("", "")


def _last(told: str) -> str:
    """Return the line that says what failed."""
    lines = [line for line in told.splitlines() if line.strip()] or ["nothing said"]
    return next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])[:300]
