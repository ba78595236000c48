"""Leading orders of communication, as in Tables 1 and 2 of the LoCoDL paper (arXiv:2403.04348).

Rounds and reals per client to an accuracy, without the factor log(1/epsilon) and without constants;
compressors are independent. Rounds are for any compressor in U(omega); reals are those of the best
compressor. For methods that share masks omega stands for n/s - 1, the variance of the rand-k that
sends as much. The tables have DIANA, EF21, 5GCS-CC, ADIANA, CompressedScaffnew, FedCOMGATE and
LoCoDL; the orders of the others are those of their own papers.
"""

from dataclasses import dataclass
from functools import cached_property
from math import sqrt
from types import CodeType


@dataclass(frozen=True)
class Order:
    """A leading order, by its formula in n, d, kappa, omega and alpha_down, in Python's syntax.

    Examples
    --------
    >>> Order("d*sqrt(kappa)")(n=10, d=3, kappa=100)
    30.0
    """

    formula: str

    @cached_property
    def _code(self) -> CodeType:
        return compile(self.formula, self.formula, "eval")

    def __call__(
        self, n: float, d: float, kappa: float, omega: float = 0.0, alpha_down: float = 1.0
    ) -> float:
        """Evaluate at numbers of clients and features, condition number, variance, contraction.

        The contraction is that of the server's compressor; 1 if it does not compress.
        """
        names = {"sqrt": sqrt, "n": n, "d": d, "kappa": kappa, "omega": omega}
        names["alpha_down"] = alpha_down
        return float(eval(self._code, {"__builtins__": {}}, names))


@dataclass(frozen=True)
class Orders:
    """Rounds and reals to an accuracy."""

    rounds: Order
    reals: Order

    @classmethod
    def of(cls, rounds: str, reals: str) -> "Orders":
        """Make both of their formulas."""
        return cls(Order(rounds), Order(reals))


LOWER_BOUND = Orders.of(
    "omega + (1 + omega/sqrt(n))*sqrt(kappa)", "(1 + d/sqrt(n))*sqrt(kappa) + d"
)
"""No method needs less with independent unbiased compressors: He, Huang, Yuan, arXiv:2305.16297.

The bound is on rounds, for the worst compressor in U(omega); reals are those of rand-1, the rand-k
for which k times the bound is the least.
"""

LOCAL_REALS = "(sqrt(d) + d/sqrt(n))*sqrt(kappa) + d"
"""The reals of methods with local training and compression."""
