"""Leading orders of communication, Tables 1 and 2 of the LoCoDL paper (arXiv:2403.04348).

Rounds and reals per client to an accuracy, without the factor log(1/epsilon) and without constants;
compressors are independent. Rounds are for any compressor in U(omega); reals are those of the best
compressor. For methods that share masks omega stands for n/s - 1, the variance of the rand-k that
sends as much. The tables have DIANA, EF21, 5GCS-CC, ADIANA, CompressedScaffnew, FedCOMGATE and
LoCoDL; the orders of the others are those of their own papers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True)
class Order:
    """A leading order: its formula as text, in the syntax of Python, and as a function."""

    formula: str
    function: Callable[[float, float, float, float], float]

    def __call__(self, n: float, d: float, kappa: float, omega: float = 0.0) -> float:
        """Evaluate at numbers of clients and features, condition number and variance."""
        return self.function(n, d, kappa, omega)


@dataclass(frozen=True)
class Orders:
    """Rounds and reals to an accuracy."""

    rounds: Order
    reals: Order


_GD = Order("kappa", lambda n, d, kappa, omega: kappa)
_ROOT = Order("sqrt(kappa)", lambda n, d, kappa, omega: sqrt(kappa))
_D_KAPPA = Order("d*kappa", lambda n, d, kappa, omega: d * kappa)
_D_ROOT = Order("d*sqrt(kappa)", lambda n, d, kappa, omega: d * sqrt(kappa))
_WITH_OMEGA = Order("(1 + omega)*kappa", lambda n, d, kappa, omega: (1 + omega) * kappa)
_LOCAL_REALS = Order(
    "(sqrt(d) + d/sqrt(n))*sqrt(kappa) + d",
    lambda n, d, kappa, omega: (sqrt(d) + d / sqrt(n)) * sqrt(kappa) + d,
)
_MASKED = Orders(
    Order(
        "sqrt((1 + omega)*kappa) + 1 + omega",
        lambda n, d, kappa, omega: sqrt((1 + omega) * kappa) + 1 + omega,
    ),
    _LOCAL_REALS,
)
_DIFFERENCES = Orders(
    Order(
        "omega + kappa*(1 + omega/sqrt(n))",
        lambda n, d, kappa, omega: omega + kappa * (1 + omega / sqrt(n)),
    ),
    Order("(1 + d/sqrt(n))*kappa + d", lambda n, d, kappa, omega: (1 + d / sqrt(n)) * kappa + d),
)
_ADIANA_REALS = Order(
    "(1 + d/sqrt(n))*sqrt(kappa) + d",
    lambda n, d, kappa, omega: (1 + d / sqrt(n)) * sqrt(kappa) + d,
)

ORDERS: dict[str, Orders] = {
    "gd": Orders(_GD, _D_KAPPA),
    "agd": Orders(_ROOT, _D_ROOT),
    "diana": Orders(
        Order(
            "(1 + omega/n)*kappa + omega",
            lambda n, d, kappa, omega: (1 + omega / n) * kappa + omega,
        ),
        Order("(1 + d/n)*kappa + d", lambda n, d, kappa, omega: (1 + d / n) * kappa + d),
    ),
    "ef21": Orders(_WITH_OMEGA, _D_KAPPA),
    "marina": _DIFFERENCES,
    "dasha": _DIFFERENCES,
    "adiana": Orders(
        Order(
            "(1 + omega/sqrt(n))*sqrt(kappa) + omega",
            lambda n, d, kappa, omega: (1 + omega / sqrt(n)) * sqrt(kappa) + omega,
        ),
        _ADIANA_REALS,
    ),
    "5gcs-cc": Orders(
        Order(
            "(1 + sqrt(omega) + omega/sqrt(n))*sqrt(kappa) + omega",
            lambda n, d, kappa, omega: (1 + sqrt(omega) + omega / sqrt(n)) * sqrt(kappa) + omega,
        ),
        _LOCAL_REALS,
    ),
    "locodl": Orders(
        Order(
            "(1 + sqrt(omega) + omega/sqrt(n))*sqrt(kappa) + omega*(1 + omega/n)",
            lambda n, d, kappa, omega: (
                (1 + sqrt(omega) + omega / sqrt(n)) * sqrt(kappa) + omega * (1 + omega / n)
            ),
        ),
        _LOCAL_REALS,
    ),
    "scaffnew": Orders(_ROOT, _D_ROOT),
    "gradskip": Orders(_ROOT, _D_ROOT),
    "compressed-scaffnew": _MASKED,
    "tamuna": _MASKED,
    "scaffold": Orders(_GD, _D_KAPPA),
    "fedcomgate": Orders(_WITH_OMEGA, _D_KAPPA),
}
"""By the name of the method; that of ADIANA is the refined analysis of arXiv:2305.16297."""
