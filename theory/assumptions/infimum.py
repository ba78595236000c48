"""The infimum of a smooth function: a gradient step goes down by at most f(x) - inf f."""

from dataclasses import dataclass

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.theory.assumptions.assumption import Assumption, Inequality, SharedPoint
from certibit.theory.assumptions.drawn_quadratics import around, matrix_of, quadratics


@dataclass(frozen=True)
class Infimum(Assumption):
    """The average f is L-smooth and bounded from below: f(x) - inf f >= |grad f(x)|^2/(2 L).

    Every class of functions that need not be convex has this assumption by itself.

    Source: Nesterov, Lectures on Convex Optimization (2018), Section 1.2.3.
    """

    L: float

    def __post_init__(self) -> None:
        """Refuse L = 0, too."""
        super().__post_init__()
        if not self.L > 0:
            raise Refusal(f"L = {self.L!r} of Infimum is no smoothness; give a number above 0")

    def at(self, x: SharedPoint) -> Inequality:
        """Return f(x) - inf f - |grad f(x)|^2/(2 L)."""
        return x.value - 1 / (2 * self.L) * x.gradients.mean().square()

    def follows_from(self, constants: Constants) -> bool:
        """Whether L_f <= L."""
        return constants.L_f <= self.L

    def sample(
        self, n: int, d: int, L: float, generator: np.random.Generator
    ) -> NonconvexQuadratic:
        """Draw an average with the largest eigenvalue L."""
        eigenvalues = generator.uniform(0, min(self.L, L), d)
        eigenvalues[0] = min(self.L, L)
        return quadratics(around(matrix_of(eigenvalues, generator), n, L, generator), generator)
