"""A network, and the seconds that counted bits, rounds and gradients take on it."""

import math
import re
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

from certibit.data.errors import Refusal

_UNITS = {
    "bit": {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9},
    "s": {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9},
}
_QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kMGmuµn]?)(bit|s)")


@dataclass(frozen=True)
class Network:
    """A model of the seconds that bits, rounds and gradients of a run take, all per client.

    They are bits up/uplink + bits down/downlink + 2 latency x rounds + gradient x gradients: the
    server waits for all clients, nothing overlaps on one of them, and all are as slow as the
    slowest, whose numbers these are. A trace is given its seconds by :meth:`certibit.Trace.timed`.

    Parameters
    ----------
    uplink, downlink : float
        Bits per second from a client to the server, and back.
    latency : float
        Seconds that a message takes one way, beside its bits.
    gradient : float
        Seconds of one gradient as a trace counts them: of f_i, or with mini-batches of a row.

    Raises
    ------
    Refusal
        If a rate is not positive, or a time is negative.

    Examples
    --------
    >>> from certibit import Network
    >>> Network(uplink=1e6, downlink=1e7, latency=0.05).seconds(up=2e6, down=1e7, rounds=10)
    4.0
    """

    uplink: float = 1e6
    downlink: float = 1e7
    latency: float = 0.05
    gradient: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            least = 0 if field.name in ("latency", "gradient") else math.ulp(0.0)
            if not least <= value < math.inf:
                expected = "a time from 0 on" if least == 0 else "a positive rate"
                raise Refusal(f"{field.name} = {value:g} of a network; expected {expected}")

    def seconds(self, up: Any = 0, down: Any = 0, rounds: Any = 0, gradients: Any = 0) -> Any:
        """Return the seconds of so many bits, rounds and gradients of a client."""
        return (
            up / self.uplink
            + down / self.downlink
            + 2 * self.latency * rounds
            + self.gradient * gradients
        )

    @property
    def described(self) -> dict[str, object]:
        """Its fields as JSON values."""
        return asdict(self)

    def __str__(self) -> str:
        words = [
            f"{amount(self.uplink, 'bit')}/s up",
            f"{amount(self.downlink, 'bit')}/s down",
            f"{amount(self.latency, 's')} latency",
            f"{amount(self.gradient, 's')} per gradient",
        ]
        return ", ".join(words)


NETWORKS = {
    "lte": Network(uplink=5e6, downlink=20e6, latency=0.05, gradient=2e-3),
    "dsl": Network(uplink=1e6, downlink=10e6, latency=0.02, gradient=2e-3),
    "lan": Network(uplink=1e9, downlink=1e9, latency=1e-4, gradient=1e-3),
    "sensor": Network(uplink=1e4, downlink=1e4, latency=1.0, gradient=2e-2),
}
"""Networks by name: round numbers of the order of each kind of link, not measurements."""


_WORDS = {"up": "uplink", "down": "downlink", "latency": "latency", "gradient": "gradient"}
"""The numbers of a network in words."""


def network_named(name: str) -> Network:
    """Return a network of ``NETWORKS``, with changes, or one in words.

    A network in words is ``KEY=VALUE`` after ``KEY=VALUE``, such as
    ``up=1e6,down=10Mbit,latency=50ms,gradient=2e-3``; what it leaves out is that of the name before
    them, such as ``lan,gradient=1``, or of lte.

    Raises
    ------
    Refusal
        If there is none of this name, or a word is unknown.
    """
    first, *words = [word.strip() for word in name.split(",")]
    if "=" in first:
        first, words = "lte", [first, *words]
    if first not in NETWORKS:
        near = get_close_matches(first, NETWORKS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(NETWORKS)}"
        raise Refusal(f"the network {first!r} is unknown; {hint}")
    changes: dict[str, Any] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key not in _WORDS:
            known = ", ".join(_WORDS)
            raise Refusal(f"{word!r} says nothing about a network; give KEY=VALUE of {known}")
        changes[_WORDS[key]] = _number(value, "bit" if key in ("up", "down") else "s")
    return replace(NETWORKS[first], **changes)


def _number(text: str, unit: str) -> float:
    """Read a plain number, or one with its unit."""
    try:
        return float(text)
    except ValueError:
        return read_amount(text, unit)


def read_amount(text: str, unit: str) -> float:
    """Read a number with its unit, "bit" or "s", such as ``1Mbit``, ``10 kbit/s`` or ``50ms``.

    Raises
    ------
    Refusal
        If it is something else.
    """
    parts = _QUANTITY.fullmatch(text.strip().removesuffix("/s") if unit == "bit" else text.strip())
    try:
        if parts and parts[3] == unit:
            return float(parts[1]) * _UNITS[unit][parts[2]]
    except (KeyError, ValueError):
        pass
    example = "1Mbit or 500kbit" if unit == "bit" else "50ms or 0.1s"
    raise Refusal(f"{text!r} cannot be read; expected a number with its unit, such as {example}")


def amount(value: float, unit: str) -> str:
    """Write a number with its unit, such as ``3 Mbit`` or ``50 ms``."""
    if value == 0:
        return f"0 {unit}"
    factor, letter = max(
        ((factor, letter) for letter, factor in _UNITS[unit].items() if factor <= value * 1.0005),
        default=min((factor, letter) for letter, factor in _UNITS[unit].items()),
    )
    return f"{value / factor:.3g} {letter.replace('µ', 'u')}{unit}"
