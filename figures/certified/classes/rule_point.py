"""A method with the parameters of its rule at n and omega, or with a smaller step."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.solvers.method import Method
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import STOCHASTIC
from certibit.theory.certificates.summary import class_setting
from certibit.theory.function_class import FunctionClass
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
        The rule: the one for the class of functions if there is one, else for strongly convex f_i.
    method : Method
        With its parameters.
    strongly, smooth : Setting
        1-strongly convex and L-smooth f_i; and f_i that are L-smooth and convex, or L-smooth only.
    """

    card: Card
    rule: str
    method: Method
    strongly: Setting
    smooth: Setting

    @classmethod
    def of(
        cls, card: Card, n: int, omega: float, rule: str | None = None, *, convex: bool = False
    ) -> Self:
        """Return the point with n clients; contractions have alpha = 1/(1 + omega).

        Raises
        ------
        Refusal
            If the rule makes no parameters there.
        """
        sent = omega if card.method.needs.compressor else None
        strongly = class_setting(card.method, n, L, sent, None, 20)
        constants = Constants(0.0 if convex else -L, np.full(n, L), L)
        smooth = replace(strongly, constants=constants)
        rule = rule or card.default_rule(smooth)
        method = card.at(smooth if rule in {"convex", "nonconvex"} else strongly, rule)
        return cls(card, rule, method, strongly, smooth)

    @property
    def functions(self) -> FunctionClass:
        """The class of smooth f_i, with the noise of a method that reduces variance."""
        functions = FunctionClass.of(self.smooth)
        stochastic = self.card.name in STOCHASTIC
        noisy = (one.noise(self.method, self.smooth) for one in self.card.about("squared_gradient"))
        if not stochastic or any(noisy):
            return functions
        return replace(functions, noise=GradientNoise(difference=self.smooth.difference))


def certified_at_rule(
    card: Card,
    n: int,
    omega: float,
    certified: Callable[[RulePoint, Method], Found],
    *,
    convex: bool = False,
) -> tuple[str, Found | None, str]:
    """Return what is certified with the parameters of a rule, or with a smaller step.

    First stands the rule, and the number by which its step is divided; "-" if there are no
    parameters. What is certified is None if nothing is, and last stands why.
    """
    rule = "-"
    try:
        at = RulePoint.of(card, n, omega, convex=convex)
        rule = at.rule
        found, part = with_some_step(card, at.method, lambda method: certified(at, method))
    except Refusal as refusal:
        return rule, None, str(refusal)
    return f"{rule}/{1 / part:g}" if part < 1 else rule, found, ""


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
