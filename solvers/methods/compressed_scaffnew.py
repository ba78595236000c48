"""CompressedScaffnew: Scaffnew in which every entry is sent by a few clients only."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.solvers.authoring import Gradients, Messages, copies, masked, total
from certibit.solvers.methods.scaffnew import Scaffnew, State


@dataclass(frozen=True)
class CompressedScaffnew(Scaffnew):
    """CompressedScaffnew for min (1/n) sum_i f_i(x), with masks from shared randomness.

    Each iteration, the local step being that of Scaffnew::

        x_i <- x_i - gamma (grad f_i(x_i) - h_i)
        with probability p:
            q = random mask (d, n) with s ones in every row, the owners of an entry
            x_mean = (1/s) sum_i q_i * x_i     q_i * x_i sent by client i, x_mean broadcast
            h_i <- h_i + (p eta/gamma) q_i * (x_mean - x_i),    x_i <- x_mean

    The mask is known to all: a client sends 32 bits for each entry that it owns and no index. It
    owns s d/n entries in the mean and ceil(s d/n) at most. If s d < n only s d clients send.

    Parameters
    ----------
    gamma : float
        Step size, 0 < gamma < 2/L.
    p : float
        Probability of communication.
    eta : float
        Dual relaxation, 0 < eta <= n (s - 1)/(s (n - 1)).
    s : int
        Owners of every entry, 2 <= s <= n; with s = n and eta = 1 the method is Scaffnew.

    Notes
    -----
    Source: Condat, Agarsky, Richtarik, arXiv:2210.13277.

    Examples
    --------
    >>> from certibit import Budget, CompressedScaffnew, Quadratic, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = CompressedScaffnew(gamma=0.1, p=0.4, eta=0.75, s=2)
    >>> trace = run(method, problem, seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([256.])
    """

    eta: float
    s: int

    name: ClassVar[str] = "compressed-scaffnew"

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        owned = channel.ownership(self.s)
        sent = channel.send(s.x, owned)
        x_mean = channel.broadcast(total(sent) / self.s)
        correction = self.p * self.eta / self.gamma * (x_mean - sent)
        return State(copies(x_mean, problem.n), s.h + masked(owned, correction))
