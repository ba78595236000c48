"""The quick form of `certibit check`: the command lines that a fault is shown to."""

import io
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout

QUICK = ["--kappa", "30", "--seeds", "2", "--until", "1e-3"]
"""Fewer and shorter runs; the checks are all those of the command."""

WITH_RULES = {
    "locodl rand-k:2": ["paper", "balanced"],
    "adiana natural": ["paper", "refined", "best"],
    "diana rand-k:2": ["a", "b"],
    "5gcs-cc rand-k:2": ["paper", "best"],
    "compressed-scaffnew": ["paper", "best"],
    "gradskip": ["paper"],
    "scaffold": ["paper", "best"],
    "tamuna": ["paper", "best"],
    "scaffnew": ["paper", "best"],
    "fedcomgate natural": ["damped"],
    "ef21 top-k:2": ["paper", "best"],
    "econtrol top-k:2": ["largest"],
    "ef-bv top-k:2": ["paper"],
    "ef21p-diana two-way(rand-k:2;top-k:2)": ["largest"],
    "locodl-both-ways two-way(rand-k:2;rand-k:2)": ["balanced"],
    "marina rand-k:2": ["paper"],
    "dasha rand-k:2": ["paper"],
    "agd": ["classical"],
    "nesterov": ["convex"],
    "growing-adiana rand-k:2": ["convex"],
    "gd": ["optimal"],
}
SENDERS = {
    "diana": ["natural", "rand-k:2+natural", "l1", "ternary", "dithering:3", "rand-k:1@shared"],
    "locodl": ["rand-k:2+natural", "rand-k:1@shared"],
    "ef21": ["sign", "scaled(rand-k:2)"],
}
ON_DATA = ["gd", "locodl rand-k:4", "diana natural", "gradskip", "ef21 top-k:4"]
OTHER_DATA = [
    "gd --split dirichlet:0.3",
    "gd --loss multinomial",
    "gd --loss huber:1",
    "diana rand-k:4 --loss least-squares",
]
COHORTS = [
    "tamuna --set m=3 --set s=2",
    "scaffold --set m=2",
    "5gcs-cc rand-k:2 --set cohort=2",
    "5gcs-cc --parameters 5gcs",
]
OWN = "quadratic:d=6@4 tests/mutants/own_method.py --set gamma=0.01"

FIRST = "quadratic:d=6@4 gd --parameters 1/L"
"""A short one: what does not depend on the method is checked with it, and once."""

SUBJECTS = [
    FIRST,
    *(
        f"quadratic:d=6@4 {method} --parameters {rule}"
        for method, rules in WITH_RULES.items()
        for rule in rules
    ),
    *(f"quadratic:d=6@4 {name} {sent}" for name, found in SENDERS.items() for sent in found),
    *(f"quadratic:d=6@1 {name} top-k:2" for name in ("ef", "compressed-gd")),
    *(f"breast-cancer@5 {method}" for method in [*ON_DATA, *OTHER_DATA]),
    *(f"quadratic:d=6@4 {cohort}" for cohort in COHORTS),
    OWN,
]


def words(subject: str) -> list[str]:
    """Return the command line of a subject."""
    return ["check", *subject.split(), *QUICK]


def finding(subject: str, arguments: Sequence[str] = ()) -> str:
    """Return "" if `certibit check` finds nothing, else the last that it says.

    ``arguments`` are in the place of those of the subject.
    """
    from certibit.cli import main  # noqa: PLC0415  (a fault may stop the import)

    told, errors = io.StringIO(), io.StringIO()
    try:
        with redirect_stdout(told), redirect_stderr(errors):
            code = main(arguments or words(subject))
    except SystemExit as end:
        code = end.code
    except Exception:
        return traceback.format_exc(limit=0).strip()
    if not code:
        return ""
    lines = [
        line
        for line in told.getvalue().splitlines()
        if "FAILS" in line and "limit" not in line  # a hypothesis of another theorem may fail
    ]
    return (lines or errors.getvalue().strip().splitlines() or [f"exit code {code}"])[0]


def first_finding(subjects: Sequence[str]) -> int:
    """Print the first thing that is found with some subjects, and return 1; else 0."""
    for subject in subjects:
        if found := finding(subject):
            print(f"{subject}: {found}")
            return 1
    return 0


def first_check(lines: Sequence[str]) -> int:
    """Print the first thing that is found with some arguments of `check`, and return 1; else 0."""
    for line in lines:
        if found := finding(line, ["check", *line.split()]):
            print(f"{line}: {found}")
            return 1
    return 0
