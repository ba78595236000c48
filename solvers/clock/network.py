"""A network, and the seconds that counted bits, rounds and gradients take on it."""

import math
import re
from dataclasses import asdict, dataclass, fields, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.solvers.clock.spread import EQUAL, Spread, factors, read_spread, require_spread

_UNITS = {
    "bit": {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9},
    "s": {"": 1.0, "m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9},
}
_QUANTITY = re.compile(r"([0-9.]+(?:e[+-]?[0-9]+)?)\s*([kMGmuµn]?)(bit|s)")


@dataclass(frozen=True)
class Clients:
    """The link and the speed of every client, (n,) each; see :class:`Network`."""

    uplink: NDArray[np.float64]
    downlink: NDArray[np.float64]
    latency: float
    gradient: NDArray[np.float64]


@dataclass(frozen=True)
class Network:
    """A model of the seconds that a bit, a round and a gradient take.

    The clients work at the same time, a server waits for all that take part in a round, and
    nothing overlaps on one client. If all clients are equal, take part and send alike, a run takes
    bits up/uplink + bits down/downlink + 2 latency x rounds + gradient x gradients, all per
    client. What can be gained by not waiting for slow clients is the subject of arXiv:2305.12387.

    Parameters
    ----------
    uplink, downlink : float
        Bits per second from a client to the server, and back; of the median client.
    latency : float
        Seconds that a message takes one way, beside its bits.
    gradient : float
        Seconds that a client takes for one gradient of its f_i; the median client.
    spread : str or tuple of float
        How the seconds per gradient differ between clients: ``"equal"``; ``"lognormal:SIGMA"``, the
        quantiles (i - 1/2)/n of a lognormal law; or the seconds of every client.
    links : str
        How the seconds per bit differ: ``"equal"`` or ``"lognormal:SIGMA"``. With two laws the
        order is the same: the last client is the slowest in everything.

    Raises
    ------
    Refusal
        If a rate is not positive, a time is negative, or a spread is unknown.

    Examples
    --------
    >>> from certibit import Network
    >>> Network(uplink=1e6, downlink=1e7, latency=0.05).seconds(up=2e6, down=1e7, rounds=10)
    4.0
    >>> Network(gradient=1.0, spread="lognormal:1").clients(3).gradient.round(2).tolist()
    [0.38, 1.0, 2.63]
    """

    uplink: float = 1e6
    downlink: float = 1e7
    latency: float = 0.05
    gradient: float = 0.0
    spread: Spread = EQUAL
    links: str = EQUAL

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in ("spread", "links"):
                continue
            least = 0 if field.name in ("latency", "gradient") else math.ulp(0.0)
            if not least <= value < math.inf:
                expected = "a time from 0 on" if least == 0 else "a positive rate"
                raise Refusal(f"{field.name} = {value:g} of a network; expected {expected}")
        if not isinstance(self.spread, str):
            object.__setattr__(self, "spread", tuple(self.spread))  # JSON has a list
        require_spread(self.spread)
        require_spread(self.links)

    def clients(self, n: int) -> Clients:
        """Return the link and the speed of each of n clients.

        Raises
        ------
        Refusal
            If the network has the times of another number of clients.
        """
        if isinstance(self.spread, str):
            gradient = self.gradient * factors(self.spread, n)
        elif len(self.spread) == n:
            gradient = np.array(self.spread)
        else:
            raise Refusal(
                f"the network has the times of {len(self.spread)} clients and the problem has {n}; "
                "give one for each"
            )
        links = factors(self.links, n)
        return Clients(self.uplink / links, self.downlink / links, self.latency, gradient)

    def slowest(self, n: int) -> "Network":
        """Return the network of n clients that are all as slow as the slowest of these."""
        clients = self.clients(n)
        return replace(
            self,
            uplink=float(clients.uplink.min()),
            downlink=float(clients.downlink.min()),
            gradient=float(clients.gradient.max()),
            spread=EQUAL,
            links=EQUAL,
        )

    def seconds(self, up: Any = 0, down: Any = 0, rounds: Any = 0, gradients: Any = 0) -> Any:
        """Return the seconds of so many bits, rounds and gradients of a median client."""
        return (
            up / self.uplink
            + down / self.downlink
            + 2 * self.latency * rounds
            + self.gradient * gradients
        )

    @property
    def described(self) -> dict[str, object]:
        """Its fields as JSON values."""
        spread = self.spread if isinstance(self.spread, str) else list(self.spread)
        return asdict(self) | {"spread": spread}

    def __str__(self) -> str:
        spread = self.spread if isinstance(self.spread, str) else "measured"
        words = [
            f"{amount(self.uplink, 'bit')}/s up",
            f"{amount(self.downlink, 'bit')}/s down",
            f"{amount(self.latency, 's')} latency",
            f"{amount(self.gradient, 's')} per gradient",
        ]
        words += [f"{spread} spread"] * (spread != EQUAL)
        words += [f"{self.links} links"] * (self.links != EQUAL)
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
    ``up=1e6,down=10Mbit,latency=50ms,gradient=2e-3,spread=lognormal:1,links=lognormal:0.5``; what
    it leaves out is that of the name before them, such as ``lan,spread=times.csv``, or of lte.

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
        if key in _WORDS:
            changes[_WORDS[key]] = _number(value, "bit" if key in ("up", "down") else "s")
        elif key in ("spread", "links"):
            changes[key] = read_spread(value) if key == "spread" else value
        else:
            known = ", ".join((*_WORDS, "spread", "links"))
            raise Refusal(f"{word!r} says nothing about a network; give KEY=VALUE of {known}")
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
