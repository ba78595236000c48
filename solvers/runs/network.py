"""A network, and the seconds that counted bits, rounds and gradients take on it."""

import math
import re
from dataclasses import dataclass, fields
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
    """A model of the seconds that a bit, a round and a gradient take.

    All clients have the same link and work at the same time, a server waits for all of them, and
    nothing overlaps: a run takes bits up/uplink + bits down/downlink + 2 latency x rounds +
    gradient x gradients, all per client. Where links differ, give those of the slowest client; what
    can be gained by not waiting for it is the subject of arXiv:2402.04785 and is not modelled.

    Parameters
    ----------
    uplink, downlink : float
        Bits per second from a client to the server, and back.
    latency : float
        Seconds that a message takes one way, beside its bits.
    gradient : float
        Seconds that a client takes for one gradient of its f_i.

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
        """Return the seconds of so many bits, rounds and gradients per client."""
        return (
            up / self.uplink
            + down / self.downlink
            + 2 * self.latency * rounds
            + self.gradient * gradients
        )

    def __str__(self) -> str:
        return (
            f"{amount(self.uplink, 'bit')}/s up, {amount(self.downlink, 'bit')}/s down, "
            f"{amount(self.latency, 's')} latency, {amount(self.gradient, 's')} per gradient"
        )


NETWORKS = {
    "lte": Network(uplink=5e6, downlink=20e6, latency=0.05, gradient=2e-3),
    "dsl": Network(uplink=1e6, downlink=10e6, latency=0.02, gradient=2e-3),
    "lan": Network(uplink=1e9, downlink=1e9, latency=1e-4, gradient=1e-3),
    "sensor": Network(uplink=1e4, downlink=1e4, latency=1.0, gradient=2e-2),
}
"""Networks by name: round numbers of the order of each kind of link, not measurements."""


def network_named(name: str) -> Network:
    """Return a network of ``NETWORKS``.

    Raises
    ------
    Refusal
        If there is none of this name.
    """
    if name in NETWORKS:
        return NETWORKS[name]
    near = get_close_matches(name, NETWORKS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(NETWORKS)}"
    raise Refusal(f"the network {name!r} is unknown; {hint}")


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
