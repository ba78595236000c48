"""The program text that a result depends on: that of every module that its parts reach."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.solvers.store.module_text import (
    Module,
    ModuleText,
    home_folder,
    is_installed,
    is_of_the_package,
    module_text,
    reached_modules,
)

_WRAPPED = ("__func__", "fget", "func")
"""Where methods of a class, properties and cached properties hold their function."""


class NoSourceError(Refusal):
    """A class or function that stands in no file, so that nothing can be kept under its text."""


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
    modules = reached_modules(things.values())
    return {
        "definitions": [_name(thing, module) for thing, module in things.items()],
        "modules": sorted({(module.label, module_text(module).digest) for module in modules}),
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
    if any(is_of_the_package(parent.__module__) for parent in kind.__mro__):
        return False
    if "__module__" not in vars(kind):  # written in C
        return True
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if file is None:  # a class made by exec says that it is of builtins
        return kind.__module__ in sys.stdlib_module_names - {"builtins"}
    return is_installed(file)


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
    if not _stands_in(thing, loaded, module_text(module)):
        raise NoSourceError(
            f"{name} is not what stands in {file}: it was made by exec or inside a function, or "
            "the file has changed; write it at the top of a file, and load the file again"
        )
    return module


@cache
def _module(name: str, parent: str, file: str) -> Module:
    """Return a module that a class or function says it is of."""
    place = Path(file).resolve()
    return Module(name, parent, place, None if is_of_the_package(name) else home_folder(place))


def _stands_in(thing: Any, loaded: ModuleType, text: ModuleText) -> bool:
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
