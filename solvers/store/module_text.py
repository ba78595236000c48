"""The text of modules, and which modules they reach by imports.

Imports are read, not run. What counts is the package and what stands beside a user's file: in its
folder or, if it is part of a package, in the outermost one. Installed libraries do not count.
"""

import ast
import hashlib
import importlib.util
import inspect
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from pathlib import Path
from types import CodeType

from bitbound.data.front_door import imported_names

_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()


@dataclass(frozen=True)
class Module:
    """A module whose text counts.

    Parameters
    ----------
    name : str
        As imports name it.
    parent : str
        The package that its relative imports start from.
    file : Path
        Where its text is.
    home : Path or None
        The folder of a user's modules, in which imports are followed; None inside the package.
    """

    name: str
    parent: str
    file: Path
    home: Path | None

    @property
    def label(self) -> str:
        """What the module is called wherever the user's folder lies."""
        return self.file.relative_to(self.home).as_posix() if self.home else self.name


class ModuleText:
    """The text of a module, and the modules that it imports."""

    def __init__(self, module: Module) -> None:
        self.source = text = module.file.read_bytes()
        self.imports: tuple[Module, ...] = ()
        try:
            tree = ast.parse(self.source)
        except (SyntaxError, ValueError):  # compiled, or not fit to be run
            self.source = b""
        else:
            self.imports = tuple(_imports(tree, module))
            text = _bare(tree).encode()
        self.digest = hashlib.sha256(text).hexdigest()

    @cached_property
    def codes(self) -> frozenset[CodeType]:
        """The code of every class and function."""
        codes = [compile(self.source, "", "exec")]
        for code in codes:
            codes += (part for part in code.co_consts if isinstance(part, CodeType))
        return frozenset(codes)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of every class and function."""
        return frozenset(code.co_qualname for code in self.codes)


_READ: dict[Module, tuple[object, ModuleText]] = {}
"""What was read, and of which loading of the module."""


def module_text(module: Module) -> ModuleText:
    """Read a module, once each time that it is loaded: what runs is what stood there then.

    A user's module that is not loaded yet is read each time, since it may change meanwhile.
    """
    loaded = sys.modules.get(module.name)
    loading = getattr(loaded, "__spec__", None) or loaded
    known, text = _READ.get(module, (None, None))
    if text is None or known is not loading or (loading is None and module.home):
        text = ModuleText(module)
        _READ[module] = loading, text
    return text


def reached_modules(modules: Iterable[Module]) -> set[Module]:
    """Return some modules with all that they import, directly or on a way around."""
    found: set[Module] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += module_text(module).imports
    return found


def is_of_the_package(name: str) -> bool:
    """Say whether a module is one of this package, by its name."""
    return name.partition(".")[0] == _PACKAGE


@cache
def is_installed(file: str) -> bool:
    """Say whether a file is of Python or of an installed library."""
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(path.parts)


def home_folder(file: Path) -> Path:
    """Return the folder of the modules that belong to a user's file, or the file if alone."""
    folder = file.parent
    if folder.name in _INSTALLED:
        return file
    if (folder / "__init__.py").is_file():
        while (folder.parent / "__init__.py").is_file():
            folder = folder.parent
    return folder


def _is_beside(file: Path, home: Path) -> bool:
    """Say whether a module lies in the folder of a user's modules, libraries there left out."""
    return (
        file.is_relative_to(home)
        and _INSTALLED.isdisjoint(file.relative_to(home).parts)
        and not file.is_relative_to(_STANDARD)
    )


def _bare(tree: ast.Module) -> str:
    """Return program text without comments, layout and docstrings, which are lost to the tree."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [  # type: ignore[attr-defined]
                part
                for part in body
                if not (isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant))
            ]
    return ast.dump(tree)


def _imports(tree: ast.Module, module: Module) -> Iterator[Module]:
    """Yield the modules that a module imports anywhere in its text, those of libraries left out."""
    for name in _imported_names(tree, module):
        specification = _specification(name)
        if specification is None or specification.origin is None or not specification.has_location:
            continue
        file = Path(specification.origin).resolve()
        if is_of_the_package(name):
            yield Module(name, specification.parent or "", file, None)
        elif module.home and _is_beside(file, module.home):
            yield Module(name, specification.parent or "", file, module.home)


def _imported_names(tree: ast.Module, module: Module) -> set[str]:
    """Return what may be names of modules in import statements, and the packages around the text.

    What is taken from the front door of the package comes from where the front door has it from.
    """
    names = set(accumulate(module.parent.split("."), "{}.{}".format)) - {"", _PACKAGE}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            try:
                source = importlib.util.resolve_name(source, module.parent)
            except ImportError:  # it cannot be run
                continue
            for alias in node.names:
                origin = _front_door().get(alias.name, source) if source == _PACKAGE else source
                names |= {origin, f"{origin}.{alias.name}"}
    return names


@cache
def _front_door() -> Mapping[str, str]:
    """Return the module that each public name of the package is imported from."""
    return imported_names(inspect.getsource(sys.modules[_PACKAGE]))


def _specification(name: str) -> ModuleSpec | None:
    """Find a module by its name without running anything; None if there is none."""
    parent = name.rpartition(".")[0]
    try:
        if not parent or parent in sys.modules:
            return importlib.util.find_spec(name)
        package = _specification(parent)
        folders = package.submodule_search_locations if package else None
        return PathFinder.find_spec(name, folders) if folders else None
    except (ImportError, AttributeError, ValueError):  # no package; a module made by hand
        return None
