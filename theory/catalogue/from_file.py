"""Methods from files of a user."""

import ast
import inspect
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from certibit.data.errors import Refusal
from certibit.data.own.own_file import file_and_name, is_own, load_file, own_classes
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import card_named


def find_card(name: str) -> Card:
    """Return the card of a method by its name, or that of a file: ``path/to/file.py[:NAME]``."""
    return card_from_file(*file_and_name(name)[:2]) if is_own(name) else card_named(name)


def card_from_file(path: Path, name: str = "") -> Card:
    """Load a method of a file.

    The file is run as a module. It defines ``CARD = Card(...)`` with theorems and rules, or a
    class of methods, whose parameters must then be given. Where it defines several, ``name`` is
    that of the card or of the class.

    Raises
    ------
    Refusal
        If there is no such file, it cannot be run, or it defines no such method or several.
    """
    module = load_file(path, "a method")
    cards = {key: card for key, card in vars(module).items() if isinstance(card, Card)}
    classes = own_classes(module, Method)  # type: ignore[type-abstract]
    methods = {key: kind for key, kind in classes.items() if not inspect.isabstract(kind)}
    if not name and "CARD" in cards:
        return cards["CARD"]
    if name in cards:
        return cards[name]
    if not name and len(set(methods.values())) == 1:  # a class may have several names
        name = next(iter(methods))
    if name not in methods:
        there = ", ".join([*methods, *cards]) or "none, write class NAME(Method)"
        missing = f"no method {name}" if name else f"{len(methods)} methods and no CARD"
        raise Refusal(f"{path} defines {missing}; name it {path}:NAME, there is {there}")
    if "__dataclass_fields__" not in vars(methods[name]):
        raise Refusal(f"{name} is no dataclass; write @dataclass(frozen=True) above it")
    for card in cards.values():
        if card.method is methods[name]:
            return card
    return Card(methods[name])


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
