"""Objects from a user's Python file, named ``path/to/file.py:Name``.

Modules of a folder have a name of that folder, and each is read once. A file is run from the bytes
whose digest is recorded, even if it is changed meanwhile. Its imports are looked for beside it
first, as for a script, so that two folders may have modules of the same name.
"""

import ast
import builtins
import hashlib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, resolve_name, spec_from_file_location
from itertools import accumulate
from pathlib import Path
from traceback import walk_tb
from types import CodeType, ModuleType
from typing import Any, TypeVar

from certibit.data.errors import Refusal

_FOLDER = "certibit_own_"
"""How the package begins that stands for a folder; the digest of its path follows."""

_DIGESTS: dict[str, str] = {}
"""SHA-256 of the text that every loaded module of this kind was run from."""
_IMPORTS: dict[str, set[str]] = {}
"""The modules of this kind that every one of them has imported."""
_RUNNING: list[str] = []
"""The modules of this kind that are being run, each imported by the one before."""
_ALIASES: list[str] = []
"""Plain names that such modules have among those loaded."""


def is_own_module(name: str) -> bool:
    """Say whether a module was loaded by :func:`load_module`, or imported by one that was."""
    return name.startswith(_FOLDER)


def plain_name(name: str) -> str:
    """Return what a module is called in its folder, wherever that lies."""
    return name.partition(".")[2] if is_own_module(name) else name


def own_texts(name: str) -> dict[str, str]:
    """Return by name the SHA-256 of the text of a module, and of all that it has imported."""
    found: dict[str, str] = {}
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in found:
            found[name] = _DIGESTS[name]
            waiting += _IMPORTS.get(name, ())
    return found


def load_module(path: Path) -> ModuleType:
    """Run a file as a module, unless it was and no module of its folder has changed since."""
    where = path.resolve()
    folder = _FOLDER + hashlib.sha256(str(where.parent).encode()).hexdigest()[:8]
    name = f"{folder}.{where.stem.replace('.', '_')}"
    if any(_changed(each) for each in _DIGESTS if each.startswith(f"{folder}.")):
        _forget(folder)
    known = sys.modules.get(name)
    if known is not None and known.__file__ == str(where):
        return known
    if _Finder not in sys.meta_path:
        sys.meta_path.insert(0, _Finder)
    importlib.invalidate_caches()
    if folder not in sys.modules:
        package = sys.modules[folder] = ModuleType(folder)
        package.__path__ = [str(where.parent)]
    specification = spec_from_file_location(name, where, loader=_Loader(name, str(where)))
    assert specification is not None  # as it has a loader
    assert specification.loader is not None
    module = sys.modules[name] = module_from_spec(specification)
    _RUNNING.append("")  # nobody imports it
    try:
        specification.loader.exec_module(module)
    except BaseException:
        _forget(folder)
        raise
    finally:
        _RUNNING.pop()
        while _ALIASES:
            sys.modules.pop(_ALIASES.pop(), None)
    return module


class _Finder:
    """Finds modules in the folders, and records which modules are imported while a file is run."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if is_own_module(name):
            found = PathFinder.find_spec(name, path, target) if path else None
            if found is not None and isinstance(found.loader, SourceFileLoader):
                found.loader = _Loader(name, found.loader.path)
            return found
        folder = _RUNNING[-1].partition(".")[0] if _RUNNING else ""
        if folder and _is_beside(name.partition(".")[0], folder):
            return ModuleSpec(name, _Alias(f"{folder}.{name}"))
        return None


class _Loader(SourceFileLoader):
    """Runs a text that it reads once, and lets it import what lies beside it."""

    def get_code(self, fullname: str) -> CodeType:
        text = self.get_data(self.path)
        _DIGESTS[fullname] = hashlib.sha256(text).hexdigest()
        return self.source_to_code(text, self.path)

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        folder = name.partition(".")[0]
        importers = _RUNNING[-1:] or [each for each in _DIGESTS if each.startswith(f"{folder}.")]
        vars(module)["__builtins__"] = vars(builtins) | {"__import__": _import}
        _RUNNING.append(name)
        try:
            super().exec_module(module)
        except BaseException:
            _DIGESTS.pop(name, None)
            raise
        finally:
            _RUNNING.pop()
        for importer in importers:  # all of the folder, where a function has imported it
            _note(importer, [name])


class _Alias(Loader):
    """Gives a module of a folder by its plain name, until the file has been run."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        _note(_RUNNING[-1], [self._name])
        _ALIASES.append(spec.name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # which stands for the alias here


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,  # noqa: A002  (as Python calls it)
    locals: Mapping[str, Any] | None = None,  # noqa: A002
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Import as ``builtins.__import__``, what lies beside the importing file first."""
    importer = (globals or {}).get("__name__", "")
    folder, first = importer.partition(".")[0], name.partition(".")[0]
    full = name
    if level and globals:
        full = resolve_name("." * level + name, globals["__package__"])
    elif is_own_module(folder) and _is_beside(first, folder):
        full = f"{folder}.{name}"
    if not is_own_module(full):
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    module = importlib.import_module(full)
    if fromlist:
        module = builtins.__import__(full, globals, locals, fromlist, 0)
    _note(importer, accumulate(full.split("."), "{}.{}".format))
    _note(importer, (f"{full}.{part}" for part in fromlist or ()))
    return module if fromlist else sys.modules[f"{folder}.{first}"]


def _note(importer: str, names: Iterable[str]) -> None:
    """Note what a module has imported, whatever else the names are left out."""
    _IMPORTS.setdefault(importer, set()).update(name for name in names if name in _DIGESTS)


def _is_beside(name: str, folder: str) -> bool:
    """Say whether a name is that of a module beside a file, and no other one is meant."""
    if name in sys.stdlib_module_names or name == __name__.partition(".")[0]:
        return False
    beside = PathFinder.find_spec(name, sys.modules[folder].__path__)
    loaded = getattr(sys.modules.get(name), "__spec__", None)
    known = PathFinder.find_spec(name) if loaded is None or is_own_module(loaded.name) else loaded
    if beside is None or known is None:
        return beside is not None
    return beside.origin is not None and known.origin != beside.origin


def _changed(name: str) -> bool:
    try:
        text = Path(sys.modules[name].__file__ or "").read_bytes()
    except (KeyError, OSError):  # it failed to load, or is gone
        return True
    return hashlib.sha256(text).hexdigest() != _DIGESTS[name]


def _forget(folder: str) -> None:
    """Forget the modules of a folder, so that they are loaded again."""
    for known in (sys.modules, _DIGESTS, _IMPORTS):
        for name in [name for name in known if name.startswith(f"{folder}.")]:
            del known[name]


_SELECTOR = re.compile(r"(?P<file>.+\.py)(:(?P<name>\w+))?(:(?P<values>.+))?")
T = TypeVar("T")


def is_own(selector: str) -> bool:
    """Say whether a selector is that of a file: ``FILE.py``, ``FILE.py:NAME[:VALUES]``."""
    return _SELECTOR.fullmatch(selector) is not None


def file_and_name(selector: str) -> tuple[Path, str, str]:
    """Take ``FILE.py:NAME:VALUES`` apart; empty where one is missing.

    Raises
    ------
    Refusal
        If it is something else.
    """
    parts = _SELECTOR.fullmatch(selector)
    if parts is None:
        raise Refusal(f"{selector!r} cannot be read; expected path/to/file.py:NAME")
    return Path(parts["file"]), parts["name"] or "", parts["values"] or ""


def own_classes(module: ModuleType, base: type[T]) -> dict[str, type[T]]:
    """Return the classes by name that a module defines itself, of those that derive from one."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if inspect.isclass(thing)
        and issubclass(thing, base)
        and thing.__module__ == module.__name__
    }


def own_instance(selector: str, base: type[T], meaning: str) -> T:
    """Make an object of a class of a user's file, with values for its fields.

    Parameters
    ----------
    selector : str
        ``FILE.py:NAME``, or ``FILE.py:NAME:3,0.5`` with values.
    base : type
        What the class derives from.
    meaning : str
        What it is, such as "compressor".

    Raises
    ------
    Refusal
        If there is no such class, or it cannot be made of the values.
    """
    path, name, values = file_and_name(selector)
    kinds = own_classes(load_file(path, f"a {meaning}"), base)
    if name not in kinds:
        there = ", ".join(kinds) or f"none, write class NAME({base.__name__})"
        raise Refusal(f"{path} defines no {meaning} {name}; name it {path}:NAME, there is {there}")
    return instance(kinds[name], values, f"the {meaning} {name} of {path}", f"{path}:{name}")


def instance(kind: type[T], values: str, what: str, selector: str) -> T:
    """Make an instance of a user's class, with values for its fields such as ``3,0.5``.

    ``what`` and ``selector`` appear in the refusal: the kind of the object, and its name.

    Raises
    ------
    Refusal
        If the class is abstract, or cannot be made of the values.
    """
    if missing := sorted(getattr(kind, "__abstractmethods__", ())):
        raise Refusal(f"{what} defines no {', '.join(missing)}")
    try:
        given = ast.literal_eval(f"({values},)") if values else ()
        return kind(*given)
    except (ValueError, SyntaxError, TypeError) as error:
        raise Refusal(
            f"{what} cannot be made of ({values}): {error}; give the values of its fields, "
            f"such as {selector}:3,0.5"
        ) from error


def load_file(path: Path, meaning: str) -> ModuleType:
    """Run a file as a module; files beside it can be imported by their names, as from a script.

    A file is not run again where neither it nor a module beside it has changed, so that its classes
    stay the same ones (:mod:`certibit.data.own.own_file`).

    Parameters
    ----------
    path : Path
        Of the file, which ends in ``.py``.
    meaning : str
        What it ought to define, such as "a method", for what is said where it is not there.

    Raises
    ------
    Refusal
        If there is no such file or it cannot be run.
    KeyboardInterrupt
        With the name of the file, if it is interrupted.
    """
    if not os.path.isfile(path):  # also where the name is too long for one
        raise Refusal(f"there is no file {path}; give the path of a file that defines {meaning}")
    try:
        return load_module(path)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise KeyboardInterrupt(f"while {path} was run") from error
        raise Refusal(f"{path} cannot be run: {type(error).__name__}: {error}") from error


def own_place(error: BaseException) -> str:
    """Return where in a user's file an error comes from, such as ``own.py, line 9``; or ""."""
    places = [
        f"{frame.f_code.co_filename}, line {line}"
        for frame, line in walk_tb(error.__traceback__)
        if is_own_module(frame.f_globals.get("__name__", ""))
    ]
    return places[-1] if places else ""
