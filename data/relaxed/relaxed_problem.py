"""Problems whose smoothness may grow with the gradient: (L0, L1)-smooth functions of n clients.

A function h is (L0, L1)-smooth if |Hess h(x)| <= L0 + L1 |grad h(x)| for all x. The problems here
have what the engine asks of a problem, no ridge, a starting point and, if wanted, gradient noise.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property

from certibit.data.arrays import array_namespace
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import NonconvexProblem


@dataclass(frozen=True, eq=False, kw_only=True)
class RelaxedProblem(NonconvexProblem):
    """Minimise f = (1/n) sum_i f_i with (L0, L1)-smooth f_i, perhaps not convex."""

    @abstractmethod
    def relaxed(self, L1: float | None = None) -> RelaxedConstants:
        """Return the constants for a given L1, by default for that of the problem's family."""

    @cached_property
    def constants(self) -> RelaxedConstants:
        """The constants for the natural L1."""
        return self.relaxed()

    def __repr__(self) -> str:
        runs = max(getattr(self, name).shape[2] for name in self.per_run)
        constants = (
            f"{runs=}" if runs > 1 else f"L0={self.constants.L0:.4g}, L1={self.constants.L1:.4g}"
        )
        return f"{type(self).__name__}(n={self.n}, d={self.d}, {constants}, noise={self.noise})"

    def _sigma(self) -> float:
        return float(getattr(self.noise, "sigma", 0.0))

    def _gap_at_start(self) -> float:
        return float(array_namespace(self.x_0).max(self.gap(self.x_0)))
