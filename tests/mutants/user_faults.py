"""Faults of a user's kind, drawn by a seed, shown to `certibit check` alone.

``python tests/mutants/user_faults.py FOLDER [--seed N] [--seconds S]``: mutants of the files of
methods, cards, compressors, losses and problems, in turn. Each is shown to the command lines of its
method, compressor, loss or problem. What is finished is kept in FOLDER; after S seconds on the
clock no further one is begun.
"""

import argparse
import io
import json
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
from equivalents import equivalents
from mutations import Mutant, mutants, parses
from private_tree import PrivateTree

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "tests/mutants/user_faults.py"
KINDS = {
    "solvers/methods": 17, "theory/cards": 20, "solvers/compressors": 9, "data/losses": 6,
    "data/problems": 8,
}  # fmt: skip
"""Folders, and how many faults of each."""
_QUADRATIC, _ROWS = "quadratic:d=6@4", "breast-cancer@4"
SENT = {"unbiased": " rand-k:2", "contractive": " top-k:2", None: ""}
OF_FILES = {
    "natural": ["diana natural"],
    "quantisation": ["diana dithering:3", "diana ternary", "ef21 sign"],
    "selection": ["diana rand-k:2", "ef21 top-k:2", "diana rand-k:1@shared", "diana l1"],
    "composition": ["diana rand-k:2+natural", "ef21 scaled(rand-k:2)",
                    "ef21 chunked:3(top-k:2)", "ef-bv rand-k:1(top-k:2)",
                    "ef21p-diana two-way(rand-k:2;top-k:2)",
                    "locodl-both-ways two-way(rand-k:2;rand-k:2)"],
    "losses": [f"{_ROWS} gd --loss logistic", f"{_ROWS} gd --loss huber:1",
               f"{_ROWS} gd --loss least-squares",
               f"{_ROWS} gd --loss smoothed-hinge", "tests/mutants/own_counts.py:counts gd",
               f"{_ROWS} gd --loss multinomial", f"{_ROWS}:nonconvex gd --loss welsch:1",
               f"{_ROWS}:nonconvex gd --loss tukey:3"],
    "quadratic": [f"{_QUADRATIC} gd", f"{_QUADRATIC} ef21 top-k:2"],
    "nonconvex_quadratic": [f"{_QUADRATIC}:nonconvex gd", f"{_QUADRATIC}:nonconvex:noise=0.1 sgd"],
    "nonconvex_model": [f"{_ROWS}:nonconvex gd", f"{_ROWS}:nonconvex:batch=8 sgd"],
    "logistic": [f"{_ROWS} gd", f"{_ROWS} locodl rand-k:8", f"{_ROWS}:batch=8 sgd"],
    "linear_model": [f"{_ROWS} gd --loss huber:1", f"{_ROWS} locodl rand-k:8 --loss least-squares",
                     f"{_ROWS} gd --loss multinomial"],
    "ridge_problem": [f"{_QUADRATIC} gd", f"{_ROWS} locodl rand-k:8 --loss least-squares"],
}  # fmt: skip
"""The command lines of a compressor, a loss or a problem."""
CLIPPING = ("celgc", "clip", "episode", "momentum_clipping", "naive_parallel", "normalised")
"""Starts of the names of modules of clipping methods, whose problems a check refuses."""
OUTSIDE = {"nonconvex", "published", "5gcs", "5gcs-adaptive", "convex"}
"""Rules that follow no theorem about a factor, or serve no compressor."""
SECONDS = 80
"""Of processor time for one fault: what takes longer counts as caught."""
KAPPA = "--kappa 30 "
QUICK = f"{KAPPA}--seeds 2 --until 1e-3 --quiet"


def lines(file: str) -> Iterator[str]:
    """Yield the arguments of `certibit check` that a fault of a file is shown to.

    They follow what a method says that it needs, the fault in it included.
    """
    from certibit.theory.catalogue.catalogue import CARDS  # noqa: PLC0415  (of the copied tree)

    name = Path(file).stem
    if name in OF_FILES and file.startswith("data"):
        for words in OF_FILES[name]:
            convex = ":nonconvex" not in words
            limits = QUICK.removeprefix(KAPPA if ".py:" in words else "") if convex else "--quiet"
            yield f"{words} {limits}"
        return
    if name in OF_FILES:
        yield from (f"{_QUADRATIC} {words} {QUICK}" for words in OF_FILES[name])
        return
    card = next(one for one in CARDS.values() if one.method.__module__.endswith(f".{name}"))
    needs, clients = card.method.needs, 1 if card.method.needs.shared_minimiser else 4
    sent = SENT[needs.compressor]
    if needs.downlink:
        sent = f" two-way({sent.strip()};{SENT[needs.downlink].strip()})"
    words = f"{card.name}{sent}"
    if card.about("potential") or card.about("gap"):
        for rule in card.rules:
            if rule not in OUTSIDE or len(card.rules) == 1:
                yield f"quadratic:d=6@{clients} {words} --parameters {rule} {QUICK}"
        if needs.samples:
            yield f"{_ROWS}:batch=8 {words} {QUICK}"
    if card.about("squared_gradient"):
        for noise in ("", ":noise=0.1"):
            yield f"{_QUADRATIC}:nonconvex{noise} {words} --quiet"
        if needs.samples:
            yield f"{_ROWS}:nonconvex:batch=8 {words} --quiet"


def shown(file: str) -> int:
    """Print the first thing that is found with the command lines of a file; return 1, else 0."""
    for line in lines(file):
        if found := finding(line):
            print(f"{line}: {found}")
            return 1
    return 0


def finding(line: str) -> str:
    """Return "" if `certibit check` finds nothing with some arguments, else the last it says."""
    from certibit.cli import main  # noqa: PLC0415  (a fault may stop the import)

    told, errors = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(told), redirect_stderr(errors):
            code = main(["check", *line.split()])
    except SystemExit as end:
        code = end.code
    except Exception:
        return traceback.format_exc(limit=0).strip()
    if not code:
        return ""
    said = [
        row
        for row in told.getvalue().splitlines()
        if "FAILS" in row and "limit" not in row  # a hypothesis of another theorem may fail
    ]
    return (said or errors.getvalue().strip().splitlines() or [f"exit code {code}"])[0]


def drawn(seed: int) -> list[Mutant]:
    """Return the sample, kind after kind in turn, at most one of a line."""
    chosen: dict[Mutant, float] = {}
    for folder, count in KINDS.items():
        found = []
        for file in sorted((ROOT / folder).glob("[a-z]*.py")):
            text, path = file.read_text(encoding="utf-8"), file.relative_to(ROOT).as_posix()
            chosen_file = "methods" in folder or "cards" in folder or file.stem in OF_FILES
            if chosen_file and not file.stem.startswith(CLIPPING):
                found += [m for m in mutants(path, text) if parses(m, text)]
        order = np.random.default_rng(seed).permutation(len(found))
        of_lines = {(found[i].file, found[i].patch[0]): found[i] for i in order[::-1]}
        for place, mutant in enumerate(list(of_lines.values())[::-1][:count]):
            chosen[mutant] = place / count
    return sorted(chosen, key=chosen.__getitem__)


def main(folder: Path, seed: int, seconds: float) -> None:
    """Show the sample to the checks, and print what became of it."""
    folder.mkdir(parents=True, exist_ok=True)
    kept, begin = folder / "user_faults.jsonl", time.monotonic()
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    known, argued = {row["name"]: row for row in rows}, equivalents()
    with tempfile.TemporaryDirectory() as copies:
        tree = PrivateTree(ROOT, Path(copies) / "tree")
        for mutant in drawn(seed):
            if mutant.name in known or time.monotonic() - begin > seconds:
                continue
            tree.plant(mutant)
            failure = tree.failure([SCRIPT, mutant.file, "--show"], SECONDS)
            row = {
                "name": mutant.name, "file": mutant.file, "function": mutant.function,
                "patch": mutant.patch, "seen": failure,
            }  # fmt: skip
            known[mutant.name] = row
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            print(mutant.file, *mutant.patch, row["seen"] or "SURVIVES", sep="\n  ", flush=True)
    fates = Counter(
        (row["file"].rsplit("/", 1)[0],
         "equivalent" if row["name"] in argued else "caught" if row["seen"] else "survived")
        for row in known.values()
    )  # fmt: skip
    for kind in KINDS:
        print(
            kind, *(f"{fate}: {fates[kind, fate]}" for fate in ("caught", "survived", "equivalent"))
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--show", action="store_true", help="show the fault in this file")
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--seconds", type=float, default=3600.0)
    chosen = parser.parse_args(sys.argv[1:])
    if chosen.show:
        sys.exit(shown(chosen.folder.as_posix()))
    main(chosen.folder.resolve(), chosen.seed, chosen.seconds)
