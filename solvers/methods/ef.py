"""EF: the first error feedback, of compressed steps."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import (
    Array,
    Functions,
    Gradients,
    Messages,
    Method,
    Needs,
    Solution,
    copies,
    mean,
)


@dataclass(frozen=True)
class State:
    """State of EF."""

    x: Array  # (1, d, R), the model
    e: Array  # (n, d, R), the error of each client: what it has not sent yet


@dataclass(frozen=True)
class EF(Method):
    """EF for min (1/n) sum_i f_i(x) with contractive compressors C_i in B(alpha).

    Each round::

        c_i = C_i(e_i + gamma grad f_i(x))       sent by client i
        e_i <- e_i + gamma grad f_i(x) - c_i
        x   <- x - mean_i c_i                    broadcast by the server

    If the gradients at the solution are not 0, their compression error does not vanish, and EF
    converges only to a neighbourhood of the solution; EF21 avoids this.

    Parameters
    ----------
    gamma : float
        Step size.

    Notes
    -----
    Source: Seide, Fu, Droppo, Li, Yu, Interspeech 2014; Karimireddy, Rebjock, Stich, Jaggi,
    arXiv:1901.09847.

    Examples
    --------
    >>> from certibit import EF, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0, shared_minimiser=True)
    >>> method = EF(gamma=0.02)
    >>> trace = run(method, problem, compressor("top-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([204.])
    """

    gamma: float

    name: ClassVar[str] = "ef"
    needs: ClassVar[Needs] = Needs(compressor="contractive", shared_minimiser=True, nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        return State(x, e=copies(0 * x, problem.n))

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        step = s.e + self.gamma * problem.grad(s.x)
        c = channel.uplink(step)
        return State(channel.broadcast(s.x - mean(c)), step - c)

    def fixed_point(self, problem: Solution) -> State:
        return State(problem.x_star, 0 * problem.grad_star)

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        return ()
