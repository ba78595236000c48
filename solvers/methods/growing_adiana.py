"""ADIANA for convex functions: compressed gradients with a momentum that grows."""

from dataclasses import dataclass
from typing import Any, ClassVar

from certibit.solvers.authoring import Needs, Varying
from certibit.solvers.method import require_probability
from certibit.solvers.methods.adiana import ADIANA


@dataclass(frozen=True)
class GrowingADIANA(Varying):
    """ADIANA with growing momentum for min (1/n) sum_i f_i(x) with compressors C_i in U(omega).

    Round t = 0, 1, ... is that of ADIANA, variant I, with beta = 1 and::

        theta_1 = 4/(t + t_0),   gamma = eta/(2 theta_1)

    Parameters
    ----------
    theta_2 : float
        Weight of the reference point w.
    eta : float
        Step size of y, at most 1/(2 L).
    alpha : float
        Step size of the shifts, at most 1/(1 + omega).
    p : float
        Probability that the reference point moves.
    t_0 : float
        Where the count of rounds begins, at least 8/alpha.

    Notes
    -----
    Source: the method is that of Li, Kovalev, Qian, Richtarik, arXiv:2002.11364, for strongly
    convex f; the parameters for convex f are ours.

    Examples
    --------
    >>> from certibit import Budget, Quadratic, compressor, parameters, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> sent = compressor("rand-k:2")
    >>> method = parameters("growing-adiana", problem, sent)
    >>> trace = run(method, problem, sent, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([408.])
    """

    theta_2: float
    eta: float
    alpha: float
    p: float
    t_0: float

    name: ClassVar[str] = "growing-adiana"
    needs: ClassVar[Needs] = ADIANA.needs

    def __post_init__(self) -> None:
        require_probability(f"p of {self.name}", self.p)

    def at(self, t: Any) -> ADIANA:
        theta_1 = 4 / (t + self.t_0)
        return ADIANA(
            theta_1=theta_1, theta_2=self.theta_2, eta=self.eta, gamma=self.eta / (2 * theta_1),
            alpha=self.alpha, beta=1.0, p=self.p,
        )  # fmt: skip
