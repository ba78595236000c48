"""What a result depends on is in the key of its trace; what no file tells is run and not kept."""

import importlib
import platform
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import scipy
from user_project import OPTIONS, QUADRATIC, STRANGERS, TOY, USER, Project, made, method_of

from certibit import DIANA, GD, Experiment, Refusal, Store
from certibit.data.own import own_file
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.runs.engine import commit, simulate
from certibit.solvers.store import store as module
from certibit.solvers.store.store import NoSourceError, NotKeptWarning


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A user's project, beside it what is installed."""
    monkeypatch.syspath_prepend(tmp_path / "lib" / "site-packages")
    return Project(tmp_path)


@pytest.fixture
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("traces"))


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("name", USER)
def test_a_changed_program_is_run_again(project, store, name):
    before = store.trace(project.experiment(), **OPTIONS)
    project.change(name)
    experiment = project.experiment()
    assert store.find(experiment, **OPTIONS) is None
    assert store.trace(experiment, **OPTIONS).specification == before.specification
    assert len(list(store.folder.iterdir())) == 2


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_not_imported_does_not_count(project, store, name):
    before = store.path(project.experiment(), **OPTIONS)
    project.change(name)
    assert store.path(project.experiment(), **OPTIONS) == before


def test_neither_the_folder_nor_another_file_that_is_loaded_counts(project, store):
    experiment, there = project.experiment(), Project(project.folder / "moved").experiment()
    before = store.path(experiment, **OPTIONS)
    assert before == store.path(there, **OPTIONS)
    assert type(experiment.method) is not type(there.method)
    project.load("stranger")
    assert store.path(experiment, **OPTIONS) == before


def test_two_folders_with_a_helper_of_one_name(tmp_path, store):
    """Each file has the helper beside it, whichever is loaded first and however late."""
    for folder, factor in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "helper.py").write_text(f"FACTOR = {factor}\n")
        (tmp_path / folder / "first.py").write_text(
            "import helper, importlib\n"
            "again = importlib.import_module('helper')\n"
            f"{TOY}\n"
            "    def factors(self):\n"
            "        import helper as late\n"
            "        return helper.FACTOR, again.FACTOR, late.FACTOR\n"
        )
    for order in ("ab", "ba"):
        toys = {name: own_file.load_module(tmp_path / name / "first.py").Toy for name in order}
        assert toys["a"](0.1).factors() == (1.0,) * 3
        assert toys["b"](0.1).factors() == (2.0,) * 3
    assert "helper" not in sys.modules
    paths = [store.path(Experiment.of(toy(0.1), QUADRATIC), **OPTIONS) for toy in toys.values()]
    assert len(set(paths)) == 2


def test_another_class_with_the_same_name_and_parameters(project, store):
    one = project.experiment()
    copy = project.load("parent").DIANA
    paths = {
        store.path(Experiment.of(*parts), **OPTIONS)
        for parts in (
            (one.method, one.problem, one.compressor),
            (method_of(DIANA), one.problem, one.compressor),
            (method_of(copy), one.problem, one.compressor),
            (one.method, QUADRATIC, one.compressor),
            (one.method, one.problem, RandK(2)),
        )
    }
    assert method_of(copy).name == method_of(DIANA).name
    assert one.problem.specification == QUADRATIC.specification
    assert len(paths) == 5


@pytest.mark.parametrize(
    ("owner", "name", "version"),
    [
        (platform, "python_version", lambda: "3.99.0"),
        (np, "__version__", "9.9.9"),
        (scipy, "__version__", "9.9.9"),
    ],
    ids=["python", "numpy", "scipy"],
)
def test_another_version_is_another_trace(store, monkeypatch, owner, name, version):
    experiment = Experiment.of(method_of(DIANA), QUADRATIC, RandK(2))
    before = store.path(experiment, **OPTIONS)
    monkeypatch.setattr(owner, name, version)
    assert store.path(experiment, **OPTIONS) != before


@pytest.mark.parametrize(
    ("changed", "counts"),
    [("selection.py", True), ("logistic.py", True), ("oracle.py", True), ("catalogue.py", False)],
)
def test_the_text_of_data_and_solvers_counts_whole(store, monkeypatch, changed, counts):
    def digest(file):
        return known(file) + "changed" * (file.name == changed)

    known, experiment = module._digest, Experiment.of(GD(0.1), QUADRATIC)
    before = store.path(experiment, **OPTIONS)
    monkeypatch.setattr(module, "_digest", digest)
    assert (store.path(experiment, **OPTIONS) != before) is counts


@pytest.mark.parametrize("edited", ["mine.py", "parent.py", "pack/inner/numbers.py"])
def test_a_file_that_is_edited_while_it_runs_is_kept_under_its_old_text(project, store, edited):
    text = (project.folder / edited).read_text()
    experiment = project.experiment()
    project.change(edited)  # after it was loaded, before anybody asks for a key
    kept = store.trace(experiment, **OPTIONS)
    assert store.find(project.experiment(), **OPTIONS) is None
    project.write(edited, text)
    assert store.find(project.experiment(), **OPTIONS).columns.keys() == kept.columns.keys()


def test_a_library_in_a_folder_that_is_not_installed_counts(project, store, monkeypatch):
    """Without its text a trace of before would be given for another library."""
    library = project.folder / "elsewhere" / "library_of_a_user.py"
    library.write_text("FACTOR = 1")
    monkeypatch.syspath_prepend(library.parent)
    monkeypatch.setattr(module, "STARTED", time.time() + 60)
    project.write("toy.py", f"import library_of_a_user\n{TOY}")
    experiment = Experiment.of(project.load("toy").Toy(0.01), QUADRATIC)
    before = store.path(experiment, **OPTIONS)
    library.write_text("FACTOR = 2")
    module._digest.cache_clear()
    assert store.path(experiment, **OPTIONS) != before
    monkeypatch.setattr(module, "STARTED", 0.0)
    with pytest.raises(NoSourceError, match="was written after this Python began"):
        store.path(experiment, **OPTIONS)
    del sys.modules["library_of_a_user"]


IMPORTS = ["import late", "importlib.import_module('.late', __package__)"]


@pytest.mark.parametrize("statement", IMPORTS)
def test_what_a_function_imports_while_it_runs_is_not_kept(project, store, statement):
    project.write("late.py", "VALUE = 1.0\n")
    model = f"    def model(self, s):\n        {statement}\n        return s.x\n"
    project.write("toy.py", f"import importlib\n{TOY}{model}")
    experiment = Experiment.of(project.load("toy").Toy(0.01), QUADRATIC)
    with pytest.warns(NotKeptWarning, match="has changed while it ran .*a function has imported"):
        store.trace(experiment, **OPTIONS)
    assert not list(store.folder.glob("*"))
    store.trace(experiment, **OPTIONS)  # it is loaded by now, and in the key
    before = store.path(experiment, **OPTIONS)
    project.write("late.py", "VALUE = 2.0\n")
    experiment = Experiment.of(project.load("toy").Toy(0.01), QUADRATIC)
    assert store.path(experiment, **OPTIONS) != before


FIELDS = """
from dataclasses import InitVar, dataclass
from functools import partial
from typing import Any, ClassVar
from certibit.solvers.methods.gd import GD

def double(x):
    return 2 * x

def scaled(factor):
    return lambda x: factor * x

one, two = (lambda x: x), (lambda x: x)  # in one line

class Thing:
    def __init__(self, value):
        self.value = value

@dataclass(frozen=True)
class Toy(GD):
    name = "toy"
    held: Any = None
    scale: InitVar[float] = 1.0

    def __post_init__(self, scale):
        object.__setattr__(self, "_scale", scale)
"""


def test_fields_of_any_kind_are_told_apart(project, store):
    project.write("toy.py", FIELDS)
    toy = project.load("toy")
    values = [
        None, 1.0, "text", toy.double, toy.one, toy.two, toy.scaled(1.0), toy.scaled(2.0), np.exp,
        toy.partial(toy.double, 1.0), toy.partial(toy.double, 2.0), toy.Thing(1.0), toy.Thing(2.0),
        [np.arange(3.0)], [np.arange(4.0)], {"a": toy.Thing([1])}, {"a": toy.Thing([2])},
        np.random.default_rng(0), np.random.default_rng(1),
    ]  # fmt: skip

    def path(held, scale=1.0):
        return store.path(Experiment.of(toy.Toy(0.01, held, scale), QUADRATIC), **OPTIONS)

    assert len({path(value) for value in values}) == len(values)
    assert path(toy.Thing(1.0)) == path(toy.Thing(1.0))
    assert path(None, 1.0) != path(None, 2.0)
    store.trace(Experiment.of(toy.Toy(0.01, toy.partial(toy.double, 1.0)), QUADRATIC), **OPTIONS)


def test_a_field_that_cannot_be_told_from_others_is_refused(project, store, tmp_path):
    project.write("toy.py", FIELDS)
    with (tmp_path / "open").open("w") as file:
        experiment = Experiment.of(project.load("toy").Toy(0.01, file), QUADRATIC)
        with pytest.raises(Refusal, match=r"open.* cannot be told from others .*; give a number"):
            store.trace(experiment, **OPTIONS)


def test_what_is_fresh_is_computed_and_replaces_what_is_kept(store):
    experiment = Experiment.of(GD(0.1), QUADRATIC)
    store.trace(experiment, **OPTIONS)
    fresh = Store(store.folder, fresh=True)
    assert fresh.find(experiment, **OPTIONS) is None
    path = store.path(experiment, **OPTIONS)
    before = path.stat().st_mtime_ns
    fresh.trace(experiment, **OPTIONS)
    assert path.stat().st_mtime_ns > before
    assert list(store.folder.iterdir()) == [path]


def test_a_file_that_may_do_without_a_module_is_loaded_once(project):
    project.write("optional.py", "import nowhere_to_be_found")
    project.write(
        "toy.py", f"try:\n    import optional\nexcept ImportError:\n    optional = None\n{TOY}"
    )
    assert project.load("toy") is project.load("toy")


def made_in_a_function(project):
    class Toy(GD):
        name = "toy"

    return Toy


def of_a_script(project):
    """Import a class as a script does, by the path of modules."""
    project.write("script_of_a_user.py", TOY)
    return importlib.import_module("script_of_a_user").Toy


def loaded_again(project):
    project.write("toy.py", TOY)
    toy = project.load("toy").Toy
    project.write("toy.py", f"{TOY}\n    speed = 1\n")
    project.load("toy")
    return toy


UNREADABLE = {
    "nowhere": lambda project: made(TOY),
    "main": lambda project: made(TOY, __name__="__main__"),
    "elsewhere": lambda project: made(TOY, __name__="of_no_file"),
    "function": made_in_a_function,
    "script": of_a_script,
    "twice": loaded_again,
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_class_that_no_file_tells_is_run_and_not_kept(project, store, monkeypatch, make):
    monkeypatch.syspath_prepend(project.folder)
    experiment = Experiment.of(make(project)(0.01), QUADRATIC)
    monkeypatch.delitem(sys.modules, "script_of_a_user", raising=False)
    with pytest.raises(NoSourceError, match=r"Toy of the module .* name it FILE\.py:NAME"):
        store.path(experiment, **OPTIONS)
    with pytest.warns(NotKeptWarning, match="not kept: .*Toy") as told:
        trace = store.trace(experiment, **OPTIONS)
    assert len(told) == 1
    assert trace.specification["method"]["name"] == "toy"
    assert store.find(experiment, **OPTIONS) is None
    assert not list(store.folder.iterdir())


@pytest.mark.long(keep=1)
def test_what_is_held_in_a_field_counts(project, store):
    def path(held):
        problem = replace(project.experiment().problem, laws=(1, [{"name": held}], held))
        return store.path(Experiment.of(GD(0.1), problem), **OPTIONS)

    def paths():
        stranger = project.load("stranger")
        one = stranger.Stranger()
        one.value = 1
        return {path(held) for held in (one, stranger.Stranger(), stranger.Stranger)} | {
            path(stranger.untouched)
        }

    before = paths()
    assert len(before) == 4
    project.change("stranger.py")
    assert before.isdisjoint(paths())
    for unreadable in (made(TOY)(0.01), made("class Toy:\n    pass")(), lambda: 1):
        with pytest.raises(NoSourceError, match=r"(Toy|lambda>) of the module"):
            path(unreadable)


def test_the_origin_stands_in_the_trace(store, monkeypatch):
    """Another commit is no reason to compute again; other data, by its hash, or storage is."""
    dense, sparse, other = (
        Experiment.of(GD(0.1), select_problem("breast-cancer@3", kappa=9.0, **changes))
        for changes in ({"storage": "dense"}, {"storage": "sparse"}, {"seed": 1})
    )
    first = store.trace(dense, **OPTIONS)
    assert set(first.specification["origin"]) == {
        "certibit", "python", "numpy", "scipy", "commit", "storage", "x_star_error"
    }  # fmt: skip
    assert first.specification["origin"]["storage"] == "dense"
    assert 0 < first.specification["origin"]["x_star_error"] < 1e-9
    assert len(first.specification["problem"]["fingerprint"]) == 64
    monkeypatch.setattr("certibit.solvers.runs.engine.commit", lambda root: "another")
    assert simulate(dense, **OPTIONS).specification["origin"]["commit"] == "another"
    assert store.find(dense, **OPTIONS).specification == first.specification
    assert store.find(sparse, **OPTIONS) is None
    assert store.find(other, **OPTIONS) is None


def test_the_commit_is_that_of_a_checkout_or_none(tmp_path):
    assert commit(tmp_path) is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    head = subprocess.run(
        [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    ).stdout.strip()
    commit.cache_clear()
    assert commit(tmp_path) == head
