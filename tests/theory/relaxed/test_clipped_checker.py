"""The file of a decrease of a method that clips, and its checker, which needs no certibit."""

import functools
import json
import re
import subprocess
import sys
from fractions import Fraction
from functools import cache
from pathlib import Path

import check_clipped
import numpy as np
import pytest
from decreases import DECREASES
from forgeries import changed, refused, resealed

from certibit import certify_clipped
from certibit.cli import main
from certibit.theory.relaxed.clipped_file import clipped_file

PAGE = Path(check_clipped.__file__)


@cache
def written(name, growth="best"):
    return json.dumps(clipped_file(certify_clipped(*DECREASES[name], growth)))


def decrease(name):
    return json.loads(written(name))["decrease"]


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("name", DECREASES)
@pytest.mark.parametrize("growth", ["best", "any-direction"])
def test_the_checker_accepts_what_is_written(name, growth):
    assert check_clipped.check(json.loads(written(name, growth))["decrease"]) == ""


def test_the_checker_is_short_and_needs_nothing():
    text = PAGE.read_text(encoding="utf-8")
    assert len(list(filter(str.strip, text.splitlines()))) < 280
    imported = set(re.findall(r"^(?:import|from) (\w+)", text, flags=re.MULTILINE))
    assert imported == {"fractions", "itertools", "math", "check_proof"}


def refuted(file):
    """Whether the steepest growth, f'' = L0 + L1 |f'| on the way, contradicts what is proved."""
    L0, L1, eta, gamma, c = (float(Fraction(file[x])) for x in ("L0", "L1", "eta", "gamma", "c"))
    for one in file["regimes"]:
        low = float(Fraction(one["low"]))
        high = low + 50 if one["high"] is None else float(Fraction(one["high"]))
        for G in np.linspace(low, high, 9)[low == 0 :]:
            num, den = (np.polyval([float(Fraction(x)) for x in p[::-1]], G) for p in one["along"])
            slope = np.linspace(0, num / den * G, 2001)
            turn = slope if L1 == 0 else np.log1p(L1 * G / L0) / L1 if L0 else np.inf
            at = G / L0 if L1 == 0 else turn
            down = L0 * slope - G if L1 == 0 else L0 / L1 - (G + L0 / L1) * np.exp(-L1 * slope)
            up = L0 * (slope - at) if L1 == 0 else L0 / L1 * np.expm1(L1 * (slope - at))
            own = np.where(slope <= at, down, up)
            change = np.trapezoid(own, slope)
            if change > -c * min(eta * G**2, gamma * G) + 1e-5 * (1 + G):
                return True
    return False


NUMBER = re.compile("-?[0-9]+(/[0-9]+)?")


def entries(entry, path=()):
    """Yield the keys to the numbers and lists of a file."""
    parts = entry.items() if isinstance(entry, dict) else enumerate(entry)
    for key, one in parts:
        if isinstance(one, dict | list):
            if isinstance(one, list):
                yield (*path, key)
            yield from entries(one, (*path, key))
        elif isinstance(one, str) and NUMBER.fullmatch(one):
            yield (*path, key)


def others(entry):
    """Return what stands in place of a number or a list."""
    if isinstance(entry, list):
        return [entry[1:], entry[:-1], [*entry, *entry[-1:]], entry[::-1]]
    x = Fraction(entry)
    return [str(y) for y in {Fraction(0), Fraction(1), -x, 2 * x, x / 2, x * Fraction(101, 100)}]


@pytest.mark.long
@pytest.mark.parametrize("name", ["clipped", "in part"])
def test_every_change_is_refused_or_still_true(name):
    """What is accepted is tried on the function that grows most along the step of the file."""
    file = decrease(name)
    assert not refuted(file)
    assert refuted(file | {"c": str(2 * Fraction(file["c"]))})
    tried = accepted = 0
    for where in entries(file):
        entry = functools.reduce(lambda part, key: part[key], where, file)
        for other in others(entry):
            forged = changed(file, where, lambda _, other=other: other)
            tried += 1
            if other != entry and not refused(check_clipped, forged):
                accepted += 1
                assert not refuted(forged), where
    assert accepted < tried / 3


def more(text):
    return str(check_clipped.Fraction(text) * check_clipped.Fraction(10**6 + 1, 10**6))


def less(text):
    return str(check_clipped.Fraction(text) * check_clipped.Fraction(10**6 - 1, 10**6))


CHANGES = [
    ("clipped", ["c"], more),
    ("clipped", ["L0"], more),
    ("clipped", ["L1"], more),
    ("clipped", ["eta"], less),
    ("clipped", ["gamma"], more),
    ("clipped", ["c"], lambda c: "0"),
    ("clipped", ["c"], lambda c: 0.5),
    ("clipped", ["regimes"], lambda own: own[:-1]),
    ("clipped", ["regimes"], lambda own: own[1:]),
    ("clipped", ["regimes"], lambda own: [*own[:2], *own[3:]]),
    ("clipped", ["regimes"], lambda own: own[::-1]),
    ("clipped", ["regimes"], lambda own: [*own, own[-1]]),
    ("clipped", ["regimes", 1, "high"], more),
    ("clipped", ["regimes", 3, "low"], more),
    ("clipped", ["regimes", 1, "answers"], lambda none: [True]),
    ("clipped", ["regimes", 1, "along", 0], lambda p: [less(x) for x in p]),
    ("clipped", ["regimes", 1, "along", 0], lambda p: [f"-{x}" for x in p]),
    ("clipped", ["regimes", 1, "growth"], lambda name: "any-direction"),
    ("clipped", ["regimes", 1, "growth"], lambda name: "none"),
    ("clipped", ["regimes", 1, "toward", 0], lambda p: ["0", "1"]),
    ("clipped", ["regimes", 1, "part"], lambda q: "2"),
    ("clipped", ["regimes", 1, "part"], lambda q: "-1"),
    ("clipped", ["regimes", 1, "cuts"], lambda cuts: cuts[:-1]),
    ("clipped", ["regimes", 1, "cuts"], lambda cuts: [*cuts, []]),
    ("clipped", ["regimes", 1, "cuts", 0], lambda none: ["2"]),
    ("clipped", ["regimes", 1, "turned"], lambda none: [["1"], ["1"]]),
    ("in part", ["regimes", 1, "part"], lambda q: "1"),
    ("in part", ["regimes", 3, "part"], lambda q: "1"),
    ("normalised", ["regimes", 1, "along", 1], lambda p: [f"-{x}" for x in p]),
    ("normalised", ["regimes", 3, "high"], lambda none: "9"),
    ("noise", ["e"], less),
    ("noise", ["e"], lambda e: f"-{e}"),
    ("noise", ["sigma"], less),
    ("noise", ["regimes", 1, "fresh"], lambda x: "1/100"),
    ("noise", ["regimes", 1, "reach"], lambda x: "0"),
    ("noise", ["regimes", 1, "fresh"], lambda x: f"-{x}"),
    ("noise", ["regimes", 1, "growth"], lambda name: "against-gradient"),
]  # fmt: skip


@pytest.mark.long(keep=10)
@pytest.mark.parametrize(("name", "where", "change"), CHANGES)
def test_a_forged_file_is_refused(name, where, change):
    file = decrease(name)
    assert not refused(check_clipped, file)
    assert refused(check_clipped, changed(file, where, change))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["noise", "noise of EPISODE", "much noise"])
def test_forged_answers_of_noise_are_refused(name):
    """Each regime that noise decides is needed, with its turned steps and their radius."""
    file = decrease(name)
    forked = [i for i, one in enumerate(file["regimes"]) if one["answers"]]
    turned = [i for i, one in enumerate(file["regimes"]) if one["turned"][0]]
    assert forked
    assert turned
    for i in forked:
        assert refused(
            check_clipped, changed(file, ["regimes"], lambda own, i=i: own[:i] + own[i + 1 :])
        )
        assert refused(
            check_clipped, changed(file, ["regimes", i, "answers", 0], lambda yes: not yes)
        )
    for i in turned:
        where = ["regimes", i, "turned", 0]
        assert refused(check_clipped, changed(file, where, lambda p: [f"-{x}" for x in p]))
        assert refused(check_clipped, changed(file, ["regimes", i, "radius"], lambda x: f"-{x}"))
        assert refused(check_clipped, changed(file, ["regimes", i, "radius"], lambda x: "100"))


def test_a_step_along_the_gradient_does_not_shorten_a_turned_one():
    """D = 0.079 g - 0.1 u at |g| = 1 with <u, g> = 0.8 is 0.06 long, not 0.021: f grows."""
    file = changed(decrease("without L1"), ["c"], lambda c: "1/10000")
    at = next(i for i, one in enumerate(file["regimes"]) if one["low"] == one["high"] == "1")
    own = file["regimes"][at]
    turned = {"turned": [["1/10"], ["1"]], "radius": [["3/5"], ["1"]], "cuts": [[]] * 4}
    own |= {"growth": "any-direction", **turned}
    assert not refused(
        check_clipped, changed(file, ["regimes", at, "along"], lambda one: [[], ["1"]])
    )
    assert refused(
        check_clipped, changed(file, ["regimes", at, "along"], lambda one: [["-79/1000"], ["1"]])
    )


def test_the_bounds_are_those_of_the_package(monkeypatch):
    """Planted in the checker: a sign in the exponential, and the condition of the bound."""
    right = check_clipped.alternating
    wrong = lambda T, first, last: right(T, first, last) * check_clipped.Fraction(99, 100)  # noqa: E731
    forged = changed(decrease("clipped"), ["c"], more)
    assert refused(check_clipped, forged)
    monkeypatch.setattr(check_clipped, "alternating", wrong)
    assert not refused(check_clipped, forged), "so that this line of the checker decides"


def test_the_command_writes_and_the_script_checks(capsys, tmp_path):
    path = tmp_path / "clipped.json"
    assert main(["export", "clipped-sgd", str(path), "--class", "relaxed", "--L1", "2"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("f(x+) <= f(x) - 0.753939 min(0.25 G^2, 0.145494 G)")
    words = [sys.executable, str(PAGE), str(path)]
    found = subprocess.run(words, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert found.returncode == 0
    assert "for all f with |Hess f| <= 1 + 2 |grad f|" in found.stdout
    assert "not checked: the regimes are those of 'ClippedSGD(" in found.stdout
    text = path.read_text(encoding="utf-8").replace('"L1": "2"', '"L1": "3"')
    path.write_text(resealed(text), encoding="utf-8")
    found = subprocess.run(words, capture_output=True, text=True, check=False)
    assert found.returncode == 1
    assert "the decrease is not proved for G from" in found.stderr
    quick = subprocess.run([sys.executable, "-O", *words[1:]], capture_output=True, check=False)
    assert quick.returncode == 1


@pytest.mark.parametrize(
    ("words", "fragment"),
    [
        (["clipped-sgd", "x-y.v", "--class", "relaxed"], "'x-y.v' is no name that Rocq reads"),
        (["gd", "x.json", "--L0", "2"], "--L0 is of (L0, L1)-smooth functions"),
        (["celgc", "x.json", "--class", "relaxed"], "no theorem on celgc has parameters"),
        (
            ["clipped-sgd", "x.json", "--class", "relaxed", "--omega", "2"],
            "--omega is of functions",
        ),
    ],
    ids=lambda x: "",
)
def test_a_misfit_is_refused_in_a_sentence(capsys, tmp_path, words, fragment):
    name, file, *others = words
    assert main(["export", name, str(tmp_path / file), *others]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert fragment in sentence
    assert not (tmp_path / file).exists()
