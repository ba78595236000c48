"""Theorems as objects: hypotheses with margins, the potential and its rate."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.data.arrays import Array
from certibit.solvers.method import Method
from certibit.theory.potential import ClassConstants, Terms
from certibit.theory.setting import Setting

SLACK = 1e-12
"""Relative slack of a condition that is met with equality in exact arithmetic."""


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

    Examples
    --------
    >>> from certibit import Condition
    >>> condition = Condition("gamma < 2/L", left=0.1, right=0.2, strict=True)
    >>> condition.holds, condition.used
    (True, 0.5)
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
        slack = SLACK * max(abs(self.left), abs(self.right))
        return self.left <= self.right + slack

    @property
    def used(self) -> float:
        """The ratio left/right, 1 at the limit (for positive sides)."""
        return self.left / self.right if self.right else math.inf * (self.left > 0)


class Theorem(ABC):
    """A theorem E[Psi+] <= tau Psi about one step of a method, published or proved by us.

    Examples
    --------
    >>> from certibit import METHODS, Quadratic, Setting
    >>> card, problem = METHODS["gd"], Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> setting = Setting.of(card.method, problem)
    >>> theorem, method = card.theorems[0], card.at(setting, "optimal")
    >>> all(condition.holds for condition in theorem.conditions(method, setting))
    True
    >>> theorem.rate(method, setting) < 1
    True
    """

    method: ClassVar[type[Method]]
    title: ClassVar[str]
    published: ClassVar[bool] = True
    """Whether its rate is in a paper; otherwise the theorem is proved by us."""
    tight: ClassVar[bool] = False
    """Whether it promises nearly all that a certificate proves with any quadratic potential."""

    @abstractmethod
    def conditions(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        """Return the hypotheses on the parameters of a method, evaluated."""

    @abstractmethod
    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the terms of the Lyapunov function Psi at a state; ``star`` is the fixed point.

        ``problem`` is there for gradients at points of the state.
        """

    @abstractmethod
    def rate(self, m: Any, setting: Setting) -> float:
        """Return tau, the promised factor of the Lyapunov function per iteration."""

    def solved(self, m: Any, s: Any, y: Array, gradient: Array) -> Array | None:
        """Return which local solves may end at points y, (n, 1, R); None if none is asked for.

        ``s`` is the state before the round; y and the gradients of the f_i there are (n, d, R).
        """
        return None

    def unmet(self, m: Any, setting: Setting) -> tuple[Condition, ...]:
        """Return the hypotheses that fail."""
        return tuple(c for c in self.conditions(m, setting) if not c.holds)
