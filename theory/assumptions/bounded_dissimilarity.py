"""Bounded dissimilarity of the gradients of the f_i, relative to that of their average."""

from dataclasses import dataclass
from typing import Self

from certibit.data.errors import Refusal
from certibit.theory.assumptions.assumption import (
    Assumption,
    Inequality,
    SharedPoint,
)


@dataclass(frozen=True)
class BoundedDissimilarity(Assumption):
    """(1/n) sum_i |grad f_i(x)|^2 <= zeta^2 + B^2 |grad f(x)|^2.

    With zeta = 0 a stationary point of f is one of all f_i. With zeta > 0 a certificate is for
    every zeta, E[Psi+] <= Psi - c M + e sigma^2 + e' zeta^2, and the number zeta is only the
    weight of the two where the smallest e + zeta^2 e' is looked for. Source: Karimireddy et al.,
    arXiv:1910.06378, assumption A1, with G = zeta.

    Examples
    --------
    >>> from certibit import BoundedDissimilarity, FunctionClass
    >>> functions = FunctionClass(4, mu=-1.0, L=1.0, assumptions=(BoundedDissimilarity(2.0),))
    >>> functions.assumptions[0].B
    2.0
    """

    B: float
    zeta: float = 0.0

    def __post_init__(self) -> None:
        """Refuse B < 1 with zeta = 0, too."""
        super().__post_init__()
        if not (self.B >= 1 or self.zeta):
            raise Refusal(
                f"B = {self.B:g} is below 1, which no gradients satisfy; give B >= 1, or zeta > 0"
            )

    @property
    def has_constant(self) -> bool:
        """Whether zeta > 0."""
        return bool(self.zeta)

    def at(self, x: SharedPoint) -> Inequality:
        """Return zeta^2 + B^2 |grad f(x)|^2 - (1/n) sum_i |grad f_i(x)|^2."""
        relative = self.B**2 * x.gradients.mean().square() - x.gradients.square()
        return self.zeta**2 * x.unit + relative if self.zeta else relative

    def in_units(self, unit: float) -> Self:
        """Return the assumption for the functions divided by a unit; B has none.

        Nor has zeta, which is a multiple of what certificates are for.
        """
        return self
