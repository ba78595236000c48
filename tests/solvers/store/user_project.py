"""Files of a user in a folder, and what an experiment with them is made of."""

import inspect
import textwrap
from dataclasses import fields
from pathlib import Path

from certibit import DIANA, Budget, Experiment, Quadratic, parameters
from certibit.data.own.own_file import load_file
from certibit.solvers.compressors.selection import RandK

OPTIONS = {"seeds": 1, "budget": Budget(rounds=3)}
QUADRATIC = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)

VALUE = "\nVALUE = 1.0\n"
USER = {
    "mine.py": """
        import importlib
        from dataclasses import dataclass
        from typing import ClassVar
        import installed
        from parent import DIANA
        from pack import alone
        from pack.steps import VALUE as SCALE
        import spaces.plain
        named = __import__("named")
        sought = importlib.import_module("sought")
        beside = importlib.import_module(".beside", __package__)
        import linked

        @dataclass(frozen=True)
        class Mine(DIANA):
            name = "mine"
        """,
    "parent.py": inspect.getsource(inspect.getmodule(DIANA)),
    "named.py": "",
    "sought.py": "",
    "beside.py": "",
    "elsewhere/linked.py": "",
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
        from certibit.solvers.compressors.selection import RandK

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
        from certibit.data.problems.quadratic import Quadratic
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
    "stranger.py": "class Stranger:\n    pass\n\n\ndef untouched():\n    return 1",
    "pack/stranger.py": "",
    "lib/site-packages/installed.py": "",
}


class Project:
    """Files of a user in a folder, and what an experiment with them is made of."""

    def __init__(self, folder: Path):
        self.folder = folder
        for name, text in (USER | STRANGERS).items():
            self.write(name, textwrap.dedent(text) + VALUE)
        (folder / "linked.py").symlink_to(folder / "elsewhere" / "linked.py")

    def write(self, name: str, text: str) -> None:
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")

    def change(self, name: str) -> None:
        text = (self.folder / name).read_text()
        assert VALUE in text
        self.write(name, text.replace(VALUE, "\nVALUE = 2.0\n"))

    def load(self, name: str):
        return load_file(self.folder / f"{name}.py", "anything")

    def experiment(self):
        """Load what has changed and return an experiment."""
        compressor = self.load("sent").Sent(2)
        problem = self.load("world").World.random(3, 5, mu=1.0, L=20.0, seed=0)
        return Experiment.of(method_of(self.load("mine").Mine), problem, compressor)


def method_of(kind: type[DIANA]) -> DIANA:
    known = parameters("diana", QUADRATIC, RandK(2))
    return kind(**{field.name: getattr(known, field.name) for field in fields(kind)})


TOY = """
from dataclasses import dataclass
from typing import ClassVar
from certibit.solvers.methods.gd import GD

@dataclass(frozen=True)
class Toy(GD):
    name = "toy"
"""


def made(text: str, **names):
    exec(text, names)
    return names["Toy"]
