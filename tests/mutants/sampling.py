"""The fixed random sample of mutants, so many of every kind of module."""

import hashlib
from pathlib import Path

import numpy as np
from mutations import Mutant, mutants, parses

SEED = 20
KINDS = {
    "data/problem": ("problems", 20),
    "data/relaxed/": ("relaxed problems", 8),
    "data/": ("files", 6),
    "solvers/methods/": ("methods", 30),
    "solvers/compressors/": ("compressors", 20),
    "solvers/simulation/": ("channel", 20),
    "solvers/runs/": ("runs", 12),
    "solvers/store/": ("runs", 0),
    "solvers/": ("other", 6),
    "theory/cards/": ("theorems", 34),
    "theory/worlds/": ("worlds", 12),
    "theory/certificates/": ("certificates", 14),
    "theory/exact/": ("certificates", 0),
    "theory/checks/": ("checks", 14),
    "theory/audit/": ("audit", 6),
    "theory/plan/": ("other", 0),
    "theory/": ("theorems", 0),
}
"""Kind of a module by the first start of its path that fits, and how many mutants of it."""
OF_THE_CHECK = ("methods", "compressors", "channel", "theorems", "problems")
"""The kinds whose faults a user's own check should catch."""
CLIPPING = ("celgc", "clip", "episode", "momentum_clipping", "naive_parallel", "normalised")
"""Starts of the names of modules of clipping methods, whose problems a check refuses."""


def kind(file: str) -> str:
    """Return the kind of a module."""
    return next(name for start, (name, _) in KINDS.items() if file.startswith(start))


def is_checked(file: str) -> bool:
    """Whether the faults of a module are among those that a user's own check should catch."""
    return kind(file) in OF_THE_CHECK and not file.rsplit("/", 1)[-1].startswith(CLIPPING)


def sample(root: Path, share: float = 1.0) -> list[Mutant]:
    """Return the fixed sample of a tree's mutants, at most one of a line, kind after kind in turn.

    The rank of a mutant is drawn by a generator that its name seeds: a change of one module leaves
    what is taken of the others as it is.
    """
    counts: dict[str, int] = {}
    for name, count in KINDS.values():
        counts[name] = counts.get(name, 0) + round(share * count)
    chosen: dict[str, list[Mutant]] = {name: [] for name in counts}
    lines = set()
    for mutant in sorted(_all(root), key=rank):
        name, line = kind(mutant.file), (mutant.file, mutant.function, mutant.patch[0])
        if len(chosen[name]) == counts[name] or line in lines:
            continue
        if parses(mutant, (root / mutant.file).read_text(encoding="utf-8")):
            lines.add(line)
            chosen[name].append(mutant)
    turns = {m: place / len(found) for found in chosen.values() for place, m in enumerate(found)}
    return sorted(turns, key=turns.__getitem__)


def _all(root: Path) -> list[Mutant]:
    found = []
    for room in ("data", "solvers", "theory"):
        for file in sorted((root / room).rglob("*.py")):
            found += mutants(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))
    return found


def rank(mutant: Mutant) -> float:
    digest = hashlib.sha256(mutant.name.encode()).digest()
    return np.random.default_rng([SEED, *digest]).random()
