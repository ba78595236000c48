"""One iteration of LoCoDL in the notation of its proof (arXiv:2403.04348, appendix A).

It is written once, for two worlds: numbers, where the vectors are arrays (n+1, D, points), clients
first and the server last (`locodl_search`); unknowns, where they are `Joint` (`locodl_unknowns`).
"""

from functools import reduce
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.step import Values
from certibit.theory.audit.machinery.unknowns import Joint

DOWN = "2 rho - rho^2 (1 + omega_av) - chi >= 0"


def inner(x: Any, y: Any) -> Any:
    """Return the product of X: clients once, the server n times."""
    if isinstance(x, Joint):
        return x.inner(y)
    weights = np.array([1] * (len(x) - 1) + [len(x) - 1])[:, None, None]
    return np.sum(weights * x * y, axis=(0, 1))


def square(x: Any) -> Any:
    """Return the squared norm of X."""
    return inner(x, x)


def length(y: Any) -> Any:
    """Return the squared norm of one vector."""
    return np.sum(y**2, axis=0) if isinstance(y, np.ndarray) else y.dot(y)


def server(x: Any) -> Any:
    """Return what the server holds, one vector."""
    return x.server if isinstance(x, Joint) else x[-1]


def everywhere(y: Any, like: Any) -> Any:
    """Return 1y: one vector held by all."""
    if isinstance(like, Joint):
        return Joint(like.n, y, y, 0 * y)
    return np.stack([y] * len(like))


def joined(clients: Any, server: Any) -> Any:
    """Return the clients' part of one element of X with the server's of another."""
    if isinstance(clients, Joint):
        return Joint(clients.n, clients.clients, server.server, clients.own)
    return np.concatenate([clients[:-1], server[-1:]])


def centre(x: Any) -> Any:
    """Return the consensus x-bar, one vector."""
    if isinstance(x, Joint):
        return (x.clients + x.server) / 2
    n = len(x) - 1
    return (np.sum(x[:n], axis=0) + n * x[n]) / (2 * n)


def S(x: Any) -> Any:  # noqa: N802  (the paper's symbol)
    """Return the projection on the consensus line."""
    return everywhere(centre(x), x)


def W(x: Any) -> Any:  # noqa: N802
    """Return the projection orthogonal to it."""
    return x - S(x)


def as_one_side(quantities: list[Any]) -> Any:
    """Return several sides of the same kind as one side."""
    return np.stack(quantities) if isinstance(quantities[0], np.ndarray) else tuple(quantities)


def local_step(v: Values) -> None:
    """Derive what the clients hold before they send: v.hat, and what they send: v.differences."""
    v.w, v.w_star = v.x - v.gamma * v.gradient, v.x_star - v.gamma * v.u_star
    v.hat = v.w + v.gamma * v.u
    v.y_hat = everywhere(server(v.hat), v.hat)
    v.differences = v.hat - v.y_hat


def communication(v: Values) -> None:
    """Derive the new state from what arrives: v.d, one element of X per outcome."""
    v.lam = v.p * v.chi / (v.gamma * (1 + 2 * v.omega))
    v.d_bar = [centre(d) for d in v.d]
    v.apart, v.spread = square(v.differences), square(W(v.hat))
    v.u_next = [v.u - v.lam * W(d) for d in v.d]
    v.x_next = [
        (1 - v.rho) * v.hat + v.rho * everywhere(server(v.hat) + bar, v.hat) for bar in v.d_bar
    ]
    v.e_u, v.e_x = v.u - v.u_star, v.hat - v.x_star
    v.weight = v.gamma * (1 + 2 * v.omega) / (v.p**2 * v.chi)


def expected(v: Values, quantities: list[Any]) -> Any:
    """Return the expectation over the compressors given theta = 1, of one quantity per outcome."""
    if not isinstance(quantities[0], np.ndarray):
        return quantities[0].mean()
    return sum(p * x for (p, _), x in zip(v.outcomes, quantities, strict=True))


def u_square(v: Values) -> Any:
    """Return E|u_{t+1} - u*|^2 over theta and compressors."""
    sent = expected(v, [square(u - v.u_star) for u in v.u_next])
    return (1 - v.p) * square(v.e_u) + v.p * sent


def x_square_sent(v: Values) -> Any:
    """Return E|x_{t+1} - x*|^2 given theta = 1."""
    return expected(v, [square(x - v.x_star) for x in v.x_next])


def x_square(v: Values) -> Any:
    """Return E|x_{t+1} - x*|^2 over theta and compressors."""
    return (1 - v.p) * square(v.e_x) + v.p * x_square_sent(v)


def lyapunov(x: Any, u: Any, v: Values) -> Any:
    """Return the Lyapunov function from |x - x*|^2 and |u - u*|^2."""
    return x / v.gamma + v.weight * u


def gain(v: Values) -> Any:
    """Return 2 rho - rho^2 (1 + omega_av)."""
    return 2 * v.rho - v.rho**2 * (1 + v.omega_av)


def before_rate(v: Values) -> Any:
    """Return |w - w*|^2/gamma + (1 - p^2 chi/(1 + 2 omega)) weight |u - u*|^2."""
    kept = 1 - v.p**2 * v.chi / (1 + 2 * v.omega)
    return lyapunov(square(v.w - v.w_star), kept * square(v.e_u), v)


def step_contraction(v: Values) -> Any:
    """Return max(1 - gamma mu, gamma L - 1)."""
    return _maximum_of(v, "contraction", 1 - v.gamma * v.mu, v.gamma * v.L - 1)


def factor(v: Values) -> Any:
    """Return the rate of (19)."""
    slow, fast = (1 - v.gamma * v.mu) ** 2, (1 - v.gamma * v.L) ** 2
    return _maximum_of(v, "rate", slow, fast, 1 - v.p**2 * v.chi / (1 + 2 * v.omega))


def _maximum_of(v: Values, name: str, *values: Any) -> Any:
    """Return the largest number; unknowns have one case for each that it may be."""
    if isinstance(values[0], np.ndarray):
        return reduce(np.maximum, values)
    return values[getattr(v, name)]


def x_of_algorithm(v: Values) -> list[Any]:
    """Return x and y of lines 11 and 13."""
    bars = [everywhere(bar, v.hat) for bar in v.d_bar]
    return [
        joined((1 - v.rho) * v.hat + v.rho * (v.y_hat + bar), v.hat + v.rho * bar) for bar in bars
    ]


def u_of_algorithm(v: Values) -> list[Any]:
    """Return u and v of lines 12 and 14."""
    bars = [everywhere(bar, v.hat) for bar in v.d_bar]
    return [
        joined(v.u + v.lam * (bar - d), v.u + v.lam * bar) for bar, d in zip(bars, v.d, strict=True)
    ]


def mean_variance(v: Values) -> Any:
    """Return E|d-bar - E d-bar|^2."""
    mean = expected(v, v.d_bar)
    return expected(v, [length(bar - mean) for bar in v.d_bar])
