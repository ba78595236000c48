"""Nesterov's accelerated gradient descent for convex functions, whose momentum grows."""

from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.solvers.authoring import Needs, Varying
from certibit.solvers.methods.agd import AGD


@dataclass(frozen=True)
class Nesterov(Varying):
    """Accelerated gradient descent with growing momentum for min (1/n) sum_i f_i(x).

    Round t = 0, 1, ... is that of AGD with another momentum; the first is gradient descent::

        x+ = y - gamma (1/n) sum_i grad f_i(y)
        y+ = x+ + (t/(t + 3)) (x+ - x)

    Parameters
    ----------
    gamma : float
        Step size, at most 1/L_f.

    Notes
    -----
    Source: Nesterov, Soviet Mathematics Doklady 27 (1983), 372-376, with the momentum of Su, Boyd,
    Candes, arXiv:1503.01243.

    Examples
    --------
    >>> from certibit import Budget, Nesterov, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> trace = run(Nesterov(gamma=0.1), problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([384.])
    """

    gamma: float

    name: ClassVar[str] = "nesterov"
    needs: ClassVar[Needs] = Needs()

    def at(self, t: Any) -> AGD:
        return AGD(self.gamma, q=3 / (2 * t + 3))
