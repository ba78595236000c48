"""The program text that a result depends on: every module that its parts reach by imports.

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
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, cached_property
from importlib.machinery import ModuleSpec, PathFinder
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.data.front_door import imported_names

_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_WRAPPED = ("__func__", "fget", "func")
"""Where methods of a class, properties and cached properties hold their function."""


class NoSourceError(Refusal):
    """A class or function that stands in no file, so that nothing can be kept under its text."""


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


class _Text:
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


_READ: dict[Module, tuple[object, _Text]] = {}
"""What was read, and of which loading of the module."""


def program(*values: Any) -> dict[str, Any]:
    """Return what defines some classes, functions, or objects with all their parts, for JSON.

    Returns
    -------
    dict
        ``definitions`` are the names of the classes and functions, ``modules`` the digests of the
        modules that they reach. Comments, docstrings and layout do not count.

    Raises
    ------
    NoSourceError
        If a class or function is not what stands in a file: it was made at a prompt, in a
        notebook, by ``exec`` or inside a function, or its file has changed since it was loaded.
    """
    things = {
        thing: _module_of(thing)
        for thing in dict.fromkeys(part for value in values for part in _definitions(value))
    }
    modules = _reached(things.values())
    return {
        "definitions": [_name(thing, module) for thing, module in things.items()],
        "modules": sorted({(module.label, _text(module).digest) for module in modules}),
    }


def description(value: Any) -> Any:
    """Return a value, such as a compressor, by the classes and fields of its parts, for JSON."""
    if isinstance(value, type | FunctionType):
        return _name(value, _module_of(value))
    if is_dataclass(value):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return [description(type(value)), description(parts)]
    if isinstance(value, dict):
        return {key: description(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [description(part) for part in value]
    return value.tolist() if hasattr(value, "tolist") else value


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


def _reached(modules: Iterable[Module]) -> set[Module]:
    """Return some modules with all that they import, directly or on a way around."""
    found: set[Module] = set()
    waiting = list(modules)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += _text(module).imports
    return found


def _name(thing: Any, module: Module) -> str:
    return f"{module.label}:{thing.__qualname__}"


def _definitions(value: Any) -> Iterator[Any]:
    """Yield the classes and functions that make a value, with parents and parts."""
    if isinstance(value, FunctionType):
        yield value
    elif isinstance(value, type):
        yield from (parent for parent in value.__mro__ if not _is_of_a_library(parent))
    else:
        yield from _definitions(type(value))
        for part in _parts(value):
            yield from _definitions(part)


def _parts(value: Any) -> Iterable[Any]:
    if is_dataclass(value):
        return [getattr(value, field.name) for field in fields(value)]
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def _is_of_a_library(kind: type) -> bool:
    """Say whether a class is of Python or an installed library, and derived from none of ours."""
    if any(_is_ours(parent.__module__) for parent in kind.__mro__):
        return False
    if "__module__" not in vars(kind):  # written in C
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:  # a class made by exec says that it is of builtins
        return kind.__module__ in sys.stdlib_module_names - {"builtins"}
    return _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(path.parts)


def _module_of(thing: Any) -> Module:
    """Return the module of a class or function, or refuse one that does not stand in its file."""
    name = f"{thing.__qualname__} of the module {thing.__module__}"
    loaded = sys.modules.get(thing.__module__)
    file = Path(getattr(loaded, "__file__", None) or "")
    if loaded is None or not file.is_file():
        raise NoSourceError(
            f"{name} was made at a prompt or by exec, where its text cannot be read; "
            "write it in a file"
        )
    module = _module(thing.__module__, loaded.__package__ or "", str(file))
    if not _stands_in(thing, loaded, _text(module)):
        raise NoSourceError(
            f"{name} is not what stands in {file}: it was made by exec or inside a function, or "
            "the file has changed; write it at the top of a file, and load the file again"
        )
    return module


@cache
def _module(name: str, parent: str, file: str) -> Module:
    """Return a module that a class or function says it is of."""
    place = Path(file).resolve()
    return Module(name, parent, place, None if _is_ours(name) else _home(place))


def _home(file: Path) -> Path:
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


def _is_ours(name: str) -> bool:
    return name.partition(".")[0] == _PACKAGE


def _stands_in(thing: Any, loaded: ModuleType, text: _Text) -> bool:
    """Say whether a class or function is the one that its module and the module's text define."""
    try:
        found = attrgetter(thing.__qualname__)(loaded)
    except AttributeError:
        return False
    return found is thing and thing.__qualname__ in text.names and _codes(thing) <= text.codes


def _codes(thing: Any) -> set[CodeType]:
    """Return the code of a function, or of the functions in the body of a class.

    What a decorator has put in their place, such as the methods of a dataclass, is left out.
    """
    values = [thing] if isinstance(thing, FunctionType) else vars(thing).values()
    functions = [
        function
        for value in values
        for function in (value, *(getattr(value, name, None) for name in _WRAPPED))
    ]
    codes = [function.__code__ for function in functions if isinstance(function, FunctionType)]
    return {code for code in codes if f"{code.co_qualname}.".startswith(f"{thing.__qualname__}.")}


def _text(module: Module) -> _Text:
    """Read a module, once each time that it is loaded: what runs is what stood there then.

    A user's module that is not loaded yet is read each time, since it may change meanwhile.
    """
    loaded = sys.modules.get(module.name)
    loading = getattr(loaded, "__spec__", None) or loaded
    known, text = _READ.get(module, (None, None))
    if text is None or known is not loading or (loading is None and module.home):
        text = _Text(module)
        _READ[module] = loading, text
    return text


def _imports(tree: ast.Module, module: Module) -> Iterator[Module]:
    """Yield the modules that a module imports anywhere in its text, those of libraries left out."""
    for name in _imported_names(tree, module):
        specification = _specification(name)
        if specification is None or specification.origin is None or not specification.has_location:
            continue
        file = Path(specification.origin).resolve()
        if _is_ours(name):
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
