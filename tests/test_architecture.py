"""Rooms, and rooms inside the rooms: arrows run down, names say one thing, folders are small.

Each rule is held against the project, and against a small made-up tree in which it is broken.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from architecture import (
    ROOMS,
    arrows,
    between_folders,
    crowded,
    cycle,
    deep,
    heavy,
    known_extensions,
    longer,
    modules,
    private_imports,
    relative_imports,
    rising,
    shared_modules,
    shared_names,
    undeclared,
    with_array_libraries,
)
from sizes import GOALS, LIMITS, sizes

import certibit

ROOT = Path(certibit.__file__).parent.parent

LEVELS = [
    ["data"],
    ["data.own"],
    ["data.files", "data.losses"],
    ["data.problems"],
    ["data.relaxed", "data.deep"],
    ["data.passes"],
    ["solvers"],
    ["solvers.compressors", "solvers.methods"],
    ["solvers.simulation"],
    ["solvers.fast", "solvers.device"],
    ["solvers.runs"],
    ["solvers.store"],
    ["theory.assumptions"],
    ["theory", "theory.cones"],
    ["theory.worlds.opaque"],
    ["theory.worlds", "theory.formulas"],
    ["theory.worlds.symbolic", "theory.cards"],
    ["theory.catalogue", "theory.proofs"],
    ["theory.proofs.programme"],
    ["theory.certificates", "theory.audit.machinery"],
    ["theory.checks.compressor", "theory.checks.problem"],
    ["theory.checks.channel"],
    ["theory.checks.method"],
    ["theory.checks", "theory.exact", "theory.export"],
    ["theory.chains", "theory.audit.episode", "theory.audit.locodl"],
    ["theory.relaxed"],
    ["theory.plan"],
    ["theory.audit"],
    ["figures.text", "figures.places"],
    ["figures"],
    ["figures.locodl", "figures.episode", "figures.comparison"],
    ["figures.certified.classes", "figures.deep"],
    ["figures.certified", "figures.report"],
    ["certibit.cli.words"],
    ["certibit.cli.commands"],
    ["certibit.cli"],
    ["certibit"],
]
"""All folders from the bottom up. Each may know those below; those of one line do not know
each other. The files of a room that stand in no inner room have a line of their own."""

CLIPPING = (
    *("episode", "episode_plus_plus", "celgc", "clip21", "clipped_minibatch_sgd"),
    *("clipped_scaffold", "clipped_sgd", "momentum_clipping", "naive_parallel_clip"),
    *("normalised_ef21", "normalised_gd"),
)
EXTENSIONS = {
    "fast": ["solvers.fast", "data.passes"],
    "device": ["solvers.device"],
    "papers": [
        "theory.audit",
        "figures.locodl",
        "figures.episode",
        "figures.certified",
        "certibit.cli.commands.results",
        "figures.report",  # of the papers' results, too
        "certibit.cli.words.places",
        "data.relaxed",
        "solvers.clipping",
        *(f"solvers.methods.{name}" for name in CLIPPING),
        *(f"theory.cards.{name}" for name in CLIPPING),
        "theory.formulas.clipping_complexity",
        "theory.formulas.episode_round",
        *("theory.checks.standard", "figures.theory_results"),
        "figures.text.verdicts",
        *("figures.pool", "figures.workers", "figures.places"),  # many jobs at once
    ],
    "deep": ["data.deep", "figures.deep"],
    "estimator": ["certibit.estimator"],
    "attained": [
        "theory.exact",
        "theory.worlds.worst_states",
        "theory.certificates.worst_instance",
    ],
    "chains": ["theory.chains"],
    "assumptions": [
        "theory.assumptions.polyak_lojasiewicz",
        "theory.checks.problem.assumed",
    ],
    "export": [
        "theory.export",
        "certibit.cli.commands.export",
        "theory.relaxed.clipped_file",
    ],
    "relaxed": ["theory.relaxed"],
}
"""What the core does without: folders and modules. The front door names them, but for its type
checker only."""

LISTS = {"solvers.methods", "solvers.compressors", "theory.cards", "certibit.cli.commands"}
"""Lists of like things, of any length."""
APART = {"State", "main"}
"""Public names that stand in several modules because they are always used in their own."""


@pytest.fixture(scope="module")
def project():
    return modules(ROOT)


@pytest.mark.long
def test_every_folder_is_declared_once(project):
    assert {folder.split(".")[0] for level in LEVELS for folder in level} == set(ROOMS)
    assert undeclared(project, LEVELS) == set()


def test_every_folder_is_installed(project):
    """The rooms are links in the package, and every folder of files is a package."""
    assert all(ROOT.joinpath("certibit", room).samefile(ROOT / room) for room in ROOMS[:-1])
    assert {module.folder for module in project.values()} <= set(project)


def test_a_clone_does_not_hide_the_package(tmp_path):
    """Beside a clone that is named ``certibit``, whose folder is no package."""
    tmp_path.joinpath("certibit").symlink_to(ROOT)
    words = [sys.executable, "-c", "import certibit; certibit.METHODS"]
    subprocess.run(words, cwd=tmp_path, check=True)


def test_arrows_run_down(project):
    assert rising(project, LEVELS) == set()


def test_the_core_knows_no_extension(project):
    prefixes = [prefix for extension in EXTENSIONS.values() for prefix in extension]
    assert all(any(f"{name}.".startswith(f"{p}.") for name in project) for p in prefixes)
    assert known_extensions(project, prefixes, "certibit") == set()


@pytest.mark.long
@pytest.mark.parametrize("extension", EXTENSIONS)
def test_the_core_works_without_an_extension(extension, tmp_path):
    """In a copy of the tree from which the extension is removed."""
    shutil.copytree(
        ROOT / "certibit", tmp_path / "certibit", ignore=shutil.ignore_patterns("__pycache__")
    )
    for prefix in EXTENSIONS[extension]:
        place = tmp_path / "certibit" / prefix.removeprefix("certibit.").replace(".", "/")
        if place.is_dir():
            shutil.rmtree(place)
        else:
            place.with_suffix(".py").unlink()
    asked = subprocess.run(
        [sys.executable, "-c", CORE + REFUSED.get(extension, "")],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked.stdout + asked.stderr


CORE = """
import certibit
from certibit.cli import main

assert certibit.__file__.startswith(__import__("os").getcwd())
for words in (
    "list",
    "run quadratic:d=4@3 diana rand-k:2 --kappa 10 --seeds 1 --until 1e-2",
    "compare quadratic:d=4@3 gd agd --kappa 10 --seeds 1 --until 1e-2",
    "certify diana --n 3 --kappa 10 --omega 1",
    "plan quadratic:d=4@3 --kappa 10 --methods gd,agd",
    "check quadratic:d=4@3 gd --kappa 10 --seeds 1 --until 1e-2",
):
    assert main(words.split()) == 0, words
"""
REFUSED = {
    "device": """
from certibit import Quadratic, run, METHODS, Refusal

try:
    run(METHODS["gd"].method(gamma=0.1), Quadratic.random(3, 4), library="array-api-strict")
except Refusal as refusal:
    assert "has no solvers/device" in str(refusal)
else:
    raise AssertionError("runs on a device that is removed")
"""
}
"""What is refused in a sentence without an extension."""


def test_there_are_no_cycles(project):
    """No module or folder imports one that imports it back, directly or on a way around."""
    assert cycle(arrows(project)) == []
    assert cycle(between_folders(project, arrows(project))) == []


def test_imports_are_absolute_and_of_public_names(project):
    assert relative_imports(project) == set()
    assert private_imports(project) == set()


def test_a_name_says_one_thing(project):
    assert shared_names(project) - APART == set()
    assert shared_modules(project) == set()


def test_folders_are_small(project):
    assert crowded(project, 12) - LISTS == set()
    assert deep(project, 3) == set()


def test_a_method_names_no_array_library(project):
    assert with_array_libraries(project, "solvers.methods") == set()


def test_a_method_needs_few_lines_of_the_core(project):
    """With all modules that it imports in turn; plain gradient descent once needed 4,495."""
    assert heavy(project, "solvers.methods", 1600) == set()


def test_a_method_has_the_length_of_an_algorithm_box(project):
    assert longer(project, "solvers.methods", 100) == set()


CLEAN = {
    "data/__init__.py": "",
    "data/errors.py": "class Refusal(ValueError): ...",
    "data/files/__init__.py": "",
    "data/files/cache.py": "from certibit.data.errors import Refusal\ndef write(): ...",
    "solvers/methods/gd.py": "from certibit.data import errors\nimport math\n\nclass State: ...",
    "solvers/compressors/natural.py": "import numpy\ndef _levels(): ...",
    "certibit/__init__.py": "from certibit.data.files.cache import write",
    "certibit/cli.py": "def main():\n    from certibit.solvers.methods import gd",
}
"""A made-up tree in which every rule is kept."""
CLEAN_LEVELS = [["data"], ["data.files"], ["solvers.methods", "solvers.compressors"], ["certibit"]]
RULES = {
    "undeclared": lambda files: undeclared(files, CLEAN_LEVELS),
    "rising": lambda files: rising(files, CLEAN_LEVELS),
    "extensions": lambda files: known_extensions(files, ["data.files"], "certibit"),
    "cycle": lambda files: set(cycle(arrows(files))),
    "cycle of folders": lambda files: set(cycle(between_folders(files, arrows(files)))),
    "relative": relative_imports,
    "private": private_imports,
    "shared names": shared_names,
    "shared modules": shared_modules,
    "crowded": lambda files: crowded(files, 2),
    "deep": lambda files: deep(files, 2),
    "array libraries": lambda files: with_array_libraries(files, "solvers.methods"),
    "heavy": lambda files: heavy(files, "solvers.methods", 6),
    "long": lambda files: longer(files, "solvers.methods", 1),
}

CACHE, GD, NATURAL = (
    "data/files/cache.py",
    "solvers/methods/gd.py",
    "solvers/compressors/natural.py",
)
BROKEN = [
    ("undeclared", {"data/relaxed/noise.py": ""}, {"data.relaxed"}),
    ("undeclared", {"certibit/cli/run.py": ""}, {"certibit.cli"}),
    # to a room above, to the files above an inner room, to a neighbour, to the front door
    ("rising", {CACHE: "import certibit.solvers.methods.gd"},
     {("data.files.cache", "solvers.methods.gd")}),
    ("rising", {"data/errors.py": "from certibit.data.files import cache"},
     {("data.errors", "data.files.cache")}),
    ("rising", {GD: "from certibit.solvers.compressors.natural import C"},
     {("solvers.methods.gd", "solvers.compressors.natural")}),
    ("rising", {NATURAL: "def draw():\n    import certibit"},
     {("solvers.compressors.natural", "certibit")}),
    ("extensions", {GD: "from certibit.data.files import cache"},
     {("solvers.methods.gd", "data.files.cache")}),
    ("cycle", {"data/a.py": "from certibit.data import b", "data/b.py": "import certibit.data.a"},
     {"data.a", "data.b"}),
    ("cycle of folders", {GD: "import certibit.solvers.compressors.natural",
                          "solvers/compressors/a.py": "from certibit.solvers.methods import gd"},
     {"solvers.methods", "solvers.compressors"}),
    ("relative", {CACHE: "from ..errors import Refusal"}, {"data.files.cache"}),
    ("relative", {CACHE: "from .. import errors"}, {"data.files.cache"}),
    ("private", {GD: "from certibit.solvers.compressors.natural import _levels"},
     {("solvers.methods.gd", "certibit.solvers.compressors.natural._levels")}),
    ("private", {GD: "from certibit.solvers.compressors import natural as n\nn._levels()"},
     {("solvers.methods.gd", "n._levels")}),
    ("shared names", {CACHE: "class State: ..."}, {"State"}),
    ("shared names", {CACHE: "def main(): ..."}, {"main"}),
    ("shared modules", {"data/files/errors.py": ""}, {"data.errors"}),
    ("crowded", {f"solvers/methods/{name}.py": "" for name in "ab"}, {"solvers.methods"}),
    ("deep", {"data/files/text/rows.py": ""}, {"data.files.text"}),
    ("array libraries", {GD: "def step():\n    from scipy.linalg import blas"},
     {"solvers.methods.gd"}),
    ("heavy", {"data/errors.py": "from certibit.data import sums\n", "data/sums.py": "\n" * 9},
     {"solvers.methods.gd"}),
    ("long", {GD: "import math\n\nclass State:\n    x: float"}, {"solvers.methods.gd"}),
]  # fmt: skip


def read(root, files):
    """Write a tree and read it as the project is read."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return modules(root)


@pytest.mark.parametrize("rule", RULES)
def test_a_clean_tree_breaks_no_rule(rule, tmp_path):
    assert RULES[rule](read(tmp_path, CLEAN)) == set()


@pytest.mark.parametrize(("rule", "planted", "found"), BROKEN)
def test_a_planted_violation_is_caught(rule, planted, found, tmp_path):
    assert RULES[rule](read(tmp_path, CLEAN | planted)) == found


def test_nothing_grows(project):
    """A limit that is more than 2 % above its size is lowered, too: what was deleted stays so."""
    found = sizes(ROOT, project)
    assert {name: size for name, size in found.items() if size > LIMITS[name]} == {}
    assert {name for name in LIMITS if LIMITS[name] > max(GOALS[name], 1.02 * found[name])} == set()


def test_what_is_counted(tmp_path):
    texts = {
        "tests/sub/a.py": "assert True\n",
        "docs/b.py": "\n\n",
        "docs/c.md": "three more words",
        "README.md": "two words",
    }
    files = {"data/__init__.py": "", "data/a.py": "class A: ...\ndef _b(): ...\ndef c(): ...\n"}
    assert [*sizes(tmp_path, read(tmp_path, texts | files)).values()] == [3, 1, 2, 1, 1, 2, 5]


def test_every_rule_has_a_planted_violation():
    assert {rule for rule, _, _ in BROKEN} == set(RULES)
