"""Mutants tried on the workers of a place, a few in a job.

A worker starts ``python trials_elsewhere.py FOLDER``, which has a private tree of its own and
reads in FOLDER, that of the results, what subjects reach.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from mutations import Mutant
from private_tree import PrivateTree
from reached import ROOT
from recordings import reached_by_subjects
from sampling import sample
from trials import Memory, Stage, check_stage, tried

from certibit.figures.places.delivery import Place
from certibit.figures.pool import Call, in_file, traces

AT_A_TIME = 8
"""Mutants of a job, which takes a private tree."""


def tried_on(
    place: Place | int, stage: Stage, mutants: Sequence[Mutant], memory: Memory
) -> Iterator[tuple[Mutant, str]]:
    """Yield mutants with what is seen of them, "" if nothing, as the jobs are done."""
    by_name = {mutant.name: mutant for mutant in mutants}
    names = list(by_name)
    few = [names[first : first + AT_A_TIME] for first in range(0, len(names), AT_A_TIME)]
    here, folder = str(Path(__file__).resolve()), str(memory.file.parent.resolve())
    jobs = [
        Call(f"mutants from {some[0]}", in_file, (here, "tried_apart", folder, some))
        for some in few
    ]
    for _, found in traces(jobs, place):
        yield from ((by_name[name], what) for name, what in found)


def tried_apart(folder: str, names: Sequence[str]) -> list[tuple[str, str]]:
    """Try some mutants, by name, in a process that may start others."""
    done = subprocess.run(
        [sys.executable, __file__, folder],
        input=json.dumps(names), capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"the mutants could not be tried: {done.stderr.strip()[-500:]}")
    return [(name, what) for name, what in json.loads(done.stdout.splitlines()[-1])]


def try_here(folder: Path, names: Sequence[str]) -> list[tuple[str, str]]:
    """Try some mutants in this process, one after the other."""
    mutants = [mutant for mutant in sample(ROOT) if mutant.name in set(names)]
    with tempfile.TemporaryDirectory() as place:
        found = tried(
            check_stage(reached_by_subjects(folder)), mutants, [PrivateTree(ROOT, Path(place))]
        )
        return [(mutant.name, what) for mutant, what in found]


if __name__ == "__main__":
    print(json.dumps(try_here(Path(sys.argv[1]), json.load(sys.stdin))))
