"""A method with the parameters of its rule at n and omega, or with a smaller step."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.certificates.summary import class_setting
from certibit.theory.setting import Setting

L = 100.0
"""The smoothness of all f_i; rules for strongly convex f_i get kappa = L."""

PARTS = (1.0, 0.1, 0.01, 0.001)
"""Parts of the step of a rule that are tried: it may be too large for another class."""

Found = TypeVar("Found")


@dataclass(frozen=True)
class RulePoint:
    """A method with the parameters of its default rule, and where it is asked.

    Attributes
    ----------
    card : Card
        That of the method.
    rule : str
        The rule: the one named nonconvex if there is one, else one for strongly convex f_i.
    method : Method
        With its parameters.
    strongly, smooth : Setting
        1-strongly convex and L-smooth f_i; and f_i that are L-smooth only.
    """

    card: Card
    rule: str
    method: Method
    strongly: Setting
    smooth: Setting

    @classmethod
    def of(cls, card: Card, n: int, omega: float, rule: str | None = None) -> Self:
        """Return the point with n clients; contractions have alpha = 1/(1 + omega).

        Raises
        ------
        Refusal
            If the rule makes no parameters there.
        """
        sent = omega if card.method.needs.compressor else None
        strongly = class_setting(card.method, n, L, sent, None, 20)
        constants = Constants(-L, np.full(n, L), L)
        smooth = Setting(constants, n, strongly.d, strongly.compressor)
        rule = rule or card.default_rule(smooth)
        method = card.at(smooth if rule == "nonconvex" else strongly, rule)
        return cls(card, rule, method, strongly, smooth)


def with_some_step(
    card: Card, method: Method, certified: Callable[[Method], Found]
) -> tuple[Found, float]:
    """Return what is certified with the step of a method or a smaller one, and its part.

    Raises
    ------
    Refusal
        What refuses the smallest one, if all are.
    """
    name = card.step_size
    parts = PARTS if name else PARTS[:1]
    for part in parts:
        changes: Any = {name: part * getattr(method, name)} if name else {}
        try:
            return certified(replace(method, **changes)), part
        except Refusal:
            if part == parts[-1]:
                raise
    raise AssertionError
