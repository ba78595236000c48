"""Compressors by name.

Those of other packages are found through the entry point group ``certibit.compressors``, each entry
being a class.
"""

import inspect
import re
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.numbers import whole
from certibit.data.own.own_file import instance, is_own, own_instance
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.composition import (
    Chunked,
    RandKNatural,
    RandKOfTopK,
    Scaled,
    TwoWay,
)
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.quantisation import Dithering, ScaledSign, Ternary
from certibit.solvers.compressors.selection import L1Selection, RandK, TopK

GROUP = "certibit.compressors"
"""The entry points of other packages."""
_PLAIN: dict[str, Callable[[], Compressor]] = {
    "identity": Identity,
    "natural": Natural,
    "l1": L1Selection,
    "ternary": Ternary,
    "sign": ScaledSign,
}
_NUMBERED: dict[str, Callable[[int], Compressor]] = {
    "rand-k:K": RandK,
    "rand-k:K@shared": lambda k: RandK(k, shared=True),
    "rand-k:K+natural": RandKNatural,
    "top-k:K": TopK,
    "dithering:S": Dithering,
    "qsgd:S": Dithering,
}
_AROUND: dict[str, Callable[..., Compressor]] = {
    r"rand-k:([0-9]{1,12})\((top-k:[0-9]+)\)": RandKOfTopK,
    r"scaled\((.*)\)": Scaled,
    r"chunked:([0-9]{1,12})\((.*)\)": Chunked,
}
"""Compressors around another one, by the pattern of their numbers and the inner selector."""
NAMES = (
    *(*_PLAIN, *_NUMBERED, "rand-k:K(top-k:K)", "scaled(COMPRESSOR)", "chunked:S(BIASED)"),
    "two-way(UP;DOWN)",
)
"""The forms of a selector; K, S stand for positive integers, COMPRESSOR for an unbiased one.

BIASED stands for a biased one that draws no random numbers. UP is what clients send with, DOWN what
the server broadcasts with.
"""


def compressor(selector: str) -> Compressor:
    """Make the compressor that a selector names, such as ``"rand-k:2+natural"``.

    ``compressor(c.name) == c`` for every compressor c of the package. One of your own is
    ``"path/to/file.py:Name"``, or ``"path/to/file.py:Name:3,0.5"`` with values for its fields; one
    of another package is ``"name"`` or ``"name:3,0.5"``.

    Raises
    ------
    Refusal
        If no compressor has this name or its parameter is not a positive integer, or for what is
        wrong with a file.

    Examples
    --------
    >>> from certibit import compressor
    >>> compressor("rand-k:2+natural").bits(d=100)
    32
    """
    if selector in _PLAIN:
        return _PLAIN[selector]()
    if selector.count("two-way(") > 1:
        raise Refusal(
            f"{selector!r} has a way that goes both ways already; give a compressor for each way"
        )
    if ways := re.fullmatch(r"two-way\((.*?);(.*)\)", selector):
        return TwoWay(compressor(ways[1]), compressor(ways[2]))
    if selector.count("scaled(") > 1:
        raise Refusal(
            f"{selector!r} scales more than once; scaled() takes an unbiased compressor, and what "
            "it gives is biased: leave the others out"
        )
    for pattern, around in _AROUND.items():
        if found := re.fullmatch(pattern, selector):
            *numbers, inner = found.groups()
            return around(compressor(inner), *map(int, numbers))
    for form, make in _NUMBERED.items():
        before, after = re.split("[KS]", form, maxsplit=1)
        if number := re.fullmatch(rf"{re.escape(before)}([0-9]+){re.escape(after)}", selector):
            count = whole(number[1])
            if count is None:
                raise Refusal(f"the number in {selector!r} is too long; take at most 12 digits")
            return make(count)
    if is_own(selector):
        return own_instance(selector, Compressor, "compressor")  # type: ignore[type-abstract]
    if other := _of_other_packages(selector):
        return other
    near = get_close_matches(selector, NAMES, n=1, cutoff=0.5)
    if near:
        example = f", such as {re.sub('[KS]', '2', near[0])}" if re.search("[KS]", near[0]) else ""
        raise Refusal(
            f"no compressor is called {selector!r}; did you mean {near[0]}{example}? "
            "certibit list names all"
        )
    raise Refusal(
        f"no compressor is called {selector!r}; choose one of {', '.join(NAMES)} "
        f"with integers of at least 1 for K and S, or one of your own as path/to/file.py:NAME"
    )


def other_names() -> list[str]:
    """Return the names of the compressors of other packages."""
    return sorted(_entry_points().names)


def _entry_points() -> Any:
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import)

    return entry_points(group=GROUP)


def _of_other_packages(selector: str) -> Compressor | None:
    """Return the compressor of an entry point, if there is one of this name."""
    name, _, values = selector.partition(":")
    for point in _entry_points().select(name=name):
        where = f"the entry point {point.name} = {point.value}"
        try:
            kind = point.load()
        except Exception as error:  # whatever another package does wrong is told in one sentence
            raise Refusal(f"{where} cannot be loaded: {error}; mend or remove it") from error
        if not (inspect.isclass(kind) and issubclass(kind, Compressor)):
            raise Refusal(f"{where} is no class of a compressor; write class NAME(Compressor)")
        return instance(kind, values, where, name)
    return None
