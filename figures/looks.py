"""How methods look in figures: a view of their cards."""

from bitbound.theory.card import Card
from bitbound.theory.theorems.catalogue import CARDS

_OTHER_METHOD = (Card.colour, Card.marker)


def method_label(name: str) -> str:
    """Return how a method is written in figures; one without a card is called by its name."""
    return CARDS[name].label if name in CARDS else name


def method_look(name: str) -> tuple[str, str]:
    """Return the colour and the marker of a method; all without a card share one."""
    return (CARDS[name].colour, CARDS[name].marker) if name in CARDS else _OTHER_METHOD


def in_legend_order(names: set[str]) -> list[str]:
    """Return names of methods in the order of the catalogue; those without a card come last."""
    order = [name for name in CARDS if name in names]
    return [*order, *sorted(names - set(order))]
