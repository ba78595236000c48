"""The rows of a method in the tables: its rules, its versions, and clients that differ."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting

PART, LESS_CURVED = 5, 10.0
"""With two classes of clients, one client in PART has an L_i that is LESS_CURVED times smaller."""

MEANING = f"of 2 classes of clients, one in {PART} has an L_i {LESS_CURVED:g} times smaller"
"""The name of its rows in a table."""


@dataclass(frozen=True)
class Variant:
    """A rule of a method with its options, for clients of one class or of two.

    Parameters
    ----------
    rule : str
        Of the card.
    options : mapping
        What the rule leaves open.
    classes : int
        How many classes the clients are of, 1 or 2.
    """

    rule: str
    options: Mapping[str, Any] = field(default_factory=dict)
    classes: int = 1

    @property
    def name(self) -> str:
        """Name of its row, such as "best, II" or "published, 2 classes"."""
        told = [str(value) for value in self.options.values()]
        return ", ".join([self.rule, *told, *[f"{self.classes} classes"] * (self.classes > 1)])

    def setting(self, alike: Setting) -> Setting:
        """Return the setting of clients that are alike, or of this many classes."""
        if self.classes == 1:
            return alike
        L_i = np.array(alike.constants.L_i)
        L_i[: max(1, alike.n // PART)] /= LESS_CURVED
        return replace(alike, constants=replace(alike.constants, L_i=L_i, L_f=float(np.mean(L_i))))

    def functions(self, setting: Setting) -> FunctionClass:
        """Return the function class of a certificate in that setting."""
        return FunctionClass.of_groups(setting, min(self.classes, setting.n))

    def method(self, card: Card, setting: Setting) -> Method:
        """Return the method with its parameters."""
        return card.at(setting, self.rule, **self.options)


def variants(card: Card) -> dict[str, Variant]:
    """Return the variants of a method by their names, its rules first.

    The variants are its rules, the rules with the other versions of the method, and the rules with
    two classes of clients if the method has a parameter for each client.
    """
    found = [Variant(rule) for rule in card.rules]
    hints = get_type_hints(card.method)
    for one in fields(card.method):
        hint = hints[one.name]
        if get_origin(hint) is Literal:
            found += [
                Variant(rule, {one.name: value})
                for rule in card.rules
                for value in get_args(hint)
                if value != one.default and one.name in card.left_open(rule)
            ]
        if get_origin(hint) is tuple:
            found += [Variant(rule, classes=2) for rule in card.rules]
    return {variant.name: variant for variant in found}
