"""Adding a method with a theorem to the package touches two new files and nothing else."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import certibit

ROOMS = ("data", "figures", "solvers", "theory")

METHOD = '''
"""A toy: compressed gradient differences with learned shifts, and nothing else."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Array, Every, Method, Needs, copies, mean


@dataclass(frozen=True)
class State:
    x: Array
    h: Array
    h_mean: Array


@dataclass(frozen=True)
class Toy(Method):
    gamma: float
    alpha: float

    name: ClassVar[str] = "toy"
    needs: ClassVar[Needs] = Needs(compressor="unbiased")
    schedule: ClassVar[Every] = Every()

    def start(self, x, problem, channel):
        return State(x, copies(0 * x, problem.n), 0 * x)

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.x) - s.h)
        x = channel.broadcast(s.x - self.gamma * (s.h_mean + mean(m)))
        return State(x, s.h + self.alpha * m, s.h_mean + self.alpha * mean(m))

    def model(self, s):
        return s.x

    def fixed_point(self, problem):
        return State(problem.x_star, problem.grad_star, mean(problem.grad_star))

    def invariants(self, s, problem):
        return (s.h_mean - mean(s.h),)
'''

CARD = '''
"""The card of the toy."""

from certibit.solvers.methods.toy import Toy
from certibit.theory.bill import compressed_up
from certibit.theory.card import Card, Role
from certibit.theory.orders import Orders
from certibit.theory.potential import Squares
from certibit.theory.theorem import Condition, Theorem


class Shifts(Theorem):
    method = Toy
    title = "the toy's theorem"

    def conditions(self, m, setting):
        limit = 1 / (setting.L * (1 + 6 * setting.omega_av))
        return (
            Condition("gamma <= 1/(L (1 + 6 omega_av))", m.gamma, limit),
            Condition("alpha <= 1/(1 + omega)", m.alpha, 1 / (1 + setting.omega)),
        )

    def lyapunov(self, m, s, star, setting, problem):
        shifts = 4 * setting.omega_av / m.alpha * m.gamma**2 / setting.n
        return Squares(1.0, s.x - star.x), Squares(shifts, s.h - star.h)

    def rate(self, m, setting):
        return max(1 - m.gamma * setting.mu, 1 - m.alpha / 2)


def _simple(setting):
    return Toy(1 / (setting.L * (1 + 6 * setting.omega_av)), 1 / (1 + setting.omega))


CARD = Card(
    Toy,
    label="Toy",
    theorems=(Shifts(),),
    rules={"simple": _simple},
    orders=Orders.of("(1 + omega/n)*kappa + omega", "(1 + d/n)*kappa + d"),
    bill=compressed_up,
    roles={"gamma": Role.STEP_SIZE},
)
'''


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    """Return a folder with a copy of the package that has one method more."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    source, copy = Path(certibit.__file__).parent, folder / "certibit"
    shutil.copytree(source, copy, ignore=ignored)
    for room in ROOMS:
        shutil.copytree(source.parent / room, copy / room, ignore=ignored)
    (copy / "solvers" / "methods" / "toy.py").write_text(METHOD, encoding="utf-8")
    (copy / "theory" / "cards" / "toy.py").write_text(CARD, encoding="utf-8")
    return folder


COMMANDS = [
    "list",
    "run quadratic:d=4@3 toy rand-k:2 --kappa 10 --seeds 2 --until 1e-3 --strict --json",
    "check quadratic:d=4@3 toy rand-k:2 --kappa 10 --seeds 2 --strict --all",
    "certify toy --n 3 --kappa 10 --omega 2 --json",
]

SCRIPT = f"""
import contextlib, io, json
from certibit.cli import main
from certibit.theory.checks.standard import tasks

said = []
for words in {COMMANDS}:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        code = main(words.split())
    said.append((code, text.getvalue()))
print(json.dumps((said, [task[0].name for task in tasks()])))
"""


@pytest.mark.long
def test_every_command_and_table_knows_it(package):
    printed = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    said, examined = json.loads(printed)
    assert [code for code, _ in said] == [0, 0, 0, 0]
    listed, run, checked, certified = (text for _, text in said)
    assert "\n  toy " in listed
    assert json.loads(run)["method"]["name"] == "toy"
    for words in ("the toy's theorem", "bits of a round as published", "no check fails"):
        assert words in checked
    assert json.loads(certified)["theorem"] == "the toy's theorem"
    assert "toy" in examined
