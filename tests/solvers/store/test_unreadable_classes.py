"""A class that no file tells is run, and its trace is not kept."""

import importlib
import subprocess
import sys
from dataclasses import replace

import pytest
from user_project import OPTIONS, QUADRATIC, TOY, made

from bitbound.solvers.methods.gd import GD
from bitbound.solvers.store.program_text import NoSourceError, program
from bitbound.solvers.store.store import NotKeptWarning
from bitbound.solvers.world.experiment import Experiment

PRINTED = """
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.store.store import Store
from bitbound.solvers.world.experiment import Experiment

if __name__ == "__main__":
    problem = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)
    store = Store("traces")
    store.trace(Experiment.of(Toy(0.01), problem), seeds=1, budget=Budget(rounds=3))
    experiment = Experiment.of(Toy(0.01), problem)
    print(store.find(experiment, seeds=1, budget=Budget(rounds=3)) is not None)
"""


def made_in_a_module(project):
    exec(TOY, vars(project.load("mine")))
    return project.load("mine").Toy


def made_in_a_function(project):
    class Toy(GD):
        name = "toy"

    return Toy


def made_anew_under_its_name(project):
    (project.folder / "toy.py").write_text(TOY + "\n    def unused(self):\n        return 1\n")
    exec(TOY + "\n    def unused(self):\n        return 2\n", vars(project.load("toy")))
    return project.load("toy").Toy


def changed_since_it_was_loaded(project):
    (project.folder / "toy.py").write_text(TOY + "\n    def unused(self):\n        return 1\n")
    toy = project.load("toy").Toy
    (project.folder / "toy.py").write_text(TOY + "\n    def unused(self):\n        return 2\n")
    return toy


def loaded_twice(project):
    (project.folder / "toy.py").write_text(TOY)
    toy = project.load("toy").Toy
    importlib.reload(project.load("toy"))
    return toy


def patched_at_a_prompt(project):
    (project.folder / "toy.py").write_text(TOY + "\n    def unused(self):\n        return 1\n")
    toy = project.load("toy").Toy
    exec(
        "class Toy:\n    def unused(self):\n        return 2\ntoy.unused = Toy.unused", {"toy": toy}
    )
    return toy


UNREADABLE = {
    "nowhere": lambda project: made(TOY),
    "main": lambda project: made(TOY, __name__="__main__"),
    "elsewhere": lambda project: made(TOY, __name__="of_no_file"),
    "module": made_in_a_module,
    "function": made_in_a_function,
    "again": made_anew_under_its_name,
    "changed": changed_since_it_was_loaded,
    "twice": loaded_twice,
    "patched": patched_at_a_prompt,
}


@pytest.mark.parametrize("make", UNREADABLE.values(), ids=UNREADABLE)
def test_a_class_that_no_file_tells_is_run_and_not_kept(project, store, make):
    method = make(project)(0.01)
    with pytest.raises(NoSourceError, match=r"Toy of the module"):
        store.path(Experiment.of(method, QUADRATIC), **OPTIONS)
    with pytest.warns(NotKeptWarning, match=r"not kept: .*Toy") as told:
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
    "problem": lambda held: replace(QUADRATIC, name=held),
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
def test_what_is_held_in_a_field_counts(project, hold):
    _, problem, _ = project.experiment()
    stranger = project.load("stranger")
    text = program(replace(problem, laws=hold(stranger.Stranger())))
    assert "stranger.py:Stranger" in text["definitions"]
    assert "stranger.py" in dict(text["modules"])
    text = program(replace(problem, laws=hold(stranger.untouched)))
    assert "stranger.py:untouched" in text["definitions"]
    for unreadable in (lambda: 1, made(TOY)(0.01), made("class Toy:\n    pass")()):
        with pytest.raises(NoSourceError, match=r"(<lambda>|Toy) of the module"):
            program(replace(problem, laws=hold(unreadable)))


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
