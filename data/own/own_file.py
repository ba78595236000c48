"""Objects from a user's Python file, named ``path/to/file.py:Name``."""

import ast
import inspect
import os
import re
from pathlib import Path
from traceback import walk_tb
from types import ModuleType
from typing import TypeVar

from certibit.data.errors import Refusal
from certibit.data.own.own_modules import is_own_module, load_module

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
    stay the same ones (:mod:`certibit.data.own.own_modules`).

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
