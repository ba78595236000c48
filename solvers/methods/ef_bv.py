"""EF-BV: error feedback for compressors of a bias and a variance, between EF21 and DIANA."""

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
    mean,
)


@dataclass(frozen=True)
class State:
    """State of EF-BV."""

    x: Array  # (1, d, R), the model
    h: Array  # (n, d, R), the control variate of each client
    h_mean: Array  # (1, d, R), the mean control variate, kept by the server
    g: Array  # (1, d, R), the gradient estimate of the server


@dataclass(frozen=True)
class EFBV(Method):
    """EF-BV for min (1/n) sum_i f_i(x) with compressors of a bias and a variance.

    Each round::

        x   <- x - gamma g                       broadcast by the server
        d_i = C_i(grad f_i(x) - h_i)             sent by client i
        g   <- h_mean + nu mean_i d_i
        h_i <- h_i + lambda d_i,   h_mean <- h_mean + lambda mean_i d_i

    At the start h_i = 0 and one message is sent, which gives g. The C_i have |E C_i(v) - v| <= eta
    |v| and E|C_i(v) - E C_i(v)|^2 <= omega |v|^2. With lambda = nu = 1 this is EF21, with unbiased
    compressors and nu = 1 DIANA.

    Parameters
    ----------
    gamma : float
        Step size.
    lambda_, nu : float
        The factors of the messages in the control variates and in the gradient estimate.

    Notes
    -----
    Source: Condat, Yi, Richtarik, arXiv:2205.04180, whose rounds begin with the message.

    Examples
    --------
    >>> from certibit import EFBV, Budget, Quadratic, compressor, run
    >>> problem = Quadratic.random(3, 4, mu=1.0, L=10.0)
    >>> method = EFBV(gamma=0.02, lambda_=0.5, nu=0.8)
    >>> trace = run(method, problem, compressor("rand-k:2"), seeds=1, budget=Budget(rounds=3))
    >>> trace.final("uplink_bits")
    array([272.])
    """

    gamma: float
    lambda_: float
    nu: float

    name: ClassVar[str] = "ef-bv"
    needs: ClassVar[Needs] = Needs(compressor="contractive", by_variance=True, nonconvex=True)

    def start(self, x: Array, problem: Gradients, channel: Messages) -> State:
        d = channel.uplink(problem.grad(x))
        d_mean = mean(d)
        return State(x, self.lambda_ * d, self.lambda_ * d_mean, self.nu * d_mean)

    def communicate(self, s: State, problem: Gradients, channel: Messages) -> State:
        x = channel.broadcast(s.x - self.gamma * s.g)
        d = channel.uplink(problem.grad(x) - s.h)
        d_mean = mean(d)
        return State(
            x,
            h=s.h + self.lambda_ * d,
            h_mean=s.h_mean + self.lambda_ * d_mean,
            g=s.h_mean + self.nu * d_mean,
        )

    def fixed_point(self, problem: Solution) -> State:
        h = problem.grad_star
        return State(problem.x_star, h, mean(h), mean(h))

    def invariants(self, s: State, problem: Functions) -> tuple[Array, ...]:
        kept = s.h_mean - mean(s.h)
        return (kept, s.g - s.h_mean) if self.lambda_ == self.nu else (kept,)
