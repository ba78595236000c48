"""Similarity of the f_i: what their gradients differ from that of the average changes slowly."""

from dataclasses import dataclass

from certibit.data.problem import Constants
from certibit.theory.assumptions.assumption import (
    Assumption,
    Inequality,
    SharedPoint,
)


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
