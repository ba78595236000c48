"""The catalogue of all methods by name.

The card of a method of the package is found by its file in the folder of cards. The cards of other
packages are found through the entry point group ``certibit.methods``, each entry being a
:class:`Card`. A file of a user may have one, too.
"""

import ast
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path
from pkgutil import iter_modules
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from certibit.data.errors import Refusal
from certibit.data.own.own_file import file_and_name, is_own, load_file, own_classes
from certibit.data.problem import Problem
from certibit.data.problems.selector import problem as problem_named
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor as compressor_named
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import fitted_view
from certibit.theory import cards
from certibit.theory.card import Card

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
    "ef_bv",
    "econtrol",
    "marina",
    "dasha",
    "agd",
    "nesterov",
    "growing_adiana",
    "gd",
    "sgd",
    "local_sgd",
    "ef21_sgdm",
    "page",
    "vr_marina",
    "dasha_page",
    "dasha_mvr",
    "l_svrg",
    "vr_diana",
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


@cache
def _files() -> tuple[str, ...]:
    """Return the names of the files of the folder, in the order of a legend."""
    found = {module.name for module in iter_modules(cards.__path__)}
    first = [name for name in _LEGEND if name in found]
    return (*first, *sorted(found - set(first)))


def _card(file: str) -> Card:
    card: Card = import_module(f"{cards.__name__}.{file}").CARD
    return card


@cache
def _others() -> tuple[Card, ...]:
    return other_cards(frozenset(_card(file).name for file in _files()))


class Catalogue(Mapping[str, Card]):
    """Cards by the names of their methods, in the order of a legend.

    A card is loaded when it is asked for, from the file of its name if there is one.

    Parameters
    ----------
    belongs : callable
        Which cards it has.
    """

    def __init__(self, belongs: Callable[[Card], bool]) -> None:
        self._belongs = belongs

    def __getitem__(self, name: str) -> Card:
        file = name.replace("-", "_")
        near = (_card(file),) if file in _files() else ()
        for card in chain(near, self._all()):
            if card.name == name and self._belongs(card):
                return card
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (card.name for card in self._all() if self._belongs(card))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __or__(self, other: Mapping[str, Card]) -> dict[str, Card]:
        return {**self, **other}

    def _all(self) -> Iterator[Card]:
        yield from map(_card, _files())
        yield from _others()


def other_cards(taken: frozenset[str]) -> tuple[Card, ...]:
    """Return the cards of other packages; one that cannot be used is left out with a warning.

    ``taken`` are names of methods that another card has already.
    """
    from importlib.metadata import entry_points  # noqa: PLC0415  (slow to import)

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


CARDS = Catalogue(lambda card: True)
"""Every method by name, in the order of a legend."""

SHARED_MINIMISER = Catalogue(
    lambda card: card.method.needs.shared_minimiser and not card.method.needs.samples
)
"""The methods for strongly convex f_i with the same minimiser, such as one client, by name."""

STOCHASTIC = Catalogue(lambda card: card.method.needs.samples and card.method.needs.strongly_convex)
"""The methods that name samples of stochastic gradients by name."""

METHODS = Catalogue(
    lambda card: (
        card.method.needs.strongly_convex
        and not card.method.needs.shared_minimiser
        and not card.method.needs.samples
    )
)
"""The methods for all strongly convex problems by name, with exact gradients."""

CLIPPING = Catalogue(lambda card: not card.method.needs.strongly_convex)
"""The methods for (L0, L1)-smooth problems by name."""


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


def made(
    method: Method | str,
    problem: Problem | str,
    compressor: Compressor | str | None = None,
    *,
    card: Card | None = None,
    rule: str | None = None,
) -> tuple[Method, Any, Compressor | None]:
    """Return a method, a problem and a compressor, of which some are given by their names.

    A method by name has the parameters of a rule, by default its first.
    """
    problem = problem_named(problem) if isinstance(problem, str) else problem
    compressor = compressor_named(compressor) if isinstance(compressor, str) else compressor
    if isinstance(method, str):
        card = find_card(method) if card is None else card
        method = card.parameters(fitted_view(card.method, problem), compressor, rule)
    return method, problem, compressor


def parameters(
    name: str,
    problem: Problem | str,
    compressor: Compressor | str | None = None,
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
    card = card_named(name)
    problem = problem_named(problem) if isinstance(problem, str) else problem
    compressor = compressor_named(compressor) if isinstance(compressor, str) else compressor
    return card.parameters(problem, compressor, rule, **options)


def find_card(name: str) -> Card:
    """Return the card of a method by its name, or that of a file: ``path/to/file.py[:NAME]``."""
    return card_from_file(*file_and_name(name)[:2]) if is_own(name) else card_named(name)


def card_from_file(path: Path, name: str = "") -> Card:
    """Load a method of a file.

    The file is run as a module. It defines ``CARD = Card(...)`` with theorems and rules, or a
    class of methods, whose parameters must then be given. Where it defines several, ``name`` is
    that of the card or of the class.

    Raises
    ------
    Refusal
        If there is no such file, it cannot be run, or it defines no such method or several.
    """
    module = load_file(path, "a method")
    cards = {key: card for key, card in vars(module).items() if isinstance(card, Card)}
    classes = own_classes(module, Method)  # type: ignore[type-abstract]
    methods = {key: kind for key, kind in classes.items() if not inspect.isabstract(kind)}
    if not name and "CARD" in cards:
        return cards["CARD"]
    if name in cards:
        return cards[name]
    if not name and len(set(methods.values())) == 1:  # a class may have several names
        name = next(iter(methods))
    if name not in methods:
        there = ", ".join([*methods, *cards]) or "none, write class NAME(Method)"
        missing = f"no method {name}" if name else f"{len(methods)} methods and no CARD"
        raise Refusal(f"{path} defines {missing}; name it {path}:NAME, there is {there}")
    if "__dataclass_fields__" not in vars(methods[name]):
        raise Refusal(f"{name} is no dataclass; write @dataclass(frozen=True) above it")
    for card in cards.values():
        if card.method is methods[name]:
            return card
    return Card(methods[name])


def read_settings(method: type[Method], settings: Iterable[str]) -> dict[str, Any]:
    """Read parameters such as ``gamma=0.1``, each as the kind that the method declares.

    Raises
    ------
    Refusal
        If a setting cannot be read, names no parameter, or is not of its kind: a finite number, a
        whole number, one of some words, or a tuple of finite numbers such as ``(1, 0.5)``.
    """
    kinds = {field.name: field.type for field in fields(method)}
    hints = get_type_hints(method)
    values = {}
    for text in settings:
        name, equals, word = text.partition("=")
        if not equals or not name.isidentifier():
            raise Refusal(f"the parameter {text!r} cannot be read; expected such as gamma=0.1")
        if name not in kinds:
            raise Refusal(f"{method.name} has no parameter {name!r}; it has {', '.join(kinds)}")
        try:
            value = ast.literal_eval(word)
        except (ValueError, SyntaxError, RecursionError, MemoryError):  # the last if too deep
            value = word
        kind = hints.get(name, Any)
        if not _is_of(value, kind):
            wanted = " or ".join(map(str, get_args(kind))) or getattr(kind, "__name__", str(kind))
            raise Refusal(f"the parameter {text!r} of {method.name} must be a finite {wanted}")
        values[name] = value
    return values


def _is_of(value: Any, kind: Any) -> bool:
    """Say whether a value is of a declared kind; of kinds that are not known, any value is."""
    if get_origin(kind) is Literal:
        return value in get_args(kind)
    if get_origin(kind) is tuple:
        return isinstance(value, tuple) and all(_is_of(each, float) for each in value)
    if get_origin(kind) in (Union, UnionType):
        return any(_is_of(value, each) for each in get_args(kind))
    if kind is float:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return number and abs(value) <= sys.float_info.max
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return not isinstance(kind, type) or isinstance(value, kind)
