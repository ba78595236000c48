"""`make mutants`: tries the fixed sample, keeps what is finished, writes the table.

``python tests/mutants/run_mutants.py FOLDER [--jobs N] [--first N]``: the first N of
the sample, which is in a random order of all kinds in turn.
"""

import argparse
import hashlib
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot  # noqa: F401  (what every child process needs is imported once)
import sklearn.datasets  # noqa: F401
from equivalents import equivalents
from mutants_table import write_table
from mutations import Mutant
from private_tree import PrivateTree
from reached import ROOT, SUBJECTS_FILE, digest
from recordings import reached_by_subjects
from sampling import sample
from tqdm import tqdm
from trials import Memory, Stage, check_stage, false_alarm, tried

from certibit.cli.words.plain_options import count


def main(folder: Path, workers: int = 2, first: int | None = None) -> None:
    """Try what is not tried yet, and write the table."""
    folder.mkdir(parents=True, exist_ok=True)
    argued, everything = equivalents(), sample(ROOT)[:first]
    left = [mutant for mutant in everything if mutant.name not in argued]
    with tempfile.TemporaryDirectory() as copies:
        trees = [PrivateTree(ROOT, Path(copies) / str(number)) for number in range(workers)]
        made, memory = check_stage(reached_by_subjects(folder)), Memory(folder / "finished.jsonl")
        found = tried_or_known(made, left, trees, memory)
    seen = {name: (made.name, what) for name, what in found.items() if what}
    print(write_table(folder, everything, seen, argued))


def tried_or_known(
    stage: Stage, mutants: list[Mutant], trees: list[PrivateTree], memory: Memory
) -> dict[str, str]:
    """Return what is seen of every mutant at a stage, by name; what is new is kept."""
    if alarm := false_alarm(stage, trees[0]):
        sys.exit(f"without any fault the {stage.name} says {alarm}")
    whole = _digest_of(stage)
    keys = {mutant.name: f"{mutant.name} {digest(ROOT / mutant.file)}" for mutant in mutants}
    known = memory.read(stage.name, whole)
    found = {name: known[key] for name, key in keys.items() if key in known}
    new = [mutant for mutant in mutants if mutant.name not in found]
    with tqdm(total=len(mutants), initial=len(found), desc=stage.name) as bar:
        for mutant, what in tried(stage, new, trees):
            memory.add(stage.name, whole, keys[mutant.name], what)
            found[mutant.name] = what
            bar.update()
            if not what:
                bar.write("\n".join(["", f"{mutant.file}, {mutant.function}:", *mutant.patch]))
    return found


def _digest_of(stage: Stage) -> str:
    """Return a hash of all that a survivor of a stage was shown to."""
    files = [file for name in stage.uses for file in sorted((ROOT / name).rglob("*.py"))]
    texts = [digest(file) for file in files if file.parent != Path(__file__).parent]
    return hashlib.sha256("".join([*texts, digest(SUBJECTS_FILE)]).encode()).hexdigest()[:16]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--first", type=count, help="so many mutants of the sample (default: all)")
    parser.add_argument("--jobs", type=count, default=2, help="mutants at once (default: 2)")
    chosen = parser.parse_args()
    main(chosen.folder.resolve(), chosen.jobs, chosen.first)
