"""Smoothness of the f_i in the mean, as theorems for nonconvex functions assume it."""

from dataclasses import dataclass

from certibit.data.problem import Constants
from certibit.theory.assumptions.assumption import (
    Assumption,
    Inequality,
    SharedPoint,
)


@dataclass(frozen=True)
class MeanSmoothness(Assumption):
    """(1/n) sum_i |grad f_i(x) - grad f_i(y)|^2 <= L_tilde^2 |x - y|^2; L_tilde^2 = mean L_i^2.

    Source: Richtarik, Sokolov, Fatkhullin, arXiv:2106.05203.

    Examples
    --------
    >>> from certibit import FunctionClass, MeanSmoothness
    >>> FunctionClass.nonconvex(4, L=1.0, L_tilde=2.0).assumptions == (MeanSmoothness(2.0),)
    True
    """

    L_tilde: float

    def between(self, x: SharedPoint, y: SharedPoint) -> Inequality:
        """Return L_tilde^2 |x - y|^2 - (1/n) sum_i |grad f_i(x) - grad f_i(y)|^2."""
        change = x.gradients - y.gradients
        return self.L_tilde**2 * (x.point - y.point).square() - change.square()

    def follows_from(self, constants: Constants) -> bool:
        """Whether mean L_i^2 <= L_tilde^2."""
        return constants.L_tilde <= self.L_tilde
