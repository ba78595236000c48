"""Shadowheart SGD: all clients compute for the same time, and then send for the same time."""

from dataclasses import dataclass
from typing import ClassVar

from certibit.data.arrays import Array
from certibit.data.errors import Refusal
from certibit.solvers.events.event_method import Arrivals, EventMethod, summed
from certibit.solvers.method import Gradients


@dataclass(frozen=True)
class State:
    """The model x^k and the weighted sum, (1, d, R); k and how many clients have arrived."""

    x: Array
    k: int
    total: Array
    arrived: int


@dataclass(frozen=True)
class ShadowheartSGD(EventMethod):
    """Shadowheart SGD for min f(x).

    ``x^(k+1) = x^k - gamma sum_i w_i sum_(j <= m_i) C_ij(G_i) / sum_i w_i m_i b_i``, with G_i the
    sum of b_i gradients of client i at x^k, and C_ij independent compressors.

    With t seconds for each of the two, b_i = floor(t/h_i) and m_i = floor(t/tau_i), h_i the seconds
    of a gradient and tau_i those of a compressed message. A client with b_i m_i = 0 is left out.

    Parameters
    ----------
    gamma : float
        Step size.
    b, m : tuple of int
        Gradients, and compressed messages of their sum, of every client.
    w : tuple of float
        Weights of the clients.

    Notes
    -----
    Source: Tyurin, Pozzi, Ilin, Richtarik, arXiv:2402.04785.
    """

    gamma: float
    b: tuple[int, ...]
    m: tuple[int, ...]
    w: tuple[float, ...]

    name: ClassVar[str] = "shadowheart-sgd"
    compressed: ClassVar[bool] = True

    @property
    def gradients(self) -> tuple[int, ...]:
        return self.b

    @property
    def messages(self) -> tuple[int, ...]:
        return self.m

    def start(self, x: Array, channel: Arrivals) -> State:
        channel.begin(x, self._active)
        return State(x, 0, 0 * x, 0)

    def message(self, x: Array, problem: Gradients, channel: Arrivals) -> Array:
        i = channel.client
        G = summed(self.b[i], x, problem)
        return sum((channel.uplink(G) for _ in range(self.m[i])), 0 * G)

    def on_arrival(self, s: State, g: Array, k: int, channel: Arrivals) -> State:
        s = State(s.x, s.k, s.total + self.w[channel.client] * g, s.arrived + 1)
        if s.arrived == len(self._active):
            weight = sum(w * m * b for w, m, b in zip(self.w, self.m, self.b, strict=True))
            s = State(s.x - self.gamma / weight * s.total, s.k + 1, 0 * s.x, 0)
            channel.broadcast(s.x, s.k)
        return s

    @property
    def _active(self) -> list[int]:
        active = [i for i, (b, m) in enumerate(zip(self.b, self.m, strict=True)) if b * m]
        if not active:
            raise Refusal(f"no client of {self.name} computes and sends; give b and m above 0")
        return active
