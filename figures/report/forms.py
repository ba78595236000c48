"""Required forms of JSON values, with the place of the first value that differs."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Form: TypeAlias = Callable[[Any, str], str]
"""Says where a value, at a place of this name, is not what it must be; "" if it is."""


def kind(words: str, fits: Callable[[Any], bool]) -> Form:
    """Return the form of what fits, named in words.

    Examples
    --------
    >>> from certibit.figures.report.forms import record, several, text
    >>> row = several(record(method=text))
    >>> row([{"method": "gd"}, {"method": 3}], "rates"), row([], "rates")
    ('rates[1].method is not a text', '')
    """

    def misfit(value: Any, place: str) -> str:
        return "" if fits(value) else f"{place} is not {words}"

    return misfit


def between(low: float, high: float) -> Form:
    """Return the form of a number in an interval."""
    return kind(
        f"a number from {low:g} to {high:g}",
        lambda value: _is_number(value) and low <= value <= high,
    )


def several(form: Form, least: int = 0) -> Form:
    """Return the form of a list of at least so many values."""

    def misfit(values: Any, place: str) -> str:
        if not isinstance(values, list):
            return f"{place} is not a list"
        if len(values) < least:
            return f"{place} has {len(values)} values"
        return _first(form(value, f"{place}[{at}]") for at, value in enumerate(values))

    return misfit


def record(fields: Mapping[str, Form] | None = None, **more: Form) -> Form:
    """Return the form of an object with at least these fields; one with "?" may be missing."""
    forms = {**(fields or {}), **more}

    def misfit(value: Any, place: str) -> str:
        if not isinstance(value, dict):
            return f"{place} is not an object"
        return _first(_field(value, name, form, place) for name, form in forms.items())

    return misfit


def named(form: Form) -> Form:
    """Return the form of an object whose values, of whatever names, have a form."""

    def misfit(value: Any, place: str) -> str:
        if not isinstance(value, dict):
            return f"{place} is not an object"
        return _first(form(each, f"{place}.{name}") for name, each in value.items())

    return misfit


def lists_of_one_length(**forms: Form) -> Form:
    """Return the form of an object with lists of one length."""
    fields = record({name: several(form) for name, form in forms.items()})

    def misfit(value: Any, place: str) -> str:
        wrong = fields(value, place)
        if wrong or len({len(value[name]) for name in forms}) == 1:
            return wrong
        return f"{place} has lists of several lengths"

    return misfit


def both(*forms: Form) -> Form:
    """Return the form of what has all of some forms, asked for in their order."""
    return lambda value, place: _first(form(value, place) for form in forms)


def maybe(form: Form) -> Form:
    """Return the form of what has a form or is null."""
    return lambda value, place: "" if value is None else form(value, place)


def _field(value: dict[str, Any], name: str, form: Form, place: str) -> str:
    name, optional = name.removesuffix("?"), name.endswith("?")
    if name in value:
        return form(value[name], f"{place}.{name}")
    return "" if optional else f"{place}.{name} is missing"


def _first(misfits: Any) -> str:
    return next((misfit for misfit in misfits if misfit), "")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _LARGEST


_LARGEST = 1e308
text = kind("a text", lambda value: isinstance(value, str))
flag = kind("true or false", lambda value: isinstance(value, bool))
number = kind("a number", _is_number)
