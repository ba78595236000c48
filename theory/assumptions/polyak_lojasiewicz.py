"""The condition of Polyak and Lojasiewicz, convexity towards a minimiser, and similar clients."""

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


@dataclass(frozen=True)
class Similarity(Assumption):
    """The gradients of f_i - f change by at most delta |x - y|, in the mean square.

    (1/n) sum_i |grad f_i(x) - grad f(x) - grad f_i(y) + grad f(y)|^2 <= delta^2 |x - y|^2; it is
    "Hessian variance" in Szlendak, Tyurin, Richtarik, arXiv:2110.03300.

    Examples
    --------
    >>> from certibit import FunctionClass, Similarity
    >>> functions = FunctionClass(4, mu=-1.0, L=1.0, assumptions=(Similarity(0.1),))
    >>> functions.assumptions[0].delta
    0.1
    """

    delta: float

    def between(self, x: SharedPoint, y: SharedPoint) -> Inequality:
        """Return delta^2 |x - y|^2 less the mean square of the change of the differences."""
        change = x.gradients - y.gradients
        apart = change - change.mean()
        return self.delta**2 * (x.point - y.point).square() - apart.square()

    def follows_from(self, constants: Constants) -> bool:
        """Whether mean L_i^2 <= delta^2: the variance of the Hessians is at most that."""
        return constants.L_tilde <= self.delta
