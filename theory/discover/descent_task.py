"""The task of a search over functions that need not be strongly convex: the cost of a descent.

A run that starts at rest, as after one uncompressed round, has (1/T) sum_t E|grad f(x_t)|^2 <=
(f(x_0) - inf f)/(c T) by a certificate whose Psi is f - inf f there. No c is larger than (f(x_0) -
f*)/sum_t E|grad f(x_t)|^2 on a quadratic, which the second moments of one step give exactly.
"""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Any

from certibit.solvers.method import Method
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_forms import largest_constant
from certibit.theory.discover.grammar import Sentence
from certibit.theory.discover.screen import Screen, Steps
from certibit.theory.discover.task import ProvedStep, Task
from certibit.theory.function_class import FunctionClass

CURVATURES = (-1.0, -0.8, 0.1, 1.0)
"""Curvatures of the screened quadratics, of which the mean is positive."""


@dataclass(frozen=True)
class DescentTask(Task):
    """Methods with the least cost of a descent, over L-smooth functions with L = 1.

    Attributes
    ----------
    convex : bool
        Whether the f_i are convex: then the cost is that of a mean of f(x_t) - f* of at most eps,
        and its unit |x_0 - x*|^2/eps; else of |grad f(x_t)|^2.
    """

    convex: bool = False

    @property
    def unit(self) -> str:
        """The unit of the cost: what it is paid for."""
        return "L |x_0 - x*|^2/eps" if self.convex else "L (f(x_0) - inf f)/eps"

    @property
    def smoothness(self) -> float:
        """The smoothness of the f_i, 1."""
        return 1.0

    @property
    def rarest(self) -> float:
        """The smallest probability of a round: unlike clients gain nothing by more steps."""
        return 0.1

    @property
    def described(self) -> dict[str, Any]:
        """The name of the class of functions."""
        return {"class": "convex" if self.convex else "nonconvex"}

    def functions(self, one: Sentence) -> FunctionClass:
        """Return the class of smooth functions."""
        mu = 0.0 if self.convex else -1.0
        return FunctionClass(self.n, mu, 1.0, **self.constants(one))

    def curvatures(self, clients: int) -> list[tuple[float, ...]]:
        """Return curvatures with a positive mean, of either sign unless functions are convex."""
        allowed = [h for h in CURVATURES if h > 0 or not self.convex]
        every = combinations_with_replacement(allowed, clients)
        return [some for some in every if sum(some) > 1e-9]

    def attained(self, screen: Screen, method: Method, steps: Steps) -> float:
        """Return the largest c of any descent on the quadratics."""
        return screen.descent(method, steps, self.convex)

    def certified(self, method: Method, functions: FunctionClass, gradients: bool) -> float:
        """Return the largest c of a descent with Psi = f - inf f, or |x - x*|^2, at rest."""
        return largest_constant(method, functions, at_rest=True)

    def proof(self, method: Method, functions: FunctionClass) -> tuple[ProvedStep, float]:
        """Return the certificate of the descent."""
        found = certify_descent(method, functions, begin="rest")
        return found, found.c

    def iterations(self, decrease: float) -> float:
        """Return the number of iterations, 1/c."""
        return 1 / decrease

    def promise(self, decrease: float) -> str:
        """Return the promise of a descent with this c, as a formula."""
        measure = "L (f(x) - f*)" if self.convex else "|grad f(x)|^2/L"
        return f"E[Psi+] <= Psi - {decrease:.6g} {measure}"

    def proved(self, decrease: float) -> dict[str, float]:
        """Return c, with its name."""
        return {"c": decrease}
