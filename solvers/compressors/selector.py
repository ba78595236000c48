"""Compressors by name."""

import re
from collections.abc import Callable
from difflib import get_close_matches

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.composition import RandKNatural, Scaled
from bitbound.solvers.compressors.identity import Identity
from bitbound.solvers.compressors.natural import Natural
from bitbound.solvers.compressors.quantisation import Dithering, ScaledSign, Ternary
from bitbound.solvers.compressors.selection import L1Selection, RandK, TopK

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
NAMES = (*_PLAIN, *_NUMBERED, "scaled(COMPRESSOR)")
"""The forms of a selector; K, S stand for positive integers, COMPRESSOR for an unbiased one."""


def compressor(selector: str) -> Compressor:
    """Make the compressor that a selector names, such as ``"rand-k:2+natural"``.

    ``compressor(c.name) == c`` for every compressor c.

    Raises
    ------
    Refusal
        If no compressor has this name or its parameter is not a positive integer.

    Examples
    --------
    >>> from bitbound import compressor
    >>> compressor("rand-k:2+natural").bits(d=100)
    32
    """
    if selector in _PLAIN:
        return _PLAIN[selector]()
    if inner := re.fullmatch(r"scaled\((.*)\)", selector):
        return Scaled(compressor(inner[1]))
    for form, make in _NUMBERED.items():
        before, after = re.split("[KS]", form, maxsplit=1)
        if number := re.fullmatch(rf"{re.escape(before)}([0-9]+){re.escape(after)}", selector):
            return make(int(number[1]))
    near = get_close_matches(selector, NAMES, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}? choose" if near else "choose"
    raise Refusal(
        f"no compressor is called {selector!r}; {hint} one of {', '.join(NAMES)} "
        f"with integers of at least 1 for K and S"
    )
