"""What is added to the package is found by its name: a toy of each kind in a copy of the tree."""

import json
import os
import subprocess
import sys

import pytest
from toys import TOYS, copy_with

PLACES = {"method": 2, "compressor": 2, "loss": 1, "command": 2, "check": 2}
"""Files that are written or changed for one; the second of a check is its row in docs/checks.md."""
RUNS = {
    "method": "run breast-cancer@3 toy --kappa 20 --seeds 1 --json",
    "compressor": "run breast-cancer@3 diana toy --kappa 20 --seeds 1 --json",
    "loss": "run breast-cancer@3 gd --loss toy --kappa 20 --seeds 1 --json",
    "command": "toy",
}
TESTS = {
    "method": ["tests/solvers/test_methods.py", "tests/theory/worlds/test_units.py",
               "tests/theory/certificates/test_certify.py", "tests/test_site.py",
               "tests/theory/certificates/test_certify_worst_instance.py",
               "tests/theory/exact/test_exact_proof.py", "tests/test_public_page.py",
               "tests/theory/worlds/test_invariants_and_fixed_points.py"],
    "compressor": ["tests/test_site.py"],
    "loss": ["tests/data/test_data_losses.py"],
    "command": ["tests/cli/test_start_and_help.py", "tests/cli/test_widths.py"],
    "check": ["tests/theory/checks/test_rooms.py", "tests/test_site.py"],
}  # fmt: skip
"""Where tests go by its name, or by those of all of its kind."""
OF_ALL = {"method": "toy or public or page", "compressor": "compressor or toy or picture",
          "loss": "", "command": "toy or command or help", "check": "room or check"}  # fmt: skip
METHOD = {
    "check quadratic:d=4@3 toy --kappa 10 --seeds 2 --strict --all":
        ["gradient descent, classical", "bits of a round as published", "no check fails"],
    "certify toy --n 3 --kappa 10 --json": ['"theorem": "gradient descent, classical"'],
}  # fmt: skip
"""What commands say of the method."""
EXAMINED = """
from certibit.theory.checks.standard import tasks
print(*(task[0].name for task in tasks()))
"""
CHECKED = """
from certibit import Quadratic
from certibit.theory.checks.problem.problems import problem_checks
print(*(verdict.check for verdict in problem_checks(Quadratic.random(3, 4))))
"""


@pytest.fixture(params=TOYS)
def kind(request):
    return request.param


def python(folder, *words):
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.long
def test_a_toy_has_few_places_and_is_found_by_its_name(kind, tmp_path):
    assert len(TOYS[kind]) == PLACES[kind]
    folder = copy_with(kind, tmp_path)
    if kind == "check":
        assert "toy" in python(folder, "-c", CHECKED).split()
        return
    names = "--help" if kind == "command" else "list"
    assert "toy" in python(folder, "-m", "certibit", names).replace(",", " ").split()
    told = python(folder, "-m", "certibit", *RUNS[kind].split())
    if kind == "command":
        assert told == "a toy\n"
    else:
        assert json.loads(told)["runs"][0]["ending"] == "gap"


@pytest.mark.long
def test_every_command_and_table_knows_a_method(tmp_path):
    folder = copy_with("method", tmp_path)
    for words, said in METHOD.items():
        told = python(folder, "-m", "certibit", *words.split())
        assert not [part for part in said if part not in told]
    assert "toy" in python(folder, "-c", EXAMINED).split()


@pytest.mark.long
def test_tests_go_by_the_name_of_a_toy(kind, tmp_path):
    folder = copy_with(kind, tmp_path)
    words = ["-m", "pytest", "--quiet", "-p", "no:cacheprovider", *TESTS[kind]]
    python(folder, *words, *(["-k", OF_ALL[kind]] if OF_ALL[kind] else []))
