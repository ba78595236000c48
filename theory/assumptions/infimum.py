"""The infimum of a smooth function: a gradient step goes down by at most f(x) - inf f."""

from dataclasses import dataclass

from certibit.theory.assumptions.assumption import Assumption, Inequality, SharedPoint


@dataclass(frozen=True)
class Infimum(Assumption):
    """The average f is L-smooth and bounded from below: f(x) - inf f >= |grad f(x)|^2/(2 L).

    Every class without a solution has this assumption by itself.
    """

    L: float

    def at(self, x: SharedPoint) -> Inequality:
        """Return f(x) - inf f - |grad f(x)|^2/(2 L)."""
        return x.value - 1 / (2 * self.L) * x.gradients.mean().square()
