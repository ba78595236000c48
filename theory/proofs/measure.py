"""Measures of how far a model is from what is looked for: M in E[Psi+] <= Psi - c M."""

from dataclasses import dataclass
from typing import Any, Literal

from certibit.solvers.backend import mean
from certibit.theory.potential import ClassConstants, Gap, Squares, Terms

MeasureName = Literal["squared_gradient", "gap", "potential"]


@dataclass(frozen=True)
class Measure:
    """The squared norm of the gradient of f at the model, f - inf f there, or Psi."""

    name: MeasureName = "squared_gradient"

    @property
    def contracts(self) -> bool:
        """Whether it is Psi, so that a descent of c M is a factor 1 - c."""
        return self.name == "potential"

    @property
    def symbol(self) -> str:
        """The measure as a formula."""
        names = {"squared_gradient": "|grad f(x)|^2", "gap": "(f(x) - f*)", "potential": "Psi"}
        return names[self.name]

    def lyapunov(self, m: Any, s: Any, star: Any, setting: ClassConstants, problem: Any) -> Terms:
        """Return the one term of the measure at a state; f - f* in the place of Psi."""
        if self.name != "squared_gradient":
            return (Gap(1.0, m.model(s)),)
        slope = mean(problem.grad(m.model(s)))
        if m.needs.composite:
            slope = slope + problem.grad_g(m.model(s))
        return (Squares(1.0, slope),)


PSI = Measure("potential")
"""Psi itself, of which a factor is proved."""
