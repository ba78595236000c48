"""Streams that are closed, full or left, and prints of a user's code beside the JSON."""

import json
import os
import subprocess
import sys

import pytest

from certibit.cli import main

COMMAND = [sys.executable, "-m", "certibit"]
RUN = ["run", "quadratic:d=3@2", "gd", "--kappa", "5", "--seeds", "1"]
FULL = "/dev/full"
STREAMS = {
    "stdout closed": (RUN, ">&-", 2, "certibit: stdout is closed; send it to a file"),
    "version, stdout closed": (["--version"], ">&-", 2, "certibit: stdout is closed"),
    "stdout full": (RUN, f">{FULL}", 2, "certibit: stdout cannot be written (No space left on"),
    "JSON, stdout full": ([*RUN, "--json"], f">{FULL}", 2, "certibit: stdout cannot be"),
    "help, stdout full": (["run", "--help"], f">{FULL}", 2, "certibit: stdout cannot be written"),
    "much text, stdout full": (["list"], f">{FULL}", 2, "certibit: stdout cannot be"),
    "stdout not to be written": (RUN, "1</dev/null", 2, "certibit: stdout cannot be written (Bad"),
    "stderr closed": ([*RUN, "--json"], "2>&-", 0, ""),
    "stderr full": ([*RUN, "--json", "--parameters", "1/L"], f"2>{FULL}", 0, ""),
    "refused, stderr closed": (["run", "none@2", "gd"], "2>&-", 2, ""),
    "both closed": (RUN, ">&- 2>&-", 2, ""),
    "reader has left": (["list"], "| true", 0, ""),
    "reader takes a line": (["list", "--json"], "| head -c 1 >/dev/null", 0, ""),
    "reader of a failed command": (["run", "none@2", "gd"], "2>&1 | true", 2, ""),
}  # fmt: skip


@pytest.mark.long(keep=3)
@pytest.mark.skipif(not os.path.exists(FULL), reason=f"this system has no {FULL}")
@pytest.mark.parametrize("name", STREAMS)
def test_streams_that_cannot_be_written(name):
    """One sentence where one can be read, no traceback, and a true exit code."""
    words, redirection, code, sentence = STREAMS[name]
    shell = f'set -o pipefail; "$@" {redirection}'
    ended = subprocess.run(
        ["bash", "-c", shell, "bash", *COMMAND, *words],
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert ended.returncode == code, ended.stderr
    assert ended.stderr.startswith(sentence)
    assert len(ended.stderr.splitlines()) == bool(sentence)
    if "--json" in words and not code and "|" not in redirection:
        json.loads(ended.stdout)


OWN = """
import os, sys
from dataclasses import dataclass

from certibit import GD, LeastSquares, Needs, mean, problem

print("at import")
os.system("echo from another process")


@dataclass(frozen=True)
class Talking(GD):
    name, needs = "talking", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        print("at the start", flush=True)
        sys.__stdout__.write("past the stream that is there")
        return super().start(x, problem, channel)

    def communicate(self, s, problem, channel):
        print("in a round")
        g = mean(channel.uplink(problem.grad(s.x)))
        return type(s)(channel.broadcast(s.x - self.gamma * g))


METHOD = Talking


@dataclass(frozen=True)
class Loud(LeastSquares):
    def slope(self, z, b):
        print("in a loss")
        return super().slope(z, b)


def made():
    print("in a problem")
    return problem("quadratic:d=3@2", kappa=5)
"""
WITH_JSON = {
    "run": ["run", "quadratic:d=3@2", "OWN", "natural", "--set", "gamma=0.1", "--rounds", "3"],
    "problem": ["run", "OWN:made", "gd", "--seeds", "1"],
    "loss": ["run", "breast-cancer@2", "gd", "--loss", "OWN:Loud", "--rounds", "3"],
    "compare": ["compare", "OWN:made", "gd", "agd"],
    "plan": ["plan", "OWN:made"],
    "check": ["check", "quadratic:d=3@2", "OWN", "natural", "--set", "gamma=0.1", "--kappa", "5"],
    "certify": ["certify", "gd", "--problem", "OWN:made"],
}  # fmt: skip


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("name", WITH_JSON)
def test_prints_of_a_user_are_no_json(name, tmp_path, capsys):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    words = [word.replace("OWN", str(path)) for word in WITH_JSON[name]]
    main([*words, "--json", "--quiet"])
    told = capsys.readouterr()
    assert isinstance(json.loads(told.out), dict), told.err
    assert "at import" in told.err


def test_the_command_itself_prints_json_alone(tmp_path):
    """Also where another process prints, or the user's code past ``sys.stdout``."""
    path = tmp_path / "own.py"
    path.write_text(OWN)
    words = [word.replace("OWN", str(path)) for word in WITH_JSON["run"]]
    words = [*COMMAND, *words, "--json"]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=100, check=True)
    json.loads(ended.stdout)
    assert "in a round" in ended.stderr
    assert "from another process" in ended.stderr
    assert "past the stream that is there" in ended.stderr
