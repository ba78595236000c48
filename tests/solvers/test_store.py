"""Keys of stored traces: whatever a result depends on is in them, and nothing else is."""

import importlib
import inspect
import json
import pkgutil
import platform
import subprocess
import sys
import textwrap
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import scipy

from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.selector import problem as select_problem
from bitbound.solvers import methods
from bitbound.solvers.compressors.composition import Scaled
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.method import Method
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.methods.gd import GD
from bitbound.solvers.methods.tamuna import TAMUNA
from bitbound.solvers.runs import program_text
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.runs.engine import simulate
from bitbound.solvers.runs.origin import commit
from bitbound.solvers.runs.program_text import NoSourceError, description, program
from bitbound.solvers.runs.store import NotKeptWarning, Store
from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.cards.catalogue import parameters
from bitbound.theory.cards.from_file import card_from_file

OPTIONS = {"seeds": 1, "budget": Budget(rounds=3)}
QUADRATIC = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)

VALUE = '\nVALUE = 1.0  # first\n\n\ndef untouched():\n    """First."""\n    return 1\n'
USER = {
    "mine.py": """
        from dataclasses import dataclass
        from typing import ClassVar
        import installed
        from parent import DIANA
        from pack import alone
        from pack.steps import VALUE as SCALE

        @dataclass(frozen=True)
        class Mine(DIANA):
            name: ClassVar[str] = "mine"

            def local_step(self, s, problem, channel):
                from later import VALUE as SHIFT
                return s
        """,
    "parent.py": inspect.getsource(inspect.getmodule(DIANA)),
    "later.py": "import spaces.plain",
    "spaces/plain.py": "",
    "pack/__init__.py": "",
    "pack/steps.py": "from . import inner\nfrom .inner.numbers import VALUE as NUMBER",
    "pack/inner/__init__.py": "",
    "pack/inner/numbers.py": "from ..top import VALUE as TOP",
    "pack/alone.py": "",
    "pack/top.py": "from pack import steps",
    "sent.py": """
        from dataclasses import dataclass
        from part import Part
        from bitbound.solvers.compressors.selection import RandK

        @dataclass(frozen=True)
        class Sent(RandK):
            part: Part = Part()

            @property
            def name(self):
                return "sent"
        """,
    "part.py": """
        from dataclasses import dataclass

        @dataclass(frozen=True)
        class Part:
            value: float = 1.0
        """,
    "world.py": """
        from dataclasses import dataclass
        from bitbound.data.problems.quadratic import Quadratic
        from laws.deep.law import LAW, Law

        @dataclass(frozen=True, eq=False, kw_only=True)
        class World(Quadratic):
            laws: tuple[Law, ...] = (LAW,)
        """,
    "laws/__init__.py": "",
    "laws/deep/__init__.py": "",
    "laws/deep/law.py": """
        from laws.deep.base import Base

        class Law(Base):
            pass

        LAW = Law()
        """,
    "laws/deep/base.py": "class Base:\n    pass",
}
STRANGERS = {
    "stranger.py": "class Stranger:\n    pass",
    "pack/stranger.py": "",
    "lib/site-packages/installed.py": "",
}
CHANGES = {
    "body": ("return 1", "return 2"),
    "comment": ("# first", "# second\n# and more"),
    "docstring": ('"""First."""', '"""Second.\n\n    And more.\n    """'),
    "layout": ("return 1", "return (\n        1\n    )"),
}


class Project:
    """Files of a user in a folder, and what an experiment with them is made of."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name, text in (USER | STRANGERS).items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(textwrap.dedent(text) + "\n" + VALUE)

    def change(self, name: str, change: str) -> None:
        text = (self.folder / name).read_text()
        before, after = CHANGES[change]
        assert before in text
        (self.folder / name).write_text(text.replace(before, after))

    def load(self, name: str):
        return importlib.import_module(name)

    def unload(self) -> None:
        roots = self.folder, self.folder / "lib" / "site-packages"
        names = {path.stem for root in roots for path in root.iterdir()}
        for name in [name for name in sys.modules if name.partition(".")[0] in names]:
            del sys.modules[name]

    def experiment(self):
        """Load everything anew and return a method, a problem and a compressor."""
        self.unload()
        compressor = self.load("sent").Sent(2)
        problem = self.load("world").World.random(3, 5, mu=1.0, L=20.0, seed=0)
        return method_of(self.load("mine").Mine), problem, compressor


def method_of(kind: type[DIANA]) -> DIANA:
    known = parameters("diana", QUADRATIC, RandK(2))
    return kind(**{field.name: getattr(known, field.name) for field in fields(kind)})


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A user's project; what it leaves among the loaded modules is taken away again."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "lib" / "site-packages")
    project = Project(tmp_path)
    yield project
    project.unload()


@pytest.fixture
def store(tmp_path_factory):
    return Store(tmp_path_factory.mktemp("traces"))


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


TOY = """
from dataclasses import dataclass
from typing import ClassVar
from bitbound.solvers.methods.gd import GD

@dataclass(frozen=True)
class Toy(GD):
    name: ClassVar[str] = "toy"
"""
PRINTED = """
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.runs.store import Store
from bitbound.solvers.world.experiment import Experiment

if __name__ == "__main__":
    problem = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)
    store = Store("traces")
    store.trace(Experiment.of(Toy(0.01), problem), seeds=1, budget=Budget(rounds=3))
    experiment = Experiment.of(Toy(0.01), problem)
    print(store.find(experiment, seeds=1, budget=Budget(rounds=3)) is not None)
"""


def made(text: str, **names):
    exec(text, names)
    return names["Toy"]


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


def test_a_compressor_is_described_with_the_class_of_every_part():
    package = "bitbound.solvers.compressors"
    inner = [f"{package}.selection:RandK", {"k": 2, "shared": False}]
    assert description(Scaled(RandK(2))) == [f"{package}.composition:Scaled", {"inner": inner}]


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


def modules(*values) -> set[str]:
    return {name for name, _ in program(*values)["modules"]}


def test_a_class_in_a_package_reaches_the_package_only(project):
    (project.folder / "laws" / "unit.py").write_text("")
    (project.folder / "laws" / "deep" / "law.py").write_text(
        "import stranger\nfrom laws import unit\n\n\nclass Law:\n    pass\n"
    )
    law = project.load("laws.deep.law").Law
    assert modules(law) == {"__init__.py", "unit.py", "deep/__init__.py", "deep/law.py"}


def test_an_installed_method_counts_but_not_what_is_installed_beside_it(project):
    folder = project.folder / "lib" / "site-packages"
    (folder / "toy.py").write_text(f"import installed\n{TOY}")
    toy = project.load("toy").Toy
    own = [module for module in program(toy)["modules"] if not module[0].startswith("bitbound")]
    (folder / "toy.py").write_text(f"import installed\n{TOY}\nvalue = 1\n")
    project.unload()
    assert len(own) == 1
    assert own[0] not in program(project.load("toy").Toy)["modules"]


def test_the_standard_library_is_not_beside_a_file_in_a_folder_above_it():
    file = Path(json.__file__).resolve()
    assert not program_text._is_beside(file, file.parents[2])


METHODS = {"scaffnew", "compressed-scaffnew", "tamuna", "diana", "5gcs-cc", "gd"}
DEPENDING = {
    "scaffnew.py": {"scaffnew", "compressed-scaffnew", "tamuna"},
    "tamuna.py": {"tamuna"},
    "diana.py": {"diana"},
    "local_solve.py": {"5gcs-cc"},
    "selection.py": {"diana", "5gcs-cc"},
    "engine.py": METHODS,
    "tape.py": METHODS,
    "quadratic.py": METHODS,
    "logistic.py": METHODS,  # as its gradients may be lazy, which the engine knows
    "multinomial.py": set(),
    "catalogue.py": set(),
}


@pytest.mark.parametrize("changed", DEPENDING)
def test_a_changed_file_of_the_package_changes_the_keys_that_it_should(store, monkeypatch, changed):
    def path(name):
        compressor = RandK(2) if name in ("diana", "5gcs-cc") else None
        method = parameters(name, QUADRATIC, compressor)
        return store.path(Experiment.of(method, QUADRATIC, compressor), **OPTIONS)

    def read_changed(file):
        return read(file) + b"\nvalue = 1\n" * (file.name == changed)

    before, read = {name: path(name) for name in METHODS}, Path.read_bytes
    monkeypatch.setattr(program_text, "_READ", {})
    monkeypatch.setattr(Path, "read_bytes", read_changed)
    assert {name for name in METHODS if path(name) != before[name]} == DEPENDING[changed]


def test_what_tamuna_reaches():
    reached = modules(TAMUNA)
    assert "bitbound.solvers.methods.scaffnew" in reached
    assert "bitbound.solvers.methods.diana" not in reached


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(methods.__path__)])
def test_a_method_reaches_neither_other_methods_nor_the_rooms_above(name):
    module = importlib.import_module(f"{methods.__name__}.{name}")
    (method,) = (kind for kind in vars(module).values() if is_method_of(kind, module))
    parents = {parent.__module__ for parent in method.__mro__}
    for reached in modules(method, simulate):
        assert reached.startswith(("bitbound.data", "bitbound.solvers"))
        assert reached in parents or not reached.startswith(f"{methods.__name__}.")


def is_method_of(kind, module) -> bool:
    return (
        isinstance(kind, type) and issubclass(kind, Method) and kind.__module__ == module.__name__
    )


def test_a_composed_compressor_is_made_of_its_parts():
    definitions = program(Scaled(RandK(2)))["definitions"]
    assert "bitbound.solvers.compressors.composition:Scaled" in definitions
    assert "bitbound.solvers.compressors.selection:RandK" in definitions


@pytest.mark.parametrize(
    ("statement", "reached"),
    [
        ("from bitbound import Method, Refusal", False),
        ("from bitbound.solvers.methods.gd import GD", False),
        ("import bitbound.solvers.methods.gd as gd", False),
        ("import bitbound", True),
        ("from bitbound import METHODS", True),
        ("from bitbound import *", True),
    ],
)
def test_what_is_taken_from_the_front_door_comes_from_where_it_has_it(project, statement, reached):
    (project.folder / "toy.py").write_text(f"{statement}\n{TOY}")
    assert ("bitbound.theory.cards.catalogue" in modules(project.load("toy").Toy)) is reached


def test_the_origin_stands_in_the_trace(store, monkeypatch):
    """Another commit is no reason to compute again; other data, by its hash, or storage is."""
    dense, sparse, other = (
        Experiment.of(GD(0.1), select_problem("breast-cancer@3", kappa=9.0, **changes))
        for changes in ({"storage": "dense"}, {"storage": "sparse"}, {"seed": 1})
    )
    first = store.trace(dense, **OPTIONS)
    assert set(first.specification["origin"]) == {
        "bitbound", "python", "numpy", "scipy", "commit", "storage"
    }  # fmt: skip
    assert first.specification["origin"]["storage"] == "dense"
    assert len(first.specification["problem"]["fingerprint"]) == 64
    monkeypatch.setattr("bitbound.solvers.runs.origin.commit", lambda root: "another")
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
