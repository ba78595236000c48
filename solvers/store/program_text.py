"""The text of the package and of a user's modules, and the values that they read."""

import hashlib
import sys
import sysconfig
import time
from collections.abc import Collection, Iterable, Iterator
from functools import cache, cached_property
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.front_door import STARTED
from certibit.data.own.description import Met, description, module_of, name_of
from certibit.data.own.own_modules import is_own_module, own_texts, plain_name

_PACKAGE = __name__.partition(".")[0]
_INSTALLED = {"site-packages", "dist-packages"}
_STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
_SCRIPTS = {"__main__", "__mp_main__"}


class NoSourceError(Refusal):
    """A program whose text is not known, so that nothing can be kept under it."""


class NotKeptWarning(UserWarning):
    """A result is not kept, as there is no program text to keep it under."""


def program(*values: Any, rooms: tuple[str, ...] = ("data", "solvers")) -> dict[str, Any]:
    """Return what decides what some objects do, as JSON values.

    Parameters
    ----------
    *values : any
        Methods, compressors, parts of problems, with all that they hold.
    rooms : tuple of str
        The folders of the package whose text counts, all of it.

    Returns
    -------
    dict
        ``values``, described; ``classes``: their attributes as they are now; ``package``: one
        digest. If a class or function is a user's: ``modules``, the digests of the modules that
        his file has imported and of all that are loaded from elsewhere than the standard library
        and installed distributions; ``globals``, what functions read in those of these modules
        that are reached from the classes and functions, as it is now.

    Raises
    ------
    NoSourceError
        If a class or function was made at a prompt, by ``exec`` or inside a function, or a file
        was written after Python began, so that its text need not be what runs.
    """
    met: Met = {}
    described = [description(value, met) for value in values]
    classes = {
        parent: _attributes(parent, met)
        for kind in list(met)
        if isinstance(kind, type)
        for parent in kind.__mro__
        if not _is_of_a_library(parent)
    }
    things = [thing for thing in (met | dict.fromkeys(classes)) if not _is_of_a_library(thing)]
    users = [thing for thing in things if not is_of_the_package(module_of(thing))]
    for thing in users:
        _require_source(thing)
    modules = {module_of(thing) for thing in users}
    if users:
        modules |= {name for name, module in list(sys.modules.items()) if _counts(name, module)}
    texts = {name: digest for each in modules for name, digest in _texts(each)}
    reached = _reached(users, texts)
    return {
        "values": described,
        "classes": sorted(([name_of(kind), found] for kind, found in classes.items()), key=repr),
        "package": _package_text(rooms),
        "modules": sorted((plain_name(name), digest) for name, digest in texts.items()),
        "globals": sorted(([plain_name(name), _globals_read(name)] for name in reached), key=repr),
    }


def _attributes(kind: type, met: Met) -> list[Any]:
    """Return the attributes of a class as they are now, which a program may have changed."""
    return [
        [name, _if_possible(_unwrapped(value), met)]
        for name, value in sorted(vars(kind).items())
        if isinstance(value, FunctionType) or not name.startswith("__")
    ]


def _if_possible(value: Any, met: Met) -> Any:
    """Return a description, None of what has none: text says how it was made."""
    try:
        return description(value, met)
    except Refusal:
        return None


def _unwrapped(value: Any) -> Any:
    """Return the function of a method of a class, of a property or of a cached property."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    return getattr(value, "__func__", value)


def is_of_the_package(name: str) -> bool:
    """Say whether a module is one of this package, by its name."""
    return name.partition(".")[0] == _PACKAGE


def _is_of_a_library(thing: Any) -> bool:
    """Say whether a thing is of Python or an installed library; no class derived from ours is."""
    parents = thing.__mro__ if isinstance(thing, type) else [thing]
    if any(is_of_the_package(module_of(parent)) for parent in parents):
        return False
    if isinstance(thing, type) and "__module__" not in vars(thing):  # written in C
        return True
    file = getattr(sys.modules.get(module_of(thing)), "__file__", None)
    if file is None:  # a class made by exec says that it is of builtins
        return module_of(thing) in sys.stdlib_module_names - {"builtins", "__main__"}
    return _is_installed(file)


@cache
def _is_installed(file: str) -> bool:
    """Say whether a file is of Python or of an installed library."""
    path = Path(file).resolve()
    return path.is_relative_to(_STANDARD) or not _INSTALLED.isdisjoint(path.parts)


def _require_source(thing: type | FunctionType) -> None:
    """Refuse a class or function that does not stand in a file that was loaded."""
    name = f"{thing.__qualname__} of the module {plain_name(module_of(thing))}"
    loaded = sys.modules.get(module_of(thing))
    if not Path(getattr(loaded, "__file__", None) or "").is_file():
        raise NoSourceError(
            f"{name} was made at a prompt or by exec, where its text cannot be read; "
            "write it in a file"
        )
    if isinstance(thing, type):
        try:
            stands = attrgetter(thing.__qualname__)(loaded) is thing
        except AttributeError:
            stands = False
        parts = [_unwrapped(part) for part in vars(thing).values()]
    else:
        stands, parts = True, [thing]
    codes = [part.__code__ for part in parts if isinstance(part, FunctionType)]
    if not stands or not all(map(_is_in_a_file, codes)):
        raise NoSourceError(
            f"{name} is not what stands in its file: it was made by exec or inside a function, or "
            "loaded again; write it at the top of a file, and start Python again"
        )


def _is_in_a_file(code: CodeType) -> bool:
    """Say whether a code was compiled from a file, or made by a decorator for dataclasses."""
    return code.co_qualname.startswith("__create_fn__") or Path(code.co_filename).is_file()


def _counts(name: str, module: ModuleType) -> bool:
    """Say whether a loaded module counts wherever a user's class is run."""
    file = getattr(module, "__file__", None)
    return (
        file is not None
        and name not in _SCRIPTS
        and not is_own_module(name)
        and not is_of_the_package(name)
        and not _is_installed(file)
    )


def _texts(name: str) -> Iterable[tuple[str, str]]:
    """Yield the names of a module and of those that it stands for, with the digests of texts."""
    if is_own_module(name):
        return own_texts(name).items()
    file = Path(sys.modules[name].__file__ or "")
    return [(name, _text_since_start(file))] if file.is_file() else []


def _reached(things: Iterable[Any], modules: Collection[str]) -> set[str]:
    """Return which modules things are of, and those that the globals of these come from."""
    found: set[str] = set()
    waiting = [module_of(thing) for thing in things]
    while waiting:
        name = waiting.pop()
        if name in modules and name not in found:
            found.add(name)
            for value in list(vars(sys.modules[name]).values()):
                of = value.__name__ if isinstance(value, ModuleType) else value
                waiting.append(str(of if isinstance(of, str) else getattr(of, "__module__", "")))
    return found


def _globals_read(name: str) -> list[Any]:
    """Return the globals that the functions of a module read, as they are now."""
    found = vars(sys.modules[name])
    names = {read for function in _functions(found, name) for read in _names(function.__code__)}
    return [
        [read, _if_possible(found[read], {})]
        for read in sorted(names & found.keys())
        if not read.startswith("__")
    ]


def _functions(namespace: Any, module: str) -> Iterator[FunctionType]:
    for value in map(_unwrapped, list(namespace.values())):
        if getattr(value, "__module__", None) == module:
            if isinstance(value, FunctionType):
                yield value
            elif isinstance(value, type):
                yield from _functions(vars(value), module)


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names that a code and those inside it read."""
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)


def _package_text(rooms: tuple[str, ...]) -> str:
    """Return one digest of all files of some folders of the package."""
    digests = [[str(file), _text_since_start(folder / file)] for folder, file in _files(rooms)]
    return hashlib.sha256(repr(digests).encode()).hexdigest()


@cache
def _files(rooms: tuple[str, ...]) -> list[tuple[Path, Path]]:
    folders = [Path(import_module(f"{_PACKAGE}.{room}").__path__[0]) for room in rooms]
    return [
        (folder.parent, file.relative_to(folder.parent))
        for folder in folders
        for file in sorted(folder.rglob("*.py"))
    ]


def _text_since_start(file: Path) -> str:
    """Return the SHA-256 of a file that nobody has written since Python began."""
    times = file.stat()
    if STARTED < max(times.st_mtime, times.st_ctime) <= time.time():
        raise NoSourceError(
            f"{file} was written after this Python began, so that another text may run; "
            "start Python again"
        )
    return _digest(file)


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
