"""`certibit check` of a method in a file of one's own: with a theorem, without, and wrong."""

import json
import re
from pathlib import Path

import pytest

from certibit.cli import main
from certibit.data.errors import Refusal
from certibit.figures.text.examinations import _TELLING
from certibit.theory.catalogue.catalogue import METHODS, read_settings

OWN = """
from dataclasses import dataclass
from typing import ClassVar
from certibit.solvers.authoring import Array, Every, Method, Needs, mean


@dataclass(frozen=True)
class State:
    x: Array


@dataclass(frozen=True)
class Own(Method):
    gamma: float
    name, needs = "own", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return State(x)

    def communicate(self, s, problem, channel):
        m = channel.MESSAGE(problem.grad(s.x) - STAR)
        return State(channel.broadcast(s.x - self.gamma * mean(m)))

    def fixed_point(self, problem):
        return State(problem.x_star)
"""
RULES = """
from certibit.theory.card import Card
from certibit.theory.potential import Squares
from certibit.theory.theorem import (Condition, Theorem)


class Contracts(Theorem):
    method = Own
    title = "own theorem"

    def conditions(self, m, setting):
        return (Condition("gamma <= 1/L", m.gamma, 1 / setting.L),)

    def lyapunov(self, m, s, star, setting, problem):
        return (Squares(1.0, s.x - star.x),)

    def rate(self, m, setting):
        return (1 - m.gamma * setting.mu) ** FACTOR


CARD = Card(
    Own, theorems=(Contracts(),), rules={"simple": lambda setting: Own(1 / setting.L)}
)
"""


@pytest.fixture
def own(tmp_path):
    def write(message="send", star="0.0", rules="", factor="2"):
        path = tmp_path / "own.py"
        text = OWN.replace("MESSAGE", message).replace("STAR", star)
        path.write_text(text + rules.replace("FACTOR", factor), encoding="utf-8")
        return str(path)

    return write


UNSENT = "0.0) * 0 + (problem.grad(s.x)"
PROBLEM = ["quadratic:d=4@3", "--kappa", "10", "--seeds", "2"]


def check(capsys, path, *words):
    code = main(["check", PROBLEM[0], path, *words, *PROBLEM[1:], "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_method_of_a_file_with_theorem_and_rules(capsys, own):
    code, found = check(capsys, own(rules=RULES))
    assert code == 0
    (theorem,) = found["theorems"]
    assert theorem["title"] == "own theorem"
    assert theorem["hypotheses"][0]["used"] == pytest.approx(1)
    assert len(theorem["verdicts"]) == 7
    assert all(verdict["holds"] for verdict in theorem["verdicts"] + found["sound"])


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("message", "star", "factor", "check_name", "words"),
    [
        ("send", "0.0", "4", "worst case on quadratics / tau", "One step does not decrease"),
        ("send", "1.0", "2", "stays at the solution", "Started at its fixed point"),
        (
            "send",
            UNSENT,
            "2",
            "the server uses only what was sent",
            "went through no uplink or send",
        ),
    ],
)
def test_what_fails_says_where_to_look(capsys, own, message, star, factor, check_name, words):
    code, found = check(capsys, own(message, star, RULES, factor))
    assert code == 1
    verdicts = found["theorems"][0]["verdicts"] + found["sound"]
    (failing,) = (v for v in verdicts if v["check"] == check_name)
    assert not failing["holds"]
    assert words in failing["advice"]


@pytest.mark.long
def test_a_method_of_a_file_without_theorem(capsys, own):
    code, found = check(capsys, own(), "--set", "gamma=0.1")
    assert code == 0
    certified = found["theorems"][0]
    assert certified["title"] == "a certificate, with a potential that was searched for"
    assert certified["factor"] == pytest.approx(0.81, abs=1e-6)
    assert all(verdict["holds"] for verdict in (*found["sound"], *certified["verdicts"]))
    code, found = check(capsys, own(), "--set", "gamma=0.5")
    assert (code, found["theorems"]) == (1, [])
    assert "may grow by a factor" in found["unpromised"]
    failing = [v["check"] for v in found["sound"] if not v["holds"]]
    assert failing == ["f - f* does not grow", "comes back to the solution"]
    code, found = check(capsys, own("uplink"), "rand-k:1", "--set", "gamma=0.1")
    assert code == 1  # without shifts the solution is left again


def test_given_parameters_are_not_those_of_the_rule(capsys, own):
    """They go into small problems as they are; the rule would choose others."""
    names = {}
    for words in ((), ("--set", "gamma=0.05")):
        code, found = check(capsys, own(rules=RULES), *words)
        assert code == 0
        names[words] = {verdict["check"] for verdict in found["theorems"][0]["verdicts"]}
    ruled, given = names.values()
    assert ruled - given == {
        "one step at random states",
        "worst case on quadratics / tau",
        "worst case / tau at the boundary",
    }
    assert given - ruled == {"worst case on small quadratics"}


def test_outside_every_theorem(capsys, own):
    path = own(rules=RULES)
    code, found = check(capsys, path, "--set", "gamma=0.15")
    assert code == 1
    assert not found["theorems"][0]["met"]
    assert main(["check", PROBLEM[0], path, "--set", "gamma=0.15", "--strict", *PROBLEM[1:]]) == 2
    assert "gamma <= 1/L fails with 0.15 and 0.1" in capsys.readouterr().err


@pytest.mark.long
def test_text_says_margins_and_constants(capsys):
    assert main(["check", PROBLEM[0], "locodl", "rand-k:2", *PROBLEM[1:]]) == 0
    text = capsys.readouterr().out
    assert "gamma < 2/L" in text
    assert "0.50 of its limit" in text
    assert "of the f_i without the half of the ridge that is in g: L = max_i" in " ".join(
        text.split()
    )
    assert "kappa=10," in text
    assert re.search(r"no check fails of \d+; --all prints\s+every check$", text.rstrip())


def checks_of(text):
    """Return the names of the rows of checks that are printed."""
    rows = text.partition("\ncheck ")[2].split("\n\n")[0].splitlines()[2:]
    return [row.split("  ")[0] for row in rows if not row.startswith(" ")]


def test_ten_checks_are_printed_and_all_if_asked(capsys):
    words = ["check", PROBLEM[0], "diana", "rand-k:2", *PROBLEM[1:]]
    assert main(words) == 0
    short = capsys.readouterr().out
    assert len(checks_of(short)) == 10
    assert checks_of(short)[0] == "worst case on quadratics / tau"
    assert main([*words, "--all"]) == 0
    every = capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    made = [*found["sound"], *(v for t in found["theorems"] for v in t["verdicts"])]
    assert all(f"\n{verdict['check']}  " in every for verdict in made)
    assert f"no check fails of {len(made)}" in every
    for theorem in found["theorems"]:
        assert theorem["title"] in short


def test_the_most_telling_checks_are_documented():
    page = (Path(__file__).parents[3] / "docs/checks.md").read_text(encoding="utf-8")
    assert [
        check for check in _TELLING if f"| {check.replace('|', chr(92) + '|')} |" not in page
    ] == []


def test_what_fails_is_printed_beside_the_ten(capsys, own):
    path = own(star=UNSENT, rules=RULES)
    main(["check", PROBLEM[0], path, *PROBLEM[1:], "--seeds", "1"])
    text = capsys.readouterr().out
    assert "the server uses only what was sent" in checks_of(text)
    assert "went through no uplink or send" in " ".join(text.split())
    assert "A CHECK FAILS: the server uses only what was sent" in text


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("limit", "value"),
    [("--rounds", "5"), ("--iterations", "7"), ("--gradients", "5"), ("--seconds", "1e-9")],
)
def test_limits_end_whole_runs(capsys, limit, value):
    words = ["check", PROBLEM[0], "gd", "--kappa", "10", "--seeds", "1", limit, value, "--json"]
    assert main(words) == 0
    theorem, *_ = json.loads(capsys.readouterr().out)["theorems"]
    verdicts = {verdict["check"]: verdict for verdict in theorem["verdicts"]}
    assert not verdicts["median bits to the accuracy"]["tested"]
    assert "not reached within the limits" in verdicts["median bits to the accuracy"]["note"]


@pytest.mark.parametrize(
    ("text", "words", "sentence"),
    [
        ("x = 1", [], "defines 0 methods and no CARD"),
        ("x = ", [], "cannot be run: SyntaxError"),
        (OWN, [], "give gamma with --set"),
        (OWN, ["--set", "beta=1"], "has no parameter 'beta'; it has gamma"),
        (OWN, ["--set", "gamma"], "cannot be read; expected such as gamma=0.1"),
        (OWN, ["--set", "gamma=1", "--parameters", "best"], "has no rules"),
        (None, [], "there is no file"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(capsys, tmp_path, text, words, sentence):
    path = tmp_path / "own.py"
    if text is not None:
        path.write_text(text.replace("MESSAGE", "send").replace("STAR", "0.0"), encoding="utf-8")
    assert main(["check", PROBLEM[0], str(path), *words, *PROBLEM[1:]]) == 2
    assert sentence in capsys.readouterr().err


def test_a_class_with_two_names_is_one_method(capsys, own):
    path = Path(own())
    path.write_text(f"{path.read_text()}\nMETHOD = Also = Own\n", encoding="utf-8")
    told = set()
    for name in ("", ":METHOD", ":Also", ":Own"):
        words = ["run", PROBLEM[0], f"{path}{name}", "--set", "gamma=0.1", *PROBLEM[1:], "--json"]
        assert main([*words, "--until", "1e-3"]) == 0
        told.add(capsys.readouterr().out)
    assert len(told) == 1


def test_settings_are_read():
    assert read_settings(METHODS["gradskip"].method, ["q=(1, 0.5)"]) == {"q": (1, 0.5)}
    assert read_settings(METHODS["adiana"].method, ["variant=II"]) == {"variant": "II"}
    assert read_settings(METHODS["scaffold"].method, ["K=3"]) == {"K": 3}


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("gd", "gamma=abc"),
        ("gd", "gamma=nan"),
        ("gd", "gamma=1e999"),
        ("gd", "gamma"),
        ("gd", "step=1"),
        ("scaffold", "K=2.5"),
        ("scaffold", "option=III"),
        ("adiana", "variant=III"),
        ("gradskip", "q=3"),
    ],
)
def test_settings_of_another_kind_are_refused(name, setting):
    with pytest.raises(Refusal):
        read_settings(METHODS[name].method, [setting])
