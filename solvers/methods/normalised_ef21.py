"""Normalised EF21: error feedback with steps of one length."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, Needs, mean
from certibit.solvers.clipping import unit
from certibit.solvers.method import require_positive
from certibit.solvers.methods.ef21 import EF21, State


@dataclass(frozen=True)
class NormalisedEF21(EF21):
    """EF21 with normalised steps for min (1/n) sum_i f_i(x) with (L0, L1)-smooth f_i.

    Each round, with contractive compressors C_i in B(alpha)::

        x <- x - gamma g_mean/|g_mean|           broadcast by the server
        c_i = C_i(grad f_i(x) - g_i)             sent by client i
        g_i <- g_i + c_i,   g_mean <- g_mean + mean_i c_i

    At the start g_i = C_i(grad f_i(x)): one more message of every client, and its bits.

    Parameters
    ----------
    gamma : float
        Length of a step.

    Notes
    -----
    Source: Khirirat, Sadiev, Riabinin, Gorbunov, Richtarik, "Error feedback under (L0, L1)-
    smoothness: normalization and momentum", arXiv:2410.16871, without momentum.

    Examples
    --------
    >>> from certibit import Budget, NormalisedEF21, Quartics, compressor, run
    >>> method = NormalisedEF21(gamma=0.05)
    >>> trace = run(method, Quartics.of(H=1), compressor("sign"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("downlink_bits")
    array([96.])
    """

    name: ClassVar[str] = "normalised-ef21"
    needs: ClassVar[Needs] = Needs(compressor="contractive", strongly_convex=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive(self, "gamma")

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * unit(s.g_mean))
        c = channel.uplink(problem.grad(x) - s.g)
        return State(x, s.g + c, s.g_mean + mean(c))
