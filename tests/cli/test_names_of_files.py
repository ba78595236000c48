"""Methods, problems and losses of a user's own file, wherever one is named."""

from pathlib import Path

import pytest
from command_lines import FAST, refusal

from certibit.cli import main

OWN = """
from dataclasses import dataclass

import numpy as np

import certibit


@dataclass(frozen=True)
class Mine(certibit.GD):
    name = "mine"


@dataclass(frozen=True)
class Other(certibit.GD):
    name = "other"


OTHER = certibit.Card(Other, rules={"1/L": lambda setting: Other(1 / setting.L)})


@dataclass(frozen=True)
class Half(certibit.Huber):
    name = "half"


def problem():
    X = np.random.default_rng(0).standard_normal((30, 3))
    return certibit.problem(X, X[:, 0], clients=3, loss="least-squares", kappa=9)


solved = problem()
number = 1
"""


@pytest.mark.long(keep=3)
@pytest.mark.parametrize(
    "words",
    [
        ["compare", "own.py:solved", "own.py:Mine[gamma=0.1]", "own.py:OTHER", "gd"],
        ["run", "own.py:problem", "own.py:Mine", "--set", "gamma=0.1", "--seeds", "1"],
        ["run", "own.py:problem", "own.py:Other", "--seeds", "1"],
        ["run", "breast-cancer@9", "gd", "--loss", "own.py:Half:0.5", *FAST],
        ["compare", "quadratic:d=4@3", "--kappa", "9", "gd", "own.py:Mine[gamma=0.1]"],
        ["plan", "own.py:problem", "--methods", "gd"],
    ],
)  # fmt: skip
def test_what_is_named_may_stand_in_a_file(capsys, words):
    Path("own.py").write_text(OWN, encoding="utf-8")
    assert main(words) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["run", "own.py:solved", "own.py"], "2 methods and no CARD; name it own.py:NAME, there"),
        (["run", "own.py:solved", "own.py:My"], "defines no method My; name it own.py:NAME"),
        (["run", "own.py:number", "gd"], "number of own.py is no problem; name a problem, or a"),
        (["run", "own.py", "gd"], "own.py defines no problem ''"),
        (["run", "own.py:solved", "gd", "--kappa", "9"], "own.py:solved is complete; leave out"),
        (["run", "breast-cancer@9", "gd", "--loss", "own.py:Mine"], "own.py defines no loss Mine"),
    ],
)
def test_what_a_file_does_not_have_is_refused(capsys, words, told):
    Path("own.py").write_text(OWN, encoding="utf-8")
    assert told in refusal(capsys, words)
