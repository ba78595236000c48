"""The condition of Polyak and Lojasiewicz, which gives linear rates without convexity."""

from dataclasses import dataclass
from typing import Any

from certibit.data.problem import Constants
from certibit.theory.assumptions.assumption import (
    Assumption,
    Inequality,
    SharedPoint,
    require_convexity_below_smoothness,
)


@dataclass(frozen=True)
class PolyakLojasiewicz(Assumption):
    """|grad f(x)|^2 >= 2 mu (f(x) - inf f) for the average f.

    Source: Karimi, Nutini, Schmidt, arXiv:1608.04636, equation 3.

    Examples
    --------
    >>> from certibit import FunctionClass, PolyakLojasiewicz
    >>> functions = FunctionClass(4, mu=-1.0, L=1.0, assumptions=(PolyakLojasiewicz(0.1),))
    >>> functions.has_solution
    False
    """

    mu: float

    def at(self, x: SharedPoint) -> Inequality:
        """Return |grad f(x)|^2 - 2 mu (f(x) - inf f)."""
        return x.gradients.mean().square() - 2 * self.mu * x.value

    def require_possible(self, L_f: Any) -> None:
        """Refuse mu > L_f: |grad f(x)|^2 <= 2 L_f (f(x) - inf f)."""
        require_convexity_below_smoothness(self, L_f)

    def follows_from(self, constants: Constants) -> bool:
        """Whether the f_i are mu-strongly convex."""
        return constants.mu >= self.mu
