"""The catalogue of all methods by name.

The card of a method of the package is found by its file in the folder of cards. The cards of other
packages are found through the entry point group ``certibit.methods``, each entry being a
:class:`Card`.
"""

import warnings
from collections.abc import Iterator
from difflib import get_close_matches
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.problem import Problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.method import Method
from certibit.theory import cards
from certibit.theory.card import Card, Tuning

GROUP = "certibit.methods"
"""The entry points of other packages."""

_LEGEND = (
    "locodl",
    "adiana",
    "diana",
    "ef21p_diana",
    "locodl_both_ways",
    "five_gcs_cc",
    "compressed_scaffnew",
    "gradskip",
    "scaffold",
    "tamuna",
    "scaffnew",
    "fedcomgate",
    "ef21",
    "econtrol",
    "marina",
    "dasha",
    "agd",
    "gd",
    "sgd",
    "ef21_sgdm",
    "page",
    "vr_marina",
    "ef",
    "compressed_gd",
    "episode",
    "episode_plus_plus",
    "celgc",
    "clipped_scaffold",
    "naive_parallel_clip",
    "clipped_minibatch_sgd",
    "clipped_sgd",
    "normalised_gd",
    "momentum_clipping",
    "clip21",
    "normalised_ef21",
)
"""The order of a legend, by file; methods that are not named here follow by name."""


def _cards() -> Iterator[Card]:
    """Load the card of every file of the folder, in the order of a legend."""
    found = {module.name for module in iter_modules(cards.__path__)}
    first = [name for name in _LEGEND if name in found]
    for name in (*first, *sorted(found - set(first))):
        yield import_module(f"{cards.__name__}.{name}").CARD


_CARDS = tuple(_cards())


def other_cards(taken: frozenset[str]) -> tuple[Card, ...]:
    """Return the cards of other packages; one that cannot be used is left out with a warning.

    ``taken`` are names of methods that another card has already.
    """
    found: list[Card] = []
    for point in entry_points(group=GROUP):
        where = f"the entry point {point.name} = {point.value}"
        try:
            card = point.load()
        except Exception as error:  # whatever another package does wrong must not break this one
            warnings.warn(f"{where} cannot be loaded and is left out: {error}", stacklevel=2)
            continue
        if not isinstance(card, Card):
            warnings.warn(f"{where} is no Card and is left out", stacklevel=2)
        elif card.name in taken | {other.name for other in found}:
            warnings.warn(f"{where}: a method {card.name!r} is there already", stacklevel=2)
        else:
            found.append(card)
    return tuple(found)


CARDS: dict[str, Card] = {
    card.name: card for card in (*_CARDS, *other_cards(frozenset(card.name for card in _CARDS)))
}
"""Every method by name, in the order of a legend."""

SHARED_MINIMISER: dict[str, Card] = {
    name: card for name, card in CARDS.items() if card.method.needs.shared_minimiser
}
"""The methods for strongly convex f_i with the same minimiser, such as one client, by name."""

STOCHASTIC: dict[str, Card] = {
    name: card for name, card in CARDS.items() if card.descents and not card.theorems
}
"""The methods for stochastic gradients by name, whose theorems are about descents only."""

METHODS: dict[str, Card] = {
    name: card
    for name, card in CARDS.items()
    if card.method.needs.strongly_convex and name not in {*SHARED_MINIMISER, *STOCHASTIC}
}
"""The methods for all strongly convex problems by name."""

CLIPPING: dict[str, Card] = {
    name: card for name, card in CARDS.items() if not card.method.needs.strongly_convex
}
"""The methods for (L0, L1)-smooth problems by name; their parameters must be given."""

TUNINGS: dict[str, Tuning] = {
    tuning.name: tuning
    for tuning in sorted(
        (tuning for card in CARDS.values() for tuning in card.tunings),
        key=lambda tuning: (not tuning.federated, not tuning.clips),
    )
}
"""Ways to make them, by name: federated and clipped, federated and not clipped, on one machine."""


def card_named(name: str) -> Card:
    """Return the card of a method by its name.

    Raises
    ------
    Refusal
        If no method has this name.
    """
    if name in CARDS:
        return CARDS[name]
    near = get_close_matches(name, CARDS, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(CARDS)}"
    raise Refusal(f"the method {name!r} is unknown; {hint}")


def card_of(method: Method) -> Card:
    """Return the card of a method, or an empty one for a class that is not in the catalogue."""
    found = CARDS.get(method.name)
    return found if found and type(method) is found.method else Card(type(method))


def parameters(
    name: str,
    problem: Problem,
    compressor: Compressor | None = None,
    rule: str | None = None,
    **options: Any,
) -> Method:
    """Make a method with parameters from theory; see :meth:`Card.parameters`.

    Examples
    --------
    >>> from certibit import Quadratic, compressor, parameters
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> parameters("marina", problem, compressor("rand-k:2")).p
    0.5
    """
    return card_named(name).parameters(problem, compressor, rule, **options)
