"""A method from a user's own file, outside the package."""

import ast
import inspect
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from bitbound.data.errors import Refusal
from bitbound.solvers.method import Method
from bitbound.solvers.own_file import load_file
from bitbound.theory.card import Card
from bitbound.theory.theorems.catalogue import card_named


def find_card(name: str) -> Card:
    """Return the card of a method by its name, or the one of a file ``path/to/method.py``."""
    return card_from_file(Path(name)) if name.endswith(".py") else card_named(name)


def card_from_file(path: Path) -> Card:
    """Load the method of a file.

    The file is run as a module. It defines ``CARD = Card(...)`` with theorems and rules, or one
    class of methods, whose parameters must then be given.

    Raises
    ------
    Refusal
        If there is no such file, it cannot be run, or it defines no method or several.
    """
    module = load_file(path, "a method")
    card = getattr(module, "CARD", None)
    if isinstance(card, Card):
        return card
    methods = [
        thing
        for thing in vars(module).values()
        if inspect.isclass(thing)
        and issubclass(thing, Method)
        and thing.__module__ == module.__name__
        and not inspect.isabstract(thing)
    ]
    if len(methods) != 1:
        raise Refusal(
            f"{path} defines {len(methods)} methods and no CARD; define one class of methods, "
            "or CARD = Card(method, theorems, rules)"
        )
    if "__dataclass_fields__" not in vars(methods[0]):
        raise Refusal(
            f"{methods[0].__name__} is no dataclass; write @dataclass(frozen=True) above it"
        )
    return Card(methods[0])


def read_settings(method: type[Method], settings: Iterable[str]) -> dict[str, Any]:
    """Read parameters such as ``gamma=0.1``, each as the kind that the method declares.

    Raises
    ------
    Refusal
        If a setting cannot be read, names no parameter, or is not of its kind: a finite number, a
        whole number, one of some words, or a tuple of finite numbers such as ``(1, 0.5)``.
    """
    kinds = {field.name: field.type for field in fields(method)}
    hints = get_type_hints(method)
    values = {}
    for text in settings:
        name, equals, word = text.partition("=")
        if not equals or not name.isidentifier():
            raise Refusal(f"the parameter {text!r} cannot be read; expected such as gamma=0.1")
        if name not in kinds:
            raise Refusal(f"{method.name} has no parameter {name!r}; it has {', '.join(kinds)}")
        try:
            value = ast.literal_eval(word)
        except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last if too deep
            value = word
        kind = hints.get(name, Any)
        if not _is_of(value, kind):
            wanted = " or ".join(map(str, get_args(kind))) or getattr(kind, "__name__", str(kind))
            raise Refusal(f"the parameter {text!r} of {method.name} must be a finite {wanted}")
        values[name] = value
    return values


def _is_of(value: Any, kind: Any) -> bool:
    """Say whether a value is of a declared kind; of kinds that are not known, any value is."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is_of(each, float) for each in value)
    if get_origin(kind) in (Union, UnionType):
        return any(_is_of(value, each) for each in get_args(kind))
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) <= sys.float_info.max
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(kind, type) or isinstance(value, kind)
