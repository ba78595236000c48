"""The class of functions that clipping methods are certified over."""

import math
from dataclasses import dataclass
from typing import Any

from certibit.data.arrays import plain_numbers
from certibit.data.errors import Refusal
from certibit.data.problem import Problem, RelaxedConstants


@dataclass(frozen=True)
class RelaxedFunctions:
    """All f with |Hess f(x)| <= L0 + L1 |grad f(x)|, bounded below, f = (1/n) sum_i f_i.

    Nothing is assumed of the single f_i unless kappa is given: then every f_i is (L0, L1)-smooth,
    too, and |grad f_i| <= kappa + rho |grad f|. Where every f_i is (L0, L1)-smooth with this and f
    need not be, f is (L0 + L1 kappa, rho L1)-smooth: `of_clients`.

    Parameters
    ----------
    L0, L1 : float
        The constants of f, at least 0, and not both 0.
    n : int
        Number of clients.
    sigma : float
        Every sampled gradient of a client is its gradient and a noise of mean 0, independent of all
        others, of length at most sigma.
    kappa, rho : float
        See above; kappa is infinite where nothing is assumed.

    Raises
    ------
    Refusal
        If a constant is negative or not finite, or there is no client.

    Examples
    --------
    >>> from certibit import RelaxedFunctions
    >>> RelaxedFunctions.of_clients(L0=1.0, L1=2.0, kappa=3.0, rho=1.5, n=4)
    RelaxedFunctions(L0=7.0, L1=3.0, n=4, sigma=0.0, kappa=3.0, rho=1.5)
    """

    L0: float
    L1: float
    n: int = 1
    sigma: float = 0.0
    kappa: float = math.inf
    rho: float = 1.0

    def __post_init__(self) -> None:
        plain_numbers(self)
        for name in ("L0", "L1", "sigma"):
            value = getattr(self, name)
            if not 0 <= value < math.inf:
                raise Refusal(f"{name} = {value:g} is no constant of a class; give a number >= 0")
        if self.L0 == self.L1 == 0:
            raise Refusal("L0 = L1 = 0 are the linear functions; give one above 0")
        if not (isinstance(self.n, int) and self.n >= 1):
            raise Refusal(f"n = {self.n} clients are none; give an integer of at least 1")
        if self.kappa != math.inf or self.rho != 1:
            _require_dissimilarity(self.kappa, self.rho)

    @classmethod
    def of_clients(
        cls, L0: float, L1: float, kappa: float, rho: float = 1.0, n: int = 1, sigma: float = 0.0
    ) -> "RelaxedFunctions":
        """Return the class of f where every f_i is (L0, L1)-smooth, |grad f_i| <= kappa + rho |g|.

        Proof. |Hess f| <= (1/n) sum_i (L0 + L1 |grad f_i|) <= L0 + L1 kappa + rho L1 |grad f|.
        """
        _require_dissimilarity(kappa, rho)
        return cls(L0 + L1 * kappa, rho * L1, n, sigma, kappa, rho)

    @classmethod
    def of_problem(cls, problem: Problem) -> "RelaxedFunctions":
        """Return the class of all f with the constants of a problem; see `of_clients`.

        Raises
        ------
        Refusal
            If the problem does not state L0, L1, kappa and rho.
        """
        c: Any = problem.constants
        if not (isinstance(c, RelaxedConstants) and c.are_known):
            raise Refusal(
                f"{problem.name} does not state L0, L1, kappa and rho; give another problem, or "
                "the constants of a class"
            )
        return cls.of_clients(c.L0, c.L1, c.kappa, c.rho, problem.n, c.sigma)

    @property
    def described(self) -> str:
        """The class in words."""
        noise = f", gradients with noise of length <= {self.sigma:g}" if self.sigma else ""
        many = f", n = {self.n}" if self.n > 1 or self.sigma else ""
        alike = f", |grad f_i| <= {self.kappa:g} + {self.rho:g} |grad f|" * (self.kappa < math.inf)
        return f"(L0, L1)-smooth functions, L0 = {self.L0:g}, L1 = {self.L1:g}{many}{alike}{noise}"


def _require_dissimilarity(kappa: float, rho: float) -> None:
    """Refuse constants with which |grad f_i| <= kappa + rho |grad f| holds for no f_i."""
    if not (0 <= kappa < math.inf and 1 <= rho < math.inf):
        raise Refusal(
            f"kappa = {kappa:g} and rho = {rho:g} bound no dissimilarity; give kappa >= 0 and "
            "rho >= 1"
        )
