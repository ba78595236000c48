"""Theorems as objects: hypotheses with margins, the rate, the parameters they recommend."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any, ClassVar

from bitbound.data.errors import Refusal
from bitbound.data.problem import Constants, Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.fit import fitting_compressor, fitting_view
from bitbound.solvers.method import Method
from bitbound.theory.orders import ORDERS, Orders

ROUNDING = 1e-12
"""Relative slack of a condition that is met with equality in exact arithmetic."""


@dataclass(frozen=True)
class Setting:
    """What a theorem is evaluated at: the exact constants and the compressor.

    Attributes
    ----------
    constants : Constants
        Of the view of the problem that the method solves.
    n, d : int
        Number of clients and of features.
    compressor : Compressor
        The compressor of every client.
    """

    constants: Constants
    n: int
    d: int
    compressor: Compressor

    @classmethod
    def of(
        cls, method: type[Method] | Method, problem: Any, compressor: Compressor | None = None
    ) -> "Setting":
        """Return the setting of a method on a problem.

        Raises
        ------
        Refusal
            If method, problem and compressor do not fit each other.
        """
        view = fitting_view(method, problem)
        return cls(
            view.constants, view.n, view.d, fitting_compressor(method, compressor, problem.d)
        )

    @property
    def mu(self) -> float:
        """Strong convexity of every f_i."""
        return self.constants.mu

    @property
    def L(self) -> float:  # noqa: N802  (the paper's symbol)
        """Largest smoothness constant of an f_i."""
        return self.constants.L

    @property
    def kappa(self) -> float:
        """Condition number L/mu."""
        return self.constants.kappa

    @property
    def omega(self) -> float:
        """Relative variance of the compressor."""
        return self.compressor.omega(self.d)

    @property
    def omega_av(self) -> float:
        """Relative variance of the mean of n compressed vectors."""
        return self.compressor.omega_av(self.d, self.n)


@dataclass(frozen=True)
class Condition:
    """One hypothesis ``left <= right`` (or ``<``) of a theorem, evaluated.

    Attributes
    ----------
    statement : str
        The inequality in symbols, such as "gamma < 2/L".
    left, right : float
        Its two sides.
    strict : bool
        Whether equality fails.
    """

    statement: str
    left: float
    right: float
    strict: bool = False

    @property
    def holds(self) -> bool:
        """Whether the inequality holds, up to rounding where it is not strict."""
        if self.strict:
            return self.left < self.right
        slack = ROUNDING * max(abs(self.left), abs(self.right))
        return self.left <= self.right + slack

    @property
    def used(self) -> float:
        """How much of the limit is used: left/right, 1 at the limit (for positive sides)."""
        return self.left / self.right if self.right else math.inf * (self.left > 0)


class Theorem(ABC):
    """A published or proved one-step statement E[Psi+] <= tau Psi about a method."""

    method: ClassVar[type[Method]]
    title: ClassVar[str]

    @property
    def orders(self) -> Orders | None:
        """Rounds and reals in leading order; None for a method that the tables do not have."""
        return ORDERS.get(self.method.name)

    @abstractmethod
    def conditions(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        """Return the hypotheses on the parameters of a method, evaluated."""

    @abstractmethod
    def rate(self, m: Any, setting: Setting) -> float:
        """Return tau, the promised factor of the Lyapunov function per iteration."""


Rule = Callable[..., Method]
"""Parameters from theory: a method made for a setting, with what is left open as options."""


@dataclass(frozen=True)
class Card:
    """A method with its theorems and the rules for its parameters.

    Attributes
    ----------
    method : type
        The method's class.
    theorems : tuple of Theorem
        What is proved about it.
    rules : mapping
        Named rules for its parameters; the first is the default.
    """

    method: type[Method]
    theorems: tuple[Theorem, ...]
    rules: Mapping[str, Rule]

    def parameters(
        self,
        problem: Problem,
        compressor: Compressor | None = None,
        rule: str | None = None,
        **options: Any,
    ) -> Method:
        """Make the method with parameters from theory, at the exact constants of a problem.

        ``options`` are what the rule leaves open, such as the number K of local steps.

        Raises
        ------
        Refusal
            If the rule or an option is unknown, there is none, or the compressor does not fit.
        """
        if not self.rules:
            raise Refusal(f"{self.method.name} has no rules for its parameters; give each yourself")
        rule = next(iter(self.rules)) if rule is None else rule
        if rule not in self.rules:
            raise Refusal(
                f"{self.method.name} has no parameter rule {rule!r}; "
                f"choose one of {', '.join(self.rules)}"
            )
        _, *known = signature(self.rules[rule]).parameters
        for option in options:
            if option not in known:
                raise Refusal(
                    f"the rule {rule!r} of {self.method.name} has no option {option!r}; "
                    f"it leaves open {', '.join(known) or 'nothing'}"
                )
        return self.rules[rule](Setting.of(self.method, problem, compressor), **options)
