"""The condition of Polyak and Lojasiewicz, which gives linear rates without convexity."""

from dataclasses import dataclass

from certibit.theory.assumptions.assumption import Assumption, Inequality, SharedPoint


@dataclass(frozen=True)
class PolyakLojasiewicz(Assumption):
    """|grad f(x)|^2 >= 2 mu (f(x) - inf f) for the average f.

    Source: Karimi, Nutini, Schmidt, arXiv:1608.04636, equation 3.
    """

    mu: float

    def at(self, x: SharedPoint) -> Inequality:
        """Return |grad f(x)|^2 - 2 mu (f(x) - inf f)."""
        return x.gradients.mean().square() - 2 * self.mu * x.value
