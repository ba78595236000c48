"""A class that no file tells is run, and its trace is not kept."""

import importlib
import subprocess
import sys
from dataclasses import replace

import pytest
from user_project import OPTIONS, QUADRATIC, TOY, made

from certibit import GD, Experiment
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.runs.engine import commit, simulate
from certibit.solvers.store.store import NoSourceError, NotKeptWarning


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


HOLDERS = {
    "itself": lambda held: held,
    "tuple": lambda held: (1, held),
    "list": lambda held: [[held]],
    "dict": lambda held: {"name": held},
}


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_is_held_in_a_field_counts(project, store, hold):
    def path(held):
        problem = replace(project.experiment().problem, laws=hold(held))
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
