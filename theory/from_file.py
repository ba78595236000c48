"""A method from a user's own file, outside the package."""

import ast
import importlib.util
import inspect
import sys
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.method import Method
from bitbound.theory.catalogue import method_entry
from bitbound.theory.theorem import Entry


def find_entry(name: str) -> Entry:
    """Give a method of the package by its name, or the one of a file ``path/to/method.py``."""
    return entry_from_file(Path(name)) if name.endswith(".py") else method_entry(name)


def entry_from_file(path: Path) -> Entry:
    """Load the method of a file.

    The file is run as a module. It defines ``ENTRY = Entry(...)`` with theorems and rules, or one
    class of methods, whose parameters must then be given.

    Raises
    ------
    Refusal
        If there is no such file, it cannot be run, or it defines no method or several.
    """
    if not path.is_file():
        raise Refusal(f"there is no file {path}; give the path of a file that defines a method")
    name = f"bitbound_method_{path.stem}"
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise Refusal(f"{path} is no file of Python; it must end in .py")
    module = importlib.util.module_from_spec(specification)
    sys.modules[name] = module
    try:
        specification.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise Refusal(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    entry = getattr(module, "ENTRY", None)
    if isinstance(entry, Entry):
        return entry
    methods = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and issubclass(thing, Method)
        and thing.__module__ == name
        and not inspect.isabstract(thing)
    ]
    if len(methods) != 1:
        raise Refusal(
            f"{path} defines {len(methods)} methods and no ENTRY; define one class of methods, "
            "or ENTRY = Entry(method, theorems, rules)"
        )
    return Entry(methods[0], (), {})


def make_method(
    entry: Entry,
    problem: Any,
    compressor: Compressor | None = None,
    rule: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Method:
    """Make a method with the parameters of a rule, some of them replaced by given ones.

    Raises
    ------
    Refusal
        If a parameter is unknown, or some are missing and there is no rule.
    """
    settings = settings or {}
    known = [field.name for field in fields(entry.method)]  # type: ignore[arg-type]
    for name in settings:
        if name not in known:
            raise Refusal(
                f"{entry.method.name} has no parameter {name!r}; it has {', '.join(known)}"
            )
    if entry.rules:
        return replace(entry.parameters(problem, compressor, rule), **settings)  # type: ignore[type-var]
    if rule is not None:
        raise Refusal(f"{entry.method.name} has no rules for its parameters; give each with --set")
    try:
        return entry.method(**settings)
    except TypeError:
        missing = ", ".join(name for name in known if name not in settings)
        raise Refusal(
            f"{entry.method.name} has no rules for its parameters; give {missing} with --set"
        ) from None


def parse_setting(text: str) -> tuple[str, Any]:
    """Read ``gamma=0.1``: a number, a tuple such as ``(1, 0.5)``, or else a word.

    Raises
    ------
    Refusal
        If there is no equals sign or no name.
    """
    name, equals, word = text.partition("=")
    if not equals or not name.isidentifier():
        raise Refusal(f"the parameter {text!r} cannot be read; expected such as gamma=0.1")
    try:
        return name, ast.literal_eval(word)
    except (ValueError, SyntaxError):
        return name, word
