"""Which modules a program reaches, and none of the others."""

import importlib
import json
import pkgutil
from pathlib import Path

import pytest
from user_project import OPTIONS, QUADRATIC, TOY, modules

from bitbound.solvers import methods
from bitbound.solvers.compressors.composition import Scaled
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.method import Method
from bitbound.solvers.methods.tamuna import TAMUNA
from bitbound.solvers.runs.engine import simulate
from bitbound.solvers.store import module_text
from bitbound.solvers.store.program_text import description, program
from bitbound.solvers.world.experiment import Experiment
from bitbound.theory.cards.catalogue import parameters


def test_a_compressor_is_described_with_the_class_of_every_part():
    package = "bitbound.solvers.compressors"
    inner = [f"{package}.selection:RandK", {"k": 2, "shared": False}]
    assert description(Scaled(RandK(2))) == [f"{package}.composition:Scaled", {"inner": inner}]


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
    assert not module_text._is_beside(file, file.parents[2])


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
    monkeypatch.setattr(module_text, "_READ", {})
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
