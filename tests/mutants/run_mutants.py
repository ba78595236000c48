"""`make mutants`: tries the fixed sample, keeps what is finished, writes the table.

``python tests/mutants/run_mutants.py FOLDER [WORKERS]``. A mutant that was caught stays caught
while the text of its file is the same; one that survived is tried again when any file is another.
"""

import hashlib
import json
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict
from pathlib import Path
from queue import SimpleQueue

from equivalents import equivalents
from mutants_table import write_table
from mutations import Mutant
from private_tree import COPIED, PrivateTree
from reached import ROOT, digest
from recordings import reached_by_subjects, reached_by_tests
from sampling import sample
from tqdm import tqdm
from trials import CHECK_SECONDS, TEST_SECONDS, Outcome, reaching, tried


def main(folder: Path, workers: int = 2) -> None:
    """Try what is not tried yet, and write the table."""
    folder.mkdir(parents=True, exist_ok=True)
    argued = equivalents()
    everything = sample(ROOT)
    found = [mutant for mutant in everything if mutant.name not in argued]
    whole = _digest_of_all()
    keys = {mutant.name: f"{mutant.name} {digest(ROOT / mutant.file)}" for mutant in found}
    finished = folder / "finished.jsonl"
    outcomes = dict(_finished(finished, whole))
    left = [mutant for mutant in found if keys[mutant.name] not in outcomes]
    if left:
        subjects, tests = reached_by_subjects(folder), reached_by_tests(folder, workers)
        trees: SimpleQueue[PrivateTree] = SimpleQueue()
        with tempfile.TemporaryDirectory() as place, finished.open("a", encoding="utf-8") as lines:
            for number in range(workers):
                trees.put(PrivateTree(ROOT, Path(place) / str(number)))

            def attempt(mutant: Mutant) -> tuple[Mutant, Outcome]:
                tree = trees.get()
                try:
                    quick = reaching(mutant, subjects, CHECK_SECONDS)
                    slow = reaching(mutant, tests, TEST_SECONDS)
                    return mutant, tried(mutant, tree, quick, slow)
                finally:
                    trees.put(tree)

            with ThreadPoolExecutor(workers) as pool:
                waiting = [pool.submit(attempt, mutant) for mutant in left]
                for done in tqdm(as_completed(waiting), total=len(left), desc="mutants"):
                    mutant, outcome = done.result()
                    row = {"key": keys[mutant.name], "tree": whole, **asdict(outcome)}
                    lines.write(json.dumps(row) + "\n")
                    lines.flush()
                    outcomes[keys[mutant.name]] = outcome
                    if not outcome.caught:
                        tqdm.write("\n".join([f"{mutant.file} {mutant.name}", *mutant.patch]))
    outcomes_of = {m.name: outcomes[keys[m.name]] for m in found}
    print(write_table(folder, everything, outcomes_of, argued))


def _digest_of_all() -> str:
    texts = [digest(file) for name in COPIED for file in sorted((ROOT / name).rglob("*.py"))]
    return hashlib.sha256("".join(texts).encode()).hexdigest()[:16]


def _finished(file: Path, whole: str) -> Iterator[tuple[str, Outcome]]:
    """Yield what is known of mutants: who was caught, and who survived this very tree."""
    if file.exists():
        for row in map(json.loads, file.read_text(encoding="utf-8").splitlines()):
            if row["caught"] or row["tree"] == whole:
                yield row["key"], Outcome(row["caught"], row["by"])


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve(), *map(int, sys.argv[2:]))
