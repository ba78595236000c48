"""Colours, markers and labels of methods in figures, from their cards."""

from collections.abc import Iterator, Sequence
from itertools import cycle
from typing import Any

from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS

_LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.6, 1.2, 1.6)), (0, (9, 2)))
"""Line styles of cards of one colour."""
_OTHER_METHOD = (Card.colour, Card.marker)
_STRANGERS = (
    ("#EE3377", "^"),
    ("#0077BB", "v"),
    ("#117733", "s"),
    ("#AA7700", "D"),
    ("#6633AA", "P"),
    ("#00AACC", "X"),
)
"""Looks of methods whose cards have none, where several are in one figure."""


def method_label(name: str) -> str:
    """Return how a method is written in figures; one without a card is called by its name."""
    return CARDS[name].label if name in CARDS else name


def method_look(name: str) -> tuple[str, str]:
    """Return the colour and the marker of a method; all without a card share one."""
    return (CARDS[name].colour, CARDS[name].marker) if name in CARDS else _OTHER_METHOD


def distinct_looks(cards: Sequence[Card]) -> list[dict[str, Any]]:
    """Return the colour, marker and line style of each card, all different.

    Methods whose cards have no look get one; cards of one colour differ in the line.
    """
    free = cycle(_STRANGERS)
    chosen: dict[type, tuple[str, str]] = {}
    lines: dict[str, Iterator[Any]] = {}
    looks = []
    for card in cards:
        if card.method not in chosen:
            look = (card.colour, card.marker)
            chosen[card.method] = next(free) if look == _OTHER_METHOD else look
        colour, marker = chosen[card.method]
        line = next(lines.setdefault(colour, cycle(_LINES)))
        looks.append({"color": colour, "marker": marker, "linestyle": line})
    return looks
