"""TAMUNA: CompressedScaffnew with a random cohort of clients in every round."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, copies, masked, total
from certibit.solvers.methods.scaffnew import Scaffnew, State


@dataclass(frozen=True)
class TAMUNA(Scaffnew):
    """TAMUNA for min (1/n) sum_i f_i(x), with partial participation and masks.

    Each round, for the clients i of a uniformly random cohort of size m::

        x_i <- x_mean, then Geom(p) times    x_i <- x_i - gamma (grad f_i(x_i) - h_i)
        q = random mask (d, m) with s ones in every row, the owners of an entry
        x_mean = (1/s) sum_i q_i * x_i       q_i * x_i sent by client i
        h_i <- h_i + (p chi/gamma) q_i * (x_mean - x_i)

    The clients outside the cohort do nothing. The state has local models for them too, which
    influence nothing and cost nothing, so that the cohort may be drawn when its round ends. The
    server sends all of x_mean to the next cohort and, where it is not the same one, the owned
    entries back to their owners.

    Parameters
    ----------
    gamma : float
        Step size, 0 < gamma < 2/L.
    p : float
        Probability that a local step is the last of its round.
    chi : float
        Dual relaxation, 0 < chi <= n (s - 1)/(s (n - 1)).
    s : int
        Owners of every entry, 2 <= s <= m.
    m : int
        Clients in a cohort, m <= n; with m = n the method is CompressedScaffnew.

    Notes
    -----
    Source: Condat, Agarsky, Malinovsky, Richtarik, arXiv:2302.09832.

    Examples
    --------
    >>> from certibit import TAMUNA, Budget, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = TAMUNA(gamma=0.1, p=0.4, chi=0.5, s=2, m=2)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([256.])
    """

    chi: float
    s: int
    m: int

    name: ClassVar[str] = "tamuna"

    def local_step(self, s: State, problem: Gradients, channel: Messages) -> State:
        return State(s.x - self.gamma * (problem.grad(s.x, active=self.m) - s.h), s.h)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        cohort = channel.cohort(self.m)
        owned = channel.ownership(self.s, cohort)
        sent = channel.send(s.x, owned)
        x_mean = channel.broadcast(total(sent) / self.s, cohort)
        if self.m < problem.n:
            x_mean = channel.broadcast(x_mean, owned)
        correction = self.p * self.chi / self.gamma * (x_mean - sent)
        return State(copies(x_mean, problem.n), s.h + masked(owned, correction))
