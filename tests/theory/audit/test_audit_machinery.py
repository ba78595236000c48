"""The audit machinery on inequalities whose truth is known."""

from fractions import Fraction

import numpy as np
import pytest
from altered import turned, without

from certibit.data.errors import Refusal
from certibit.theory.audit.machinery.polynomial import Polynomial, at_most_zero
from certibit.theory.audit.machinery.report import audit_report
from certibit.theory.audit.machinery.step import (
    Amendment,
    Hypothesis,
    ProofStep,
    Severity,
    Space,
    Variable,
    WrittenProof,
)

UNIT = (
    Variable("x", 0, 1, often=(0, 1), hypothesis="x <= 1", beyond=(0, 3)),
    Variable("y", 0, 1, often=(0, 1)),
)
X, Y = Polynomial.variable(2, 0), Polynomial.variable(2, 1)


SQUARE = Space("unit square", UNIT, count=500)


def step_of(left, right, space=SQUARE, place="one", **more):
    """Return a step of a proof, left <= right."""
    return ProofStep(place, "", space, left, right, **more)


def verdict(step: ProofStep, **constants: Fraction):
    return audit_report(WrittenProof("test", "", (step,), constants), effort=0.2).finding(
        step.place
    )


@pytest.mark.parametrize(
    ("polynomial", "outcome"),
    [
        (X * Y - X, "proved"),
        (X * Y - X + Fraction(1, 1000), "refuted"),
        (X * (1 - X) - Fraction(1, 4), "proved"),
        (X * (1 - X) - Fraction(249, 1000), "refuted"),
        ((X - Y) ** 2 - 1, "proved"),
        (0 * X, "proved"),
        (X - X + 1, "refuted"),
    ],
)
def test_polynomial_proofs(polynomial, outcome):
    found = at_most_zero(polynomial)
    assert found.verdict == outcome
    if found.corner:
        values = [
            value * found.corner[0] ** i * found.corner[1] ** j
            for (i, j), value in polynomial.terms.items()
        ]
        assert sum(values) == found.largest > 0


@pytest.mark.parametrize("method", ["polynomial", "rational", "decimal"])
def test_verdicts(method):
    space = Space("unit square", UNIT, method=method, count=500)
    true = step_of(lambda v: v.x * v.y, lambda v: v.x, space)
    found = verdict(true)
    assert found.verdict == "holds"
    assert found.known == ("proved" if method == "polynomial" else "searched")
    other = audit_report(turned(WrittenProof("test", "", (true,)), "one")).finding("one")
    assert other.verdict == "fails"
    assert other.witness.variables == {"x": "1", "y": "0"}
    dropped = step_of(lambda v: v.x**2, lambda v: v.x, space)
    assert verdict(dropped).verdict == "holds"
    proof = without(WrittenProof("test", "", (dropped,)), "one", "x <= 1")
    assert audit_report(proof).finding("one").verdict == "fails"


@pytest.mark.parametrize(
    ("printed", "holds"), [(Fraction(26, 100), True), (Fraction(24, 100), False)]
)
@pytest.mark.parametrize("method", ["polynomial", "decimal"])
def test_constants_are_repaired_to_the_smallest(method, printed, holds):
    space = Space("unit square", UNIT, method=method, count=5000)
    step = step_of(lambda v: v.x * (1 - v.x), lambda v: v.k.c + 0 * v.x, space, movable=("c",))
    found = verdict(step, c=printed)
    assert (found.verdict == "holds") is holds
    words = found.tight if holds else found.repair
    assert float(words.removeprefix("c = ")) == pytest.approx(0.25, rel=1e-3)


def test_amendments_and_hypotheses():
    below = Hypothesis("x <= y", lambda v: v.x <= v.y)
    amendments = (
        Amendment.of("useless", right=lambda v: v.y / 2),
        Amendment("x <= y", {"space": SQUARE.having(below)}, restricts=True),
    )
    found = verdict(step_of(lambda v: v.x, lambda v: v.y, amendments=amendments))
    assert (found.verdict, found.repair) == ("only if", "x <= y")


def test_rounding_is_no_violation():
    """x + 1 - 1 differs from x in floats only."""
    space = Space("small x", (Variable("x", 0, Fraction(1, 10**12)),), count=500)
    found = verdict(step_of(lambda v: v.x + 1 - 1, lambda v: v.x, space, equality=True))
    assert found.verdict == "holds"
    assert abs(found.gap) < 1e-25


@pytest.mark.parametrize("error", [0, Fraction(1, 10**30)])
def test_rounding_at_any_number_of_digits_is_no_violation(error):
    """sqrt(x)^2 - x is rounding against 0, however large the relative difference looks."""
    space = Space("x", (Variable("x", 1, 2),), count=500)
    left = lambda v: np.sqrt(v.x) ** 2 - v.x + v.number(error)  # noqa: E731
    step = step_of(left, lambda v: 0 * v.x, space, equality=True)
    assert verdict(step).verdict == ("fails" if error else "holds")


def test_an_empty_space_is_no_proof():
    space = Space("nothing", UNIT, hypotheses=(Hypothesis("never", lambda v: v.x < 0),), count=100)
    with pytest.raises(Refusal, match="no admissible point"):
        verdict(step_of(lambda v: v.x, lambda v: v.x, space))


def test_report_is_written(tmp_path):
    step = ProofStep(
        "s" * 30, "words " * 30, Space("unit square", UNIT), lambda v: v.x, lambda v: v.y
    )
    report = audit_report(WrittenProof("test", "source", (step,)))
    assert all(len(line) <= 80 for line in report.table().splitlines())
    assert report.table().count("words") == 30
    assert report.text().count("words") == 30
    assert np.all([path.stat().st_size > 0 for path in report.save(tmp_path)])


SPACE = Space("unit square", UNIT, method="polynomial", count=100)
SMALLER = Hypothesis("x <= y", lambda v: v.x <= v.y)
REPAIRS = [
    ({}, "yes", Severity.GAP_IN_PROOF),
    ({"movable": ("c",)}, "yes", Severity.WRONG_CONSTANT),
    ({"amendments": (Amendment.of("2", right=lambda v: 2 + v.y),)}, "yes", Severity.MISPRINT),
    (
        {"amendments": (Amendment("x <= y", {"space": SPACE.having(SMALLER)}, restricts=True),)},
        "yes",
        Severity.GAP_IN_PROOF,
    ),
    ({"movable": ("c",)}, "no", Severity.GAP_IN_THEOREM),
]


@pytest.mark.parametrize(("repair", "survives", "severity"), REPAIRS)
def test_what_a_failed_step_means(repair, survives, severity):
    """x <= c y with c = 1: the end that it feeds is true or false by itself."""
    wrong = ProofStep(
        "wrong", "", SPACE, lambda v: v.x, lambda v: v.k.c + v.y - 1, feeds=("end",), **repair
    )
    end = ProofStep(
        "end", "", SPACE, lambda v: v.y, lambda v: v.y + (1 if survives == "yes" else -1)
    )
    report = audit_report(WrittenProof("test", "", (wrong, end), {"c": Fraction(1)}))
    assert report.severity("wrong") == severity
    assert str(severity) in " ".join(report.table().split())
    count = 1 if survives == "yes" else 2
    assert f"{severity} {count}" in " ".join(report.summary().split())
    assert report.record()["steps"][0]["severity"] == severity
    assert report.severity("end") == (None if survives == "yes" else Severity.GAP_IN_THEOREM)


def test_steps_with_one_repair_have_one_fault_and_a_reading_may_answer_it():
    """Of four wrong steps two lack the same, which the paper's sentence can be read to say."""
    smaller = Amendment("x <= y", {"space": SPACE.having(SMALLER)}, restricts=True)
    larger = Amendment.of("2", right=lambda v: 2 + v.y)
    steps = [
        ProofStep(str(place), "", SPACE, lambda v: v.x, lambda v: v.y, amendments=(amendment,))
        for place, amendment in enumerate((smaller, smaller, larger))
    ]
    alone = ProofStep("3", "", SPACE, lambda v: 1 + v.y, lambda v: v.y)
    proof = WrittenProof("test", "", (*steps, alone), {}, {"x <= y": "Let x be small."})
    report = audit_report(proof)
    assert sorted(report.faults().values()) == [["0", "1"], ["2"], ["3"]]
    text = " ".join(report.summary().split())
    assert "4 fail as printed, by 3 distinct faults: gap in the theorem 3" in text
    read = '"Let x be small." Read so that x <= y: 2 fail as printed, by 2 distinct faults'
    assert read in text
