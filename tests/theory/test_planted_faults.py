"""Every planted fault is caught, and no check ever fails on correct code.

The tests are kept within a minute: all state spaces are tiny. Which checks catch what is written
by ``python tests/theory/test_planted_faults.py FOLDER`` as a table.
"""

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
from battery import findings
from faults import FAULTS
from planting import Fault, planted

from bitbound.theory.theorems.catalogue import METHODS

SEEDS = range(20)
COMPRESSORS = ["natural", "l1", "dithering:3", "ternary", "rand-k:2+natural", "rand-k:1@shared"]
BIASED = ["sign", "scaled(rand-k:2)"]


def caught(fault: Fault) -> list[str]:
    """Return the checks that fail while a fault is planted.

    Moments and frequencies are sampled only for what can change them.
    """
    sampling = not fault.module.startswith(("solvers.methods", "theory"))
    with planted(fault), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdicts = list(findings(*fault.subject, dict(fault.options), sampling=sampling))
    return sorted({verdict.check for verdict in verdicts if not verdict.holds})


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_caught(fault):
    assert caught(fault)


def test_catalogue():
    assert len(FAULTS) >= 60
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert {fault.subject[0] for fault in FAULTS} == set(METHODS)


SUBJECTS = [
    *((name, rule, None) for name, entry in METHODS.items() for rule in entry.rules),
    *(("diana", "b", compressor) for compressor in COMPRESSORS),
    *(("locodl", "balanced", compressor) for compressor in COMPRESSORS),
    *(("ef21", None, compressor) for compressor in BIASED),
]
OUTSIDE = {("fedcomgate", "published")}
"""Rules that follow no theorem."""


@pytest.mark.parametrize("seed", SEEDS)
def test_no_check_fails_on_correct_code(seed):
    """Each seed is another problem, other states and runs, for every subject."""
    for place, (name, rule, compressor) in enumerate(SUBJECTS):
        if (name, rule) in OUTSIDE or (name, rule) == ("5gcs-cc", "5gcs"):
            continue
        wrong = [
            verdict
            for verdict in findings(name, rule, compressor, seed=seed, sampling=place % 5 == 0)
            if not verdict.holds
        ]
        assert not wrong, (name, rule, compressor)


def table() -> Iterator[str]:
    """Return the lines of the table of faults and of the checks that catch them."""
    rows = {fault.name: caught(fault) for fault in FAULTS}
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


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    lines = list(table())
    (folder / "faults.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines[-20:]))
