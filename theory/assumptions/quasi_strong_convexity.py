"""Quasi-strong convexity, with mu = 0 star convexity: convexity towards one minimiser."""

from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.data.problem import Constants
from certibit.theory.assumptions.assumption import (
    Assumption,
    Inequality,
    SharedPoint,
    require_convexity_below_smoothness,
)


@dataclass(frozen=True)
class QuasiStrongConvexity(Assumption):
    """f* >= f(x) + <grad f(x), x* - x> + (mu/2) |x* - x|^2 for the average f and all x.

    x* is one minimiser of f, the same for all x, and the solution of the class; for mu > 0 there is
    no other. The f_i need not be convex. With mu = 0 it is star convexity.

    Sources: Necoara, Nesterov, Glineur, arXiv:1504.06298, Definition 1, whose x* is the minimiser
    nearest to x; for mu = 0 Hinder, Sidford, Sohoni, arXiv:1906.11985.

    Examples
    --------
    >>> from certibit import FunctionClass, QuasiStrongConvexity
    >>> star_convex = FunctionClass(4, mu=-1.0, L=1.0, assumptions=(QuasiStrongConvexity(0.0),))
    >>> star_convex.has_solution
    True
    """

    mu: float

    needs_solution: ClassVar[bool] = True

    def at(self, x: SharedPoint) -> Inequality:
        """Return <grad f(x), x - x*> - (f(x) - f*) - (mu/2) |x - x*|^2."""
        along = x.gradients.mean().dot(x.point)
        return along - x.value - self.mu / 2 * x.point.square()

    def require_possible(self, L_f: Any) -> None:
        """Refuse mu > L_f: <grad f(x), x - x*> <= f(x) - f* + (L_f/2) |x - x*|^2."""
        require_convexity_below_smoothness(self, L_f)

    def follows_from(self, constants: Constants) -> bool:
        """Whether the f_i are mu-strongly convex."""
        return constants.mu >= self.mu
