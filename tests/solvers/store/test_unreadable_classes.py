"""A class that no file tells is run, and its trace is not kept."""

import subprocess
import sys
from dataclasses import replace

import pytest
from user_project import OPTIONS, QUADRATIC, TOY, made

from certibit import GD, Experiment
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.runs.engine import commit, simulate
from certibit.solvers.store.store import NoSourceError, NotKeptWarning

PRINTED = """
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.budget import Budget
from certibit.solvers.store.store import Store
from certibit.solvers.simulation.experiment import Experiment

if __name__ == "__main__":
    problem = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)
    store = Store("traces")
    store.trace(Experiment.of(Toy(0.01), problem), seeds=1, budget=Budget(rounds=3))
    experiment = Experiment.of(Toy(0.01), problem)
    print(store.find(experiment, seeds=1, budget=Budget(rounds=3)) is not None)
"""
MORE = "\n    def unused(self):\n        return 1\n"


def made_in_a_function(project):
    class Toy(GD):
        name = "toy"

    return Toy


def made_anew_under_its_name(project):
    project.write("toy.py", TOY + MORE)
    exec(TOY + MORE, vars(project.load("toy")))
    return project.load("toy").Toy


def loaded_again(project):
    project.write("toy.py", TOY)
    toy = project.load("toy").Toy
    project.write("toy.py", TOY + MORE)
    project.load("toy")
    return toy


def patched_at_a_prompt(project):
    project.write("toy.py", TOY + MORE)
    toy = project.load("toy").Toy
    exec("toy.unused = lambda self: 2", {"toy": toy})
    return toy


UNREADABLE = {
    "nowhere": lambda project: made(TOY),
    "main": lambda project: made(TOY, __name__="__main__"),
    "elsewhere": lambda project: made(TOY, __name__="of_no_file"),
    "function": made_in_a_function,
    "again": made_anew_under_its_name,
    "twice": loaded_again,
    "patched": patched_at_a_prompt,
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_class_that_no_file_tells_is_run_and_not_kept(project, store, make):
    method = make(project)(0.01)
    with pytest.raises(NoSourceError, match=r"(Toy|<lambda>) of the module"):
        store.path(Experiment.of(method, QUADRATIC), **OPTIONS)
    with pytest.warns(NotKeptWarning, match=r"not kept: .*(Toy|lambda)") as told:
        trace = store.trace(Experiment.of(method, QUADRATIC), **OPTIONS)
    assert len(told) == 1
    assert trace.specification["method"]["name"] == "toy"
    assert store.find(Experiment.of(method, QUADRATIC), **OPTIONS) is None
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

    stranger = project.load("stranger")
    one = stranger.Stranger()
    one.value = 1
    paths = [
        path(stranger.Stranger()),
        path(stranger.Stranger),
        path(one),
        path(stranger.untouched),
    ]
    assert len(set(paths)) == 4
    project.change("stranger.py")
    stranger = project.load("stranger")
    again = [path(stranger.Stranger()), path(stranger.Stranger)]
    assert set(again).isdisjoint(paths)
    for unreadable in (made(TOY)(0.01), made("class Toy:\n    pass")()):
        with pytest.raises(NoSourceError, match="Toy of the module"):
            path(unreadable)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("read", ["file", "prompt"])
def test_a_script_is_kept_and_what_is_typed_is_not(tmp_path, read):
    script = tmp_path / "script.py"
    script.write_text(TOY + PRINTED)
    command = [sys.executable, *([script] if read == "file" else [])]
    text = TOY + PRINTED if read == "prompt" else ""
    done = subprocess.run(
        command, input=text, cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{read == 'file'}\n"
    assert done.stderr.count("NotKeptWarning") == (read == "prompt")


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
