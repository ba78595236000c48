"""What prints a verdict prints the words of theory/verdict.py, and no others."""

import ast
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest

from certibit import GD, Condition, Quadratic, check
from certibit.cli import main
from certibit.figures.text.verdicts import OWN, ClaimVerdict, claim_outcome, verdicts_text
from certibit.figures.theory_results import theorems_table
from certibit.theory.audit.machinery.report import audit_report
from certibit.theory.audit.machinery.step import (
    Amendment,
    Hypothesis,
    ProofStep,
    Space,
    Variable,
    WrittenProof,
)
from certibit.theory.checks.standard import TheoremRow
from certibit.theory.verdict import Known, Verdict

ROOT = Path(__file__).parents[2]
OUTCOME = re.compile(
    r"FAILS|not tested|undecided|supported|holds only if"
    r"|(holds|holds at 1 point searched|holds at [\d,]+ points searched|measured)(, in part)?"
)
LOOSE = re.compile(
    r"\bdoes not hold\b|\b(checks|rows|exponents|claims) hold\b"
    r"|\b(verified|refuted|PASS|PASSED|OK)\b"
)
"""What would say "holds" of something else than what is proved, or something else than "holds"."""
PRINTING = [
    *ROOT.glob("figures/**/*.py"),
    *ROOT.glob("certibit/cli/**/*.py"),
    *ROOT.glob("theory/checks/**/*.py"),
    *ROOT.glob("theory/audit/machinery/report.py"),
    ROOT / "theory/verdict.py",
]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("figures/report/templates/*.html")]


def cells(text, place):
    """Return the cells of a column of all tables of a text; a table ends where its columns do."""
    found, spans = [], []
    ruler, lines = re.compile(r"-+(  -+)+"), text.splitlines()
    for line, below in pairwise([*lines, ""]):
        if ruler.fullmatch(line):
            spans = [match.span() for match in re.finditer("-+", line)]
        elif ruler.fullmatch(below):
            spans = []
        elif spans and line and all(line[end : end + 2].strip() == "" for _, end in spans):
            start, end = spans[place]
            found.append(line[start:end].strip())
        else:
            spans = []
    return found


def all_are_outcomes(found):
    return bool(found) and all(OUTCOME.fullmatch(each) for each in found)


@pytest.mark.parametrize("gamma", [None, 0.15, 0.21])
def test_check(capsys, gamma):
    chosen = [] if gamma is None else ["--set", f"gamma={gamma}"]
    words = ["check", "quadratic:d=4@3", "gd", "--kappa", "10", "--seeds", "2", *chosen]
    main([*words, "--until", "1e-3"])
    text = capsys.readouterr().out
    hypotheses, *_ = text.split("\ncheck ")
    assert all_are_outcomes(cells(hypotheses, -1))
    assert all_are_outcomes(outcomes_of_checks(text))
    assert max(map(len, text.splitlines())) <= 100
    assert not LOOSE.search(text)


def outcomes_of_checks(text):
    """Return the outcomes of the tables of checks, without notes and what is wrapped of them."""
    found, column = [], None
    for line in text.splitlines():
        if line.startswith("check "):
            column = line.index("outcome")
        elif column is not None and re.match(r"\S.{20,}  +\S+$", line) and line[0] != "-":
            found.append(line[column:].split(";")[0].split("  ")[0].strip())
        elif column is not None and not line.startswith((" ", "-")):
            column = None
    return found


def test_examination():
    for gamma in (0.1, 0.3):
        text = repr(check(GD(gamma), Quadratic.random(3, 4, 1.0, 10.0), seeds=2, accuracy=1e-3))
        assert not LOOSE.search(text)
        assert re.search(r"^\d+ of \d+ checks fail$", text, flags=re.MULTILINE)


VERDICTS = [
    Verdict("a", 0.5, 1.0, known=Known.PROVED),
    Verdict("a", 0.5, 1.0, known=Known.SEARCHED, points=1),
    Verdict("a", 0.5, 1.0, known=Known.SEARCHED, points=12_000),
    Verdict("a", 0.5, 1.0),
    Verdict("a", 0.5, 1.0, tested=False),
    Verdict("a", 1.5, 1.0),
    Verdict("a", float("nan"), 1.0),
]


def test_tables_of_the_theory():
    condition = Condition("gamma <= 1/L", 1.0, 2.0)
    rows = [
        TheoremRow("t", "f", "r", "c", some, condition, 1.0, 1.0, 1.0, 1.0, 1)
        for first in VERDICTS
        for some in ((first,), (first, VERDICTS[0]), (first, VERDICTS[4]))
    ]
    text = theorems_table(rows)
    assert len(cells(text, 3)) == len(rows)
    assert all_are_outcomes(cells(text, 3))


def test_audit():
    x, y = Variable("x", 0, 1, often=(0, 1)), Variable("y", 0, 1, often=(0, 1))
    plain, exact = Space("s", (x, y), count=50), Space("s", (x, y), method="polynomial", count=50)
    less = Hypothesis("x <= y", lambda v: v.x <= v.y)
    right = {"right": lambda v: 1 + v.y}
    steps = (
        ProofStep("proved", "x <= 1", exact, lambda v: v.x, lambda v: v.x * 0 + 1),
        ProofStep("searched", "x <= 1 + y", plain, lambda v: v.x, lambda v: 1 + v.y),
        ProofStep(
            "restricted", "x <= y", plain, lambda v: v.x, lambda v: v.y,
            amendments=(Amendment("x <= y", {"space": plain.having(less)}, restricts=True),),
        ),
        ProofStep(
            "false", "x <= y", plain, lambda v: v.x, lambda v: v.y,
            amendments=(Amendment("1 + y", right),),
        ),
    )  # fmt: skip
    report = audit_report(WrittenProof("test", "", steps, {"c": Fraction(1)}))
    outcomes = [finding.outcome for finding in report.findings]
    assert outcomes == ["holds", "holds at 50 points searched", "holds only if", "FAILS"]
    assert not LOOSE.search(report.table() + report.text())


@pytest.mark.parametrize("value", [0.5, 1.5, 3.0, float("nan"), float("inf")])
def test_claims(value):
    outcome = claim_outcome(value, holds=1.0, fails=2.0)
    assert OUTCOME.fullmatch(outcome)
    text = verdicts_text([ClaimVerdict("c", OWN, "m", outcome).record()])
    assert text.startswith(f"c: {outcome} [")


def test_certify(capsys):
    assert main(["certify", "gd", "--n", "3", "--kappa", "10"]) == 0
    text = capsys.readouterr().out
    assert "\nproof       holds, checked in rational numbers\n" in text
    assert not LOOSE.search(text)


@pytest.mark.parametrize("path", PRINTING, ids=lambda path: path.stem)
def test_no_sentence_of_the_code_has_other_words(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef)
    told = {ast.get_docstring(node, clean=False) for node in ast.walk(tree)
            if isinstance(node, kinds)}  # fmt: skip
    strings = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    texts = {text for text in strings if isinstance(text, str)} - told
    assert [text for text in texts if LOOSE.search(text)] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_no_page_has_other_words(path):
    text = path.read_text(encoding="utf-8")
    assert LOOSE.findall(text) == []


def test_a_loose_word_is_seen():
    assert LOOSE.search("31 of 31 checks hold")
    assert not OUTCOME.fullmatch("all right")
    assert not all_are_outcomes(cells("a   b\n--  -----\n1   right\n", -1))
    assert replace(VERDICTS[1], points=2).outcome == "holds at 2 points searched"
