"""The constants of an (L0, L1)-smooth problem that the formulas of clipping methods use."""

from typing import Protocol


class Relaxed(Protocol):
    """Exact constants of a problem: every f_i is (L0, L1)-smooth.

    |grad f_i| <= kappa + rho|grad f| with rho >= 1; the noise of a stochastic gradient is at most
    sigma, and Delta >= f(x_0) - min f.
    """

    @property
    def L0(self) -> float: ...  # noqa: N802
    @property
    def L1(self) -> float: ...  # noqa: N802
    @property
    def kappa(self) -> float: ...
    @property
    def rho(self) -> float: ...
    @property
    def sigma(self) -> float: ...
    @property
    def Delta(self) -> float: ...  # noqa: N802
