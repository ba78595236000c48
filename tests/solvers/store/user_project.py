"""Files of a user in a folder, and what an experiment with them is made of."""

import importlib
import inspect
import sys
import textwrap
from dataclasses import fields
from pathlib import Path

from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.selection import RandK
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.store.program_text import program
from bitbound.theory.cards.catalogue import parameters

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


TOY = """
from dataclasses import dataclass
from typing import ClassVar
from bitbound.solvers.methods.gd import GD

@dataclass(frozen=True)
class Toy(GD):
    name: ClassVar[str] = "toy"
"""


def made(text: str, **names):
    exec(text, names)
    return names["Toy"]


def modules(*values) -> set[str]:
    return {name for name, _ in program(*values)["modules"]}
