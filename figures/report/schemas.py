"""JSON Schemas of records, which jsonschema asks a value for, and keywords that they need."""

from collections.abc import Iterator, Mapping
from textwrap import shorten
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

Schema: TypeAlias = dict[str, Any]
"""A JSON Schema, of draft 2020-12 with three keywords for lists."""

_LARGEST, _WORDS = 1e308, 160


def misfit(schema: Schema, value: Any, place: str) -> str:
    """Return where a value is not what its schema says and why; "" if it is.

    Examples
    --------
    >>> from certibit.figures.report.schemas import misfit, record, several
    >>> row = several(record(method={"type": "string"}))
    >>> misfit(row, [{"method": "gd"}, {"method": 3}], "rates"), misfit(row, [], "rates")
    ("rates[1].method: 3 is not of type 'string'", '')
    """
    error = next(_Validator(schema).iter_errors(value), None)
    if error is None:
        return ""
    return f"{place}{error.json_path[1:]}: {shorten(error.message, _WORDS)}"


def record(fields: Mapping[str, Schema] | None = None, /, **more: Schema) -> Schema:
    """Return the schema of an object with at least these fields; one with "?" may be missing."""
    given = {**(fields or {}), **more}
    return {
        "type": "object",
        "properties": {name.removesuffix("?"): schema for name, schema in given.items()},
        "required": [name for name in given if not name.endswith("?")],
    }


def several(schema: Schema, least: int = 0) -> Schema:
    """Return the schema of a list of at least so many values."""
    return {"type": "array", "items": schema, "minItems": least}


def maybe(schema: Schema) -> Schema:
    """Return the schema of what has another or is null."""
    return {"anyOf": [{"type": "null"}, schema]}


def between(low: float, high: float) -> Schema:
    """Return the schema of a number in an interval."""
    return {"type": "number", "minimum": low, "maximum": high}


def numbers(low: float, high: float, *names: str) -> Schema:
    """Return the schema of an object with lists of one length, of numbers in an interval."""
    fields: dict[str, Schema] = {name: {"type": "array", "numbers": [low, high]} for name in names}
    return record(fields) | {"oneLength": names}


def _one_length(
    _: Any, names: tuple[str, ...], value: Any, __: Schema
) -> Iterator[ValidationError]:
    lists = [value.get(name) for name in names] if isinstance(value, dict) else []
    if len({len(each) for each in lists if isinstance(each, list)}) > 1:
        yield ValidationError("lists of several lengths")


def _numbers(_: Any, ends: list[float], value: Any, __: Schema) -> Iterator[ValidationError]:
    low, high = ends
    for each in value if isinstance(value, list) else []:
        if each is not None and not (_is_number(None, each) and low <= each <= high):
            yield ValidationError(f"{each!r} is no number from {low:g} to {high:g}")


def _keys_of(_: Any, fields: list[str], value: Any, __: Schema) -> Iterator[ValidationError]:
    """Ask every object of a list for the keys that another list has."""
    listed, objects, inside = fields
    try:
        found = all(set(value[listed]) <= set(each[inside]) for each in value[objects])
    except (KeyError, TypeError):
        return  # other keywords say so
    if not found:
        yield ValidationError(f"one of {objects} has no {inside} to all its {listed}")


def _is_number(_: Any, value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


_Validator = extend(
    Draft202012Validator,
    {
        "oneLength": _one_length,
        "numbers": _numbers,
        "keysOf": _keys_of,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", _is_number),
)
