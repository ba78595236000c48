"""What a result depends on is in the key of its trace: another program is run, the same is not."""

import inspect
import platform
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy
from user_project import OPTIONS, QUADRATIC, STRANGERS, USER, Project, method_of

from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.methods.gd import GD
from bitbound.solvers.methods.tamuna import TAMUNA
from bitbound.solvers.store.program_text import program
from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.cards.from_file import card_from_file


@pytest.mark.parametrize("name", USER)
def test_a_changed_program_is_run_again(project, store, name):
    before = store.trace(Experiment.of(*project.experiment()), **OPTIONS)
    project.change(name, "body")
    experiment = project.experiment()
    assert store.find(Experiment.of(*experiment), **OPTIONS) is None
    assert store.trace(Experiment.of(*experiment), **OPTIONS).specification == before.specification
    assert len(list(store.folder.iterdir())) == 2


@pytest.mark.parametrize("change", ["comment", "docstring", "layout"])
def test_a_changed_comment_is_not(project, store, change):
    before = store.path(Experiment.of(*project.experiment()), **OPTIONS)
    for name in USER:
        project.change(name, change)
    assert store.path(Experiment.of(*project.experiment()), **OPTIONS) == before


@pytest.mark.parametrize("name", STRANGERS)
def test_what_is_not_reached_does_not_count(project, store, name):
    before = store.path(Experiment.of(*project.experiment()), **OPTIONS)
    project.change(name, "body")
    assert store.path(Experiment.of(*project.experiment()), **OPTIONS) == before


def test_the_folder_does_not_count(project, store, monkeypatch):
    before = store.path(Experiment.of(*project.experiment()), **OPTIONS)
    moved = Project(project.folder / "moved")
    monkeypatch.syspath_prepend(moved.folder)
    assert store.path(Experiment.of(*moved.experiment()), **OPTIONS) == before
    assert moved.load("mine").__file__ == str(moved.folder / "mine.py")


def test_a_part_of_the_compressor_that_its_name_does_not_tell(project, store):
    method, problem, sent = project.experiment()
    other = type(sent)(2, part=type(sent.part)(2.0))
    assert other.name == sent.name
    paths = [store.path(Experiment.of(method, problem, each), **OPTIONS) for each in (sent, other)]
    assert len(set(paths)) == 2


def test_another_class_with_the_same_name_and_parameters(project, store):
    method, problem, sent = project.experiment()
    copy = project.load("parent").DIANA
    paths = {
        store.path(Experiment.of(method, problem, sent), **OPTIONS),
        store.path(Experiment.of(method_of(DIANA), problem, sent), **OPTIONS),
        store.path(Experiment.of(method_of(copy), problem, sent), **OPTIONS),
        store.path(Experiment.of(method, QUADRATIC, sent), **OPTIONS),
        store.path(Experiment.of(method, problem, RandK(2)), **OPTIONS),
    }
    assert method_of(copy).name == method_of(DIANA).name
    assert problem.specification == QUADRATIC.specification
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
    before = store.path(Experiment.of(method_of(DIANA), QUADRATIC, RandK(2)), **OPTIONS)
    monkeypatch.setattr(owner, name, version)
    assert store.path(Experiment.of(method_of(DIANA), QUADRATIC, RandK(2)), **OPTIONS) != before


def test_a_method_from_a_file_and_its_neighbour(project, store):
    def path():
        _, problem, compressor = project.experiment()
        method = method_of(card_from_file(project.folder / "mine.py").method)
        return store.path(Experiment.of(method, problem, compressor), **OPTIONS)

    before = path()
    assert path() == before
    project.change("parent.py", "body")
    assert path() != before


def test_a_copy_of_tamuna_depends_on_its_copy_of_scaffnew(project):
    folder = project.folder
    for kind in (TAMUNA, TAMUNA.__bases__[0], GD):
        text = inspect.getsource(inspect.getmodule(kind))
        text = text.replace("bitbound.solvers.methods.scaffnew", "scaffnew")
        (folder / Path(inspect.getfile(kind)).name).write_text(text)

    def texts():
        project.unload()
        return [
            program(vars(project.load(name))[kind])
            for name, kind in (("tamuna", "TAMUNA"), ("scaffnew", "Scaffnew"), ("gd", "GD"))
        ]

    before = texts()
    text = (folder / "scaffnew.py").read_text()
    assert "self.gamma" in text
    (folder / "scaffnew.py").write_text(text.replace("self.gamma", "2 * self.gamma"))
    assert [old == new for old, new in zip(before, texts(), strict=True)] == [False, False, True]


def test_what_runs_counts_though_the_file_is_changed_meanwhile(project, store):
    experiment = project.experiment()
    project.load("later")
    before = store.path(Experiment.of(*experiment), **OPTIONS)
    for name in USER:
        project.change(name, "body")
    assert store.path(Experiment.of(*experiment), **OPTIONS) == before
    assert store.path(Experiment.of(*project.experiment()), **OPTIONS) != before


def test_a_key_is_found_without_reading_again(project, store, monkeypatch):
    experiment = project.experiment()
    project.load("later")
    path = store.path(Experiment.of(*experiment), **OPTIONS)

    def refuse_loaded(path):
        """Refuse the text of what has been imported; the rest may have changed."""
        assert path not in loaded, "it is read again"
        return read(path)

    loaded = {Path(m.__file__) for m in sys.modules.values() if getattr(m, "__file__", None)}
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", refuse_loaded)
    assert store.path(Experiment.of(*experiment), **OPTIONS) == path
