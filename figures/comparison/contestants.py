"""The methods of a comparison, with parameters and compressor, from names or instances."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from certibit.data.errors import Refusal
from certibit.data.problem import Problem
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.state import batch
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import card_of, find_card, read_settings
from certibit.theory.setting import Setting

Entry: TypeAlias = str | Method | tuple[str | Method, str | Compressor | None]
"""How a contestant is given: a method, or a method and its compressor."""

_NAME = re.compile(r"(?P<method>[^\[\]+]+)(\[(?P<inside>[^\[\]]+)\])?(\+(?P<compressor>.+))?")


@dataclass(frozen=True, eq=False)
class Contestant:
    """A method with its parameters and its compressor, fitted to a problem.

    Attributes
    ----------
    card : Card
        Of the method; an empty one for a class that is not in the catalogue.
    experiment : Experiment
        The method, the problem and the compressor.
    variant : str
        The rule, or the parameters, by which it differs from others of the same method.
    """

    card: Card
    experiment: Experiment[Problem]
    variant: str = ""

    @property
    def method(self) -> Method:
        """The method with its parameters."""
        return self.experiment.method

    @property
    def compressor(self) -> Compressor:
        """Of every client; the identity for a method that sends uncompressed vectors."""
        return self.experiment.compressor

    @property
    def name(self) -> str:
        """How the command line writes it, such as ``locodl[ours]+rand-k:2``."""
        variant = f"[{self.variant}]" if self.variant else ""
        return f"{self.card.name}{variant}{self._sent('+')}"

    @property
    def label(self) -> str:
        """How figures write it, such as ``LoCoDL (ours), rand-k:2``."""
        variant = f" ({self.variant})" if self.variant else ""
        return f"{self.card.label}{variant}{self._sent(', ')}"

    def __repr__(self) -> str:
        return f"Contestant {self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Be pickled; a card of the catalogue, whose formulas cannot be, by its method."""
        own = None if self.card is card_of(self.method) else self.card
        return _contestant_again, (own, self.experiment, self.variant)

    def _sent(self, separator: str) -> str:
        plain = isinstance(self.compressor, Identity)
        return "" if plain else f"{separator}{self.compressor.name}"


def _contestant_again(
    card: Card | None, experiment: Experiment[Problem], variant: str
) -> Contestant:
    return Contestant(card or card_of(experiment.method), experiment, variant)


def contestants(
    problem: Problem, entries: Sequence[Entry], steps: tuple[float, float] | None = None
) -> tuple[Contestant, ...]:
    """Return the contestants, fitted to a problem, with distinct names.

    ``steps`` are the step size and the threshold of those whose name gives none, if these are to
    be tuned.

    A name is ``METHOD``, ``METHOD[RULE]`` or ``METHOD[NAME=VALUE,...]``, each also followed by
    ``+COMPRESSOR``; a method is one of the catalogue or ``path/to/method.py``.

    Raises
    ------
    Refusal
        If there is none, a name cannot be read, two are the same, or one does not fit the problem.
    """
    if isinstance(entries, str) or not entries:
        raise Refusal(
            f"{entries!r} is nothing to compare; give a list of methods, such as "
            '["gd", ("locodl", "rand-k:2")]'
        )
    return _told_apart([_contestant(problem, entry, steps) for entry in entries])


def _contestant(problem: Problem, entry: Entry, steps: tuple[float, float] | None) -> Contestant:
    match entry:
        case (str() | Method() as given, sent):
            chosen = compressor(sent) if isinstance(sent, str) else sent
        case str() | Method() as given:
            chosen = None
        case _:
            raise Refusal(
                f"{entry!r} is no contestant; give a name of a method, a method with its "
                "parameters, or one of these and a compressor"
            )
    if not isinstance(chosen, Compressor | None):
        raise Refusal(f"{chosen!r} is no compressor; give one, or its name such as rand-k:2")
    if isinstance(given, Method):
        if batch(given) > 1:
            raise Refusal(
                f"{given.name} has parameters for {batch(given)} runs; "
                "give each parameter one value, and each set of parameters as a contestant"
            )
        return Contestant(card_of(given), Experiment.of(given, problem, chosen))
    return _named(problem, given, chosen, steps)


def _named(
    problem: Problem, name: str, sent: Compressor | None, steps: tuple[float, float] | None
) -> Contestant:
    """Return a contestant by its name; the compressor stands in the name or beside it."""
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise Refusal(
            f"the contestant {name!r} cannot be read; "
            "expected METHOD[RULE]+COMPRESSOR, such as locodl[ours]+rand-k:2"
        )
    if parts["compressor"] and sent is not None:
        raise Refusal(f"{name!r} comes with a second compressor, {sent.name}; give one of the two")
    card = find_card(parts["method"])
    sent = compressor(parts["compressor"]) if parts["compressor"] else sent
    words = parts["inside"].split(",") if parts["inside"] else []
    values = read_settings(card.method, [word for word in words if "=" in word])
    rules = [word for word in words if "=" not in word]
    if len(rules) > 1:
        raise Refusal(f"{name!r} names {len(rules)} rules, {' and '.join(rules)}; give one")
    if steps is not None:
        tuned = card.steps(*steps)
        if twice := ", ".join(set(tuned) & set(values)):
            raise Refusal(f"{name!r} gives {twice}, which is tuned; leave it out")
        values |= tuned
    if not card.rules and set(card.needed) - set(values):
        raise card.without_rules(values)
    setting = Setting.of(card.method, problem, sent)
    method = card.with_values(setting, next(iter(rules), None), values)
    return Contestant(card, Experiment.of(method, problem, sent), ",".join(words))


def _told_apart(given: list[Contestant]) -> tuple[Contestant, ...]:
    """Return the contestants; those of one name are called by the parameters that differ."""
    found = []
    for contestant in given:
        alike = [vars(other.method) for other in given if other.name == contestant.name]
        values = vars(contestant.method)
        differing = [name for name in values if any(each[name] != values[name] for each in alike)]
        if alike.count(values) > 1:
            raise Refusal(f"{contestant.name} takes part twice; leave one of the two out")
        if differing:
            shown = {k: f"{x:.6g}" if isinstance(x, float) else x for k, x in values.items()}
            told = ",".join(f"{name}={shown[name]}" for name in differing)
            contestant = replace(contestant, variant=told)  # noqa: PLW2901
        found.append(contestant)
    return tuple(found)
