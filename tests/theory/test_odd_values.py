"""No printed sentence has a value that is none, such as inf, nan, 1 - 1 or "1 points"."""

import math
import re

import pytest

from certibit import GD, METHODS, FunctionClass, certify, certify_steps
from certibit.cli import main
from certibit.figures.text.examinations import _hypotheses, _promised, _whole_runs
from certibit.theory.checks.method.whole_runs import RunsCheck
from certibit.theory.checks.promises import Promised
from certibit.theory.theorem import Condition, ContractionPromise
from certibit.theory.verdict import Verdict, readable, readable_factor

ODD = re.compile(
    r"(?<![\w'-])(inf|nan|None|-0)(?![\w.])|1 - [01](?![\d.])|1 - -|\b[01] Psi\b|e\+\d{3}"
    r"|\b1 (points|clients|rounds|iterations|steps|runs)\b"
)
CERTIFY = [
    "gd --n 1 --kappa 1.0001",
    "gd --n 3 --kappa 1e8",
    "gd --n 3 --kappa 10 --set gamma=0.2",
    "gd --n 3 --kappa 10 --set gamma=1000",
    "gd --n 3 --kappa 10 --set gamma=0.3 --potential search",
    "gd --n 3 --kappa 10 --set gamma=1e-12",
    "diana --n 2 --kappa 10 --omega 0",
    "diana --n 1 --kappa 10 --omega 999999",
    "diana --n 1 --kappa 10 --omega 1e6",
    "scaffnew --n 2 --kappa 10 --set p=1",
    "scaffnew --n 2 --kappa 10 --set p=1e-9",
    "marina --n 2 --kappa 10 --omega 0",
    "locodl --n 1 --kappa 2 --omega 0",
]
CHECK = [
    "gd --kappa 1.001",
    "gd --kappa 10 --set gamma=0",
    "gd --kappa 10 --set gamma=5",
    "gd --kappa 10 --set gamma=1e-9 --until 1e-300",
    "diana rand-k:4 --kappa 10",
    "scaffnew --kappa 10 --set p=1",
]
PLAN = ["--kappa 1.01 --until 0.9", "--kappa 1e15 --until 1e-3", "--kappa 10 --until 1e-300"]
LINES = [
    *(f"certify {words}" for words in CERTIFY),
    "chain gd --n 3 --kappa 10 --set gamma=0.3 --steps 3",
    *(f"check quadratic:d=4@3 {words} --seeds 1" for words in CHECK),
    *(f"plan quadratic:d=4@3 --methods gd {words}" for words in PLAN),
]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("line", LINES)
def test_on_the_command_line(capsys, line):
    code = main(line.split())
    out, err = capsys.readouterr()
    assert code in ({0, 1} if out else {2})
    assert [told for told in (out + err).splitlines() if ODD.search(told)] == []


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("gamma", [0.0, 0.1, 0.3, -0.1])
def test_of_certificates_and_chains(gamma):
    functions = FunctionClass(2, 1.0, 10.0)
    for found in (certify(GD(gamma), functions), certify_steps(GD(gamma), functions, 3)):
        assert [told for told in repr(found).splitlines() if ODD.search(told)] == []


VALUES = [0.0, 1.0, -1.0, 0.5, 1e-320, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("value", VALUES)
def test_of_whole_runs_and_hypotheses(value):
    bits = Verdict("bits", value, 1.0, tested=value > 0)
    assert not ODD.search(_whole_runs(RunsCheck(bits, bits, value, value, value, value)))
    for other in VALUES:
        assert not ODD.search(_hypotheses([Condition("a <= b", value, other)]))


def test_whole_runs_are_told_where_a_factor_is_promised():
    theorem, bits = METHODS["gd"].theorems[0], Verdict("bits", 1.0, 2.0)
    for promised, told in ((-0.1, True), (0.0, False), (None, False)):
        runs = promised if promised is None else RunsCheck(bits, bits, -0.2, 0.0, promised, 9.0)
        text = _promised(Promised(theorem, (), ContractionPromise(0.9), (), runs))
        assert ("log of the factor: measured -0.2, promised -0.1" in text) is told


@pytest.mark.parametrize(
    ("decrease", "written"),
    [
        (0.19, "1 - 0.19"),
        (1e-13, "1 - 1e-13"),
        (0.0, "1"),
        (-3.0, "4"),
        (1 - 2**-40, "9.094947e-13"),
        (1.0, "0"),
        (-math.inf, "no bound"),
    ],
)
def test_a_factor(decrease, written):
    assert readable_factor(decrease) == written


def test_odd_ones_are_seen():
    for text in ("is inf", "tau = 1 - 1", "(1 - 0) Psi", "1 Psi", "1 points", "1 - -8", "1e+300",
                 "= nan,", "None", "is -0"):  # fmt: skip
        assert ODD.search(text)
    assert not ODD.search("1 - 0.19, 1 - 1.2e-3, information, 1 point, -0.5")
    assert readable(math.nan) == "no number"
