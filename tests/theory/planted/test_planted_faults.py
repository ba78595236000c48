"""Every planted fault is caught, and no check ever fails on correct code.

All state spaces are tiny. A test shows a fault to the check that is recorded as its catcher.
``python tests/theory/planted/test_planted_faults.py FOLDER [--on PLACE]`` records the catchers,
writes which checks catch what as a table, and looks for false alarms with ten times as many seeds.
"""

import argparse
import json
import os
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, count, product
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from attacks import ATTACKS
from attacks_on_descents import ATTACKS_ON_DESCENTS
from battery import Part, parts, problem_parts, proof_findings, sampled, verdicts
from faults import BY_PART, FAULTS
from planting import Fault, fault, planted, texts

from certibit.cli.words.places import places, read_place
from certibit.cli.words.plain_options import add_options
from certibit.figures.pool import Call, in_file, results
from certibit.theory.catalogue.catalogue import CARDS, METHODS, SHARED_MINIMISER
from certibit.theory.formulas.coupling import best_coupling
from certibit.theory.verdict import Verdict

SEEDS, MANY_SEEDS = range(2), range(20)
COMPRESSORS = ["natural", "l1", "dithering:3", "ternary", "rand-k:2+natural", "rand-k:1@shared"]
BIASED = ["sign", "scaled(rand-k:2)"]
BOTH_WAYS = [
    "two-way(natural;top-k:2)",
    "two-way(rand-k:2;scaled(rand-k:2))",
    "two-way(rand-k:2;natural)",
]
UNBIASED_BOTH_WAYS = [
    "two-way(rand-k:2;rand-k:2)",
    "two-way(natural;rand-k:3)",
    "two-way(natural;natural)",
]
OUTSIDE = {
    ("fedcomgate", "published"),
    ("5gcs-cc", "5gcs"),
    ("5gcs-cc", "convex"),
    *((name, "nonconvex") for name in METHODS),
}
"""Rules that follow no theorem, or serve no compressor."""

SUBJECTS = [
    *(
        (name, rule, None)
        for name, card in (METHODS | SHARED_MINIMISER).items()
        for rule in card.rules
        if (name, rule) not in OUTSIDE
    ),
    *(("diana", "b", compressor) for compressor in COMPRESSORS),
    *(("locodl", "ours", compressor) for compressor in COMPRESSORS),
    *(("ef21", None, compressor) for compressor in BIASED),
    *(("ef21p-diana", None, compressor) for compressor in BOTH_WAYS),
    *(("locodl-both-ways", None, compressor) for compressor in UNBIASED_BOTH_WAYS),
]


CATCHERS_FILE = Path(__file__).with_name("catchers.json")
CATCHERS: dict[str, str] = {
    fault: part
    for part, faults in json.loads(CATCHERS_FILE.read_text(encoding="utf-8")).items()
    for fault in faults
}
"""The part of the checks that is recorded to catch a fault; a new fault has none yet."""


def parts_of(fault: Fault) -> Iterator[tuple[str, Part]]:
    """Return the checks that a fault is shown to, by name.

    Moments and frequencies are sampled only for what can change them.
    """
    if fault in BY_PART["proofs"]:
        yield "proofs", proof_findings
        return
    if fault in BY_PART["samples"]:
        yield "samples", lambda: sampled(*fault.subject[:2])
        return
    if fault.module.startswith("data"):
        yield from problem_parts()
    sampling = not fault.module.startswith(("solvers.methods", "theory"))
    yield from parts(*fault.subject, dict(fault.options), sampling=sampling)


def failures(fault: Fault, part: str | None = None) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdicts, with the names of their parts, that fail while a fault is planted."""
    with planted(fault), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, make in parts_of(fault):
            if part in (None, name):
                found = (verdict for verdict in verdicts(name, make) if not verdict.holds)
                yield from ((name, verdict) for verdict in found)


def findings(name: str) -> list[tuple[str, str]]:
    """Return the parts and the checks that fail while a fault is planted, as a job."""
    with own_cache():
        (fault,) = (fault for fault in FAULTS if fault.name == name)
        return [(part, verdict.check) for part, verdict in failures(fault)]


def catchers(found: dict[str, list[tuple[str, str]]]) -> dict[str, list[str]]:
    """Return the faults by the part that catches them first."""
    by_part = defaultdict(list)
    for name, caught in found.items():
        for part, _ in caught[:1]:
            by_part[part].append(name)
    return {part: sorted(by_part[part]) for part in sorted(by_part)}


@contextmanager
def own_cache() -> Iterator[None]:
    """Keep the solutions of faulty problems in a folder apart."""
    with TemporaryDirectory() as folder, patch.dict(os.environ, CERTIBIT_CACHE=folder):
        yield


def false_alarms(place: int | None, seed: int) -> list[str]:
    """Return the checks that fail on correct code, as a job: of a subject, or of problems.

    Each seed has problems and runs of its own.
    """
    with own_cache():
        return list(alarms_of_problems(seed) if place is None else alarms_of(place, seed))


def alarms_of(place: int, seed: int) -> Iterator[str]:
    """Yield those of one subject.

    What is sampled is the same for many subjects, and is looked at with every fifth.
    """
    subject = SUBJECTS[place]
    for name, part in parts(*subject, seed=seed, sampling=place % 5 == 0):
        found = (verdict for verdict in verdicts(name, part) if not verdict.holds)
        yield from (f"{subject}, seed {seed}: {verdict}" for verdict in found)


def alarms_of_problems(seed: int, named: str | None = None) -> Iterator[str]:
    """Yield those of problems and proofs, of all or of one."""
    for name, part in (*problem_parts(seed), ("proofs", proof_findings)):
        if named in (None, name):
            found = (verdict for verdict in verdicts(name, part) if not verdict.holds)
            yield from (f"{name}, seed {seed}: {verdict}" for verdict in found)


def test_every_fault_changes_what_stands_in_its_module():
    for one in chain(*BY_PART.values()):
        _, wrong = texts(one)
        compile(wrong, one.module, "exec")


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_caught(fault):
    """The recorded part is enough; where none is recorded, some part must catch it."""
    part = CATCHERS.get(fault.name)
    missed = f"{part} does not catch it any more: `make faults` finds and records what does"
    assert next(failures(fault, part), None) is not None, missed if part else "nothing catches it"


def test_a_slow_machine_leaves_no_size_out(monkeypatch):
    """Every look at the clock is a minute later; the fault is seen at the largest size alone."""
    (one,) = (fault for fault in FAULTS if fault.name == "wire: left out above 100,000 entries")
    monkeypatch.setattr("time.perf_counter", count(step=60).__next__)
    assert [part for part, _ in failures(one, "channel")] == ["channel"]


def test_neither_right_nor_wrong_results_outlast_a_fault():
    """The best coupling is kept by a cache."""
    point = (0.01, 1.0, 0.5, 1.0, 1.0)
    right = best_coupling(*point)
    wrong = ("K = p * max(0.0, excess + noise)", "K = 0.0")
    with planted(fault("no K", "theory.formulas.coupling", wrong, on="locodl")):
        assert best_coupling(*point) != right
    assert best_coupling(*point) == right


def test_faults_have_names_of_their_own_and_known_subjects():
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names)
    assert {fault.subject[0] for fault in FAULTS} <= {*CARDS}
    assert set(CATCHERS) <= set(names)


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("place", range(len(SUBJECTS)), ids=map(str, SUBJECTS))
def test_no_check_fails_on_correct_code(place, seed):
    assert not list(alarms_of(place, seed))


@pytest.mark.long
@pytest.mark.parametrize("named", ["proofs", *(name for name, _ in problem_parts())])
@pytest.mark.parametrize("seed", SEEDS)
def test_no_check_of_problems_and_proofs_fails_on_correct_code(seed, named):
    assert not list(alarms_of_problems(seed, named))


@pytest.mark.long
@pytest.mark.parametrize(
    "subject", sorted({fault.subject[:2] for fault in BY_PART["samples"]}, key=str)
)
def test_no_check_with_samples_fails_on_correct_code(subject):
    assert [verdict for verdict in sampled(*subject) if not verdict.holds] == []


def table(found: dict[str, list[tuple[str, str]]], alarms: list[str]) -> Iterator[str]:
    """Yield the lines of the table of faults and of the checks that catch them."""
    rows = {name: sorted({check for _, check in caught}) for name, caught in found.items()}
    checks = sorted({check for row in rows.values() for check in row})
    width = max(map(len, rows))
    yield from (f"{chr(ord('A') + place)}  {check}" for place, check in enumerate(checks))
    yield ""
    for name, row in rows.items():
        marks = [chr(ord("A") + p) if c in row else "." for p, c in enumerate(checks)]
        yield f"{name:{width}}  {''.join(marks)}"
    yield ""
    for place, check in enumerate(checks):
        catches = [name for name, row in rows.items() if check in row]
        alone = [name for name in catches if len(rows[name]) == 1]
        letter = chr(ord("A") + place)
        yield f"{letter}  catches {len(catches):3} of {len(rows)}, {len(alone):2} of them alone"
    answers = {attack.method.name: attack.answer() for attack in [*ATTACKS, *ATTACKS_ON_DESCENTS]}
    yield ""
    yield from (f"{name}: {said}" for name, (said, _) in answers.items())
    missed = [name for name, row in rows.items() if not row]
    missed += [name for name, (_, fails) in answers.items() if fails]
    yield ""
    planted_here = len(rows) + len(answers)
    yield f"{planted_here - len(missed)} of {planted_here} faults and attacks are caught"
    yield from (f"not caught: {name}" for name in missed)
    yield f"{len(alarms)} false alarms in {len(MANY_SEEDS)} seeds of {len(SUBJECTS)} subjects"
    yield from alarms


def main(words: list[str]) -> None:
    """Record the catchers, and write and print the table; the jobs are done where it is said."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    add_options(parser, places())
    chosen = parser.parse_args(words)
    chosen.folder.mkdir(parents=True, exist_ok=True)
    place, here = read_place(chosen, chosen.folder), str(Path(__file__).resolve())
    names = [fault.name for fault in FAULTS]
    jobs = [Call(name, in_file, (here, "findings", name)) for name in names]
    found = dict(zip(names, results(jobs, place), strict=True))
    CATCHERS_FILE.write_text(json.dumps(catchers(found), indent=1) + "\n", encoding="utf-8")
    subjects = product(MANY_SEEDS, (*range(len(SUBJECTS)), None))
    jobs = [
        Call(f"subject {subject}, seed {seed}", in_file, (here, "false_alarms", subject, seed))
        for seed, subject in subjects
    ]
    alarms = [alarm for some in results(jobs, place) for alarm in some]
    lines = list(table(found, alarms))
    (chosen.folder / "faults.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[lines.index("", lines.index("") + 1) + 1 :]))


if __name__ == "__main__":
    main(sys.argv[1:])
