"""Values as JSON that tells them apart: the fields of methods, compressors and problems."""

import hashlib
from collections.abc import Iterator
from functools import cached_property, partial, singledispatch
from types import CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.own.own_file import plain_name

Met = dict[type | FunctionType, None]
"""Classes and functions, in the order in which they were met."""


def description(value: Any, met: Met | None = None) -> Any:
    """Return a value as JSON: equal for equal values, whatever process made them.

    Classes and functions are named; a function has its defaults and what it encloses. Arrays stand
    by their SHA-256, and every other object by what pickle would write of it.

    Parameters
    ----------
    value : any
        What is described.
    met : dict, optional
        The classes and functions in the value are added to it.

    Raises
    ------
    Refusal
        If a value holds something that cannot be described, such as an open file.
    """
    try:
        return _described(value, {} if met is None else met)
    except (TypeError, ValueError, AttributeError, RecursionError) as fault:
        if isinstance(fault, Refusal):
            raise
        raise Refusal(
            f"{value!r} cannot be told from others ({fault}); give a number, a text, a function, "
            "or an object that can be pickled"
        ) from None


def name_of(thing: type | FunctionType) -> str:
    """Return how a class or function is called, whatever folder its module lies in."""
    return f"{plain_name(module_of(thing))}:{thing.__qualname__}"


def module_of(thing: type | FunctionType) -> str:
    """Return the name of the module of a class or function; what is made by hand has none."""
    return thing.__module__ or "builtins"


def state(value: object) -> dict[str, Any]:
    """Return the attributes of an object, those left out that are computed once from others."""
    return {
        name: part
        for name, part in getattr(value, "__dict__", {}).items()
        if not isinstance(getattr(type(value), name, None), cached_property)
    }


@singledispatch
def _described(value: Any, met: Met) -> Any:
    if value is None:
        return None
    reduced = value.__reduce_ex__(4)
    if isinstance(reduced, str):
        return f"{getattr(value, '__module__', '')}:{reduced}"
    make, arguments, *rest = reduced
    if rest and hasattr(value, "__dict__") and rest[0] is vars(value):
        rest[0] = state(value)
    parts = [list(part) if isinstance(part, Iterator) else part for part in rest]
    return [_described(make, met), _described(arguments, met), _described(parts, met)]


@_described.register(bool | int | float | str)
def _(value: Any, met: Met) -> Any:
    return value


@_described.register(complex | bytes)
def _(value: Any, met: Met) -> str:
    return repr(value)


@_described.register(list | tuple)
def _(value: Any, met: Met) -> list[Any]:
    return [_described(part, met) for part in value]


@_described.register(set | frozenset)
def _(value: Any, met: Met) -> list[Any]:
    return sorted((_described(part, met) for part in value), key=repr)


@_described.register(dict)
def _(value: dict[Any, Any], met: Met) -> list[Any]:
    pairs = [[_described(key, met), _described(part, met)] for key, part in value.items()]
    return sorted(pairs, key=repr)


@_described.register(np.ndarray)
def _(value: Any, met: Met) -> list[Any]:
    if value.dtype.hasobject:
        return [list(value.shape), _described(value.tolist(), met)]
    digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
    return [str(value.dtype), list(value.shape), digest]


@_described.register(np.generic)
def _(value: Any, met: Met) -> Any:
    return _described(value.item(), met)


@_described.register(np.ufunc)
def _(value: np.ufunc, met: Met) -> str:
    return value.__name__


@_described.register(partial)
def _(value: partial[Any], met: Met) -> list[Any]:
    return ["partial", _described([value.func, value.args, value.keywords], met)]


@_described.register(type)
def _(value: type, met: Met) -> str:
    met[value] = None
    return name_of(value)


@_described.register(FunctionType)
def _(value: FunctionType, met: Met) -> list[Any]:
    met[value] = None
    code = value.__code__
    text = hashlib.sha256(code.co_code + code.co_linetable).hexdigest()  # of the line and columns
    held = [value.__defaults__, value.__kwdefaults__, value.__closure__]
    return [name_of(value), code.co_firstlineno, text, *(_described(part, met) for part in held)]


@_described.register(ModuleType)
def _(value: ModuleType, met: Met) -> str:
    return value.__name__


@_described.register(CellType)
def _(value: CellType, met: Met) -> Any:
    return _described(value.cell_contents, met)
