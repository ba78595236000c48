"""Every planted fault is caught, and no check ever fails on correct code.

All state spaces are tiny. ``python tests/theory/planted/test_planted_faults.py FOLDER`` writes
which checks catch what as a table, and looks for false alarms with ten times as many seeds.
"""

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest
from attacks import ATTACKS
from battery import findings, problem_findings, proof_findings
from faults import FAULTS
from faults_of_proofs import PROOF_FAULTS
from planting import Fault, planted

from certibit.theory.cards.catalogue import METHODS, SHARED_MINIMISER
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
OUTSIDE = {("fedcomgate", "published"), ("5gcs-cc", "5gcs")}
"""Rules that follow no theorem, or serve no compressor."""

SUBJECTS = [
    *(
        (name, rule, None)
        for name, card in (METHODS | SHARED_MINIMISER).items()
        for rule in card.rules
        if (name, rule) not in OUTSIDE
    ),
    *(("diana", "b", compressor) for compressor in COMPRESSORS),
    *(("locodl", "balanced", compressor) for compressor in COMPRESSORS),
    *(("ef21", None, compressor) for compressor in BIASED),
    *(("ef21p-diana", None, compressor) for compressor in BOTH_WAYS),
    *(("locodl-both-ways", None, compressor) for compressor in UNBIASED_BOTH_WAYS),
]


def failures(fault: Fault) -> Iterator[Verdict]:
    """Yield the verdicts that fail while a fault is planted.

    Moments and frequencies are sampled only for what can change them.
    """
    sampling = not fault.module.startswith(("solvers.methods", "theory"))
    with planted(fault), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if fault.module.startswith("data"):
            yield from (verdict for verdict in problem_findings() if not verdict.holds)
        if fault in PROOF_FAULTS:
            yield from (verdict for verdict in proof_findings() if not verdict.holds)
            return
        for verdict in findings(*fault.subject, dict(fault.options), sampling=sampling):
            if not verdict.holds:
                yield verdict


def false_alarms(seed: int) -> Iterator[str]:
    """Yield the checks that fail on correct code: each seed has its own problem, states and runs.

    What is sampled is the same for many subjects, and is looked at with every fifth.
    """
    for verdict in (*problem_findings(seed), *proof_findings()):
        if not verdict.holds:
            yield f"problems, seed {seed}: {verdict}"
    for place, (name, rule, compressor) in enumerate(SUBJECTS):
        for verdict in findings(name, rule, compressor, seed=seed, sampling=place % 5 == 0):
            if not verdict.holds:
                yield f"{name}, {rule}, {compressor}, seed {seed}: {verdict}"


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_caught(fault):
    assert next(failures(fault), None) is not None


def test_faults_are_many_and_of_every_method():
    assert len(FAULTS) == 326
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.subject[0] for fault in FAULTS} == {*METHODS, *SHARED_MINIMISER}


@pytest.mark.parametrize("seed", SEEDS)
def test_no_check_fails_on_correct_code(seed):
    assert not list(false_alarms(seed))


def table() -> Iterator[str]:
    """Yield the lines of the table of faults and of the checks that catch them."""
    rows = {fault.name: sorted({verdict.check for verdict in failures(fault)}) for fault in FAULTS}
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
    answers = {attack.method.name: attack.answer() for attack in ATTACKS}
    yield ""
    yield from (f"{name}: {said}" for name, (said, _) in answers.items())
    missed = [name for name, row in rows.items() if not row]
    missed += [name for name, (_, fails) in answers.items() if fails]
    alarms = [alarm for seed in MANY_SEEDS for alarm in false_alarms(seed)]
    yield ""
    planted_here = len(rows) + len(answers)
    yield f"{planted_here - len(missed)} of {planted_here} faults and attacks are caught"
    yield from (f"not caught: {name}" for name in missed)
    yield f"{len(alarms)} false alarms in {len(MANY_SEEDS)} seeds of {len(SUBJECTS)} subjects"
    yield from alarms


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    os.environ["CERTIBIT_CACHE"] = mkdtemp()  # solutions of faulty problems are not kept
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(table())
    (folder / "faults.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[lines.index("", lines.index("") + 1) + 1 :]))
