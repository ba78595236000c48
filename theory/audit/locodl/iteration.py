"""One iteration of LoCoDL in the notation of its proof (arXiv:2403.04348, appendix A).

The vectors are arbitrary, the f_i and g are quadratics with arbitrary curvatures in [mu, L], and
the compressors are of two kinds, independent or shared by the clients: kept whole and scaled with
some probability, and one random coordinate of two. Expectations are over all outcomes.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from bitbound.theory.audit.machinery.step import Space, Values, Variable

CLIENTS, D = 3, 2
DOWN = "2 rho - rho^2 (1 + omega_av) - chi >= 0"


def _outcomes(v: Values) -> list[tuple[Any, Any]]:
    """Return all outcomes of the compressors: probability, factors (n, D, points)."""
    n, one = v.n, 1 + 0 * v.keep
    draws = 1 if v.shared else n
    if v.compressor == "keep":
        choices = [(v.keep, np.stack([1 / v.keep] * D)), (1 - v.keep, np.stack([0 * one] * D))]
        v.omega = 1 / v.keep - 1
    else:
        rows = [np.stack([D * one if j == k else 0 * one for j in range(D)]) for k in range(D)]
        choices = [(one / D, row) for row in rows]
        v.omega = (D - 1) * one
    v.omega_av = v.omega if v.shared else v.omega / n
    out = []
    for chosen in product(choices, repeat=draws):
        probability = np.prod(np.stack([p for p, _ in chosen]), axis=0)
        out.append((probability, np.stack([row for _, row in chosen] * (n // draws))))
    return out


def inner(x: Any, y: Any) -> Any:
    """Return the product of X: clients once, the last row n times; (n+1, D, points)."""
    weights = np.array([1] * (len(x) - 1) + [len(x) - 1])[:, None, None]
    return np.sum(weights * x * y, axis=(0, 1))


def square(x: Any) -> Any:
    """Return the squared norm of X."""
    return inner(x, x)


def centre(x: Any) -> Any:
    """Return the consensus x-bar: (D, points)."""
    n = len(x) - 1
    return (np.sum(x[:n], axis=0) + n * x[n]) / (2 * n)


def S(x: Any) -> Any:  # noqa: N802  (the paper's symbol)
    """Return the projection on the consensus line."""
    return np.stack([centre(x)] * len(x))


def W(x: Any) -> Any:  # noqa: N802
    """Return the projection orthogonal to it."""
    return x - S(x)


def _derive(v: Values) -> None:
    n = v.n
    rows = [*range(n), CLIENTS]

    def balanced(u: Any) -> Any:
        return np.concatenate([u[:n], -np.sum(u[:n], axis=0, keepdims=True) / n])

    v.outcomes = _outcomes(v)
    v.L, v.gamma = 1 + 0 * v.mu, 2 * v.g
    v.x, v.other = v.iterates[rows], v.others[rows]
    v.u, v.u_star = balanced(v.controls), balanced(v.solutions)
    v.x_star = np.stack([v.solution] * (n + 1))
    v.m = v.mu + (1 - v.mu) * v.curvature[rows]
    gradient = v.m * (v.x - v.x_star) + v.u_star
    v.w, v.w_star = v.x - v.gamma * gradient, v.x_star - v.gamma * v.u_star
    v.hat = v.w + v.gamma * v.u
    v.rho = 2 * v.r / (1 + v.omega_av)
    v.chi = v.share * (2 * v.rho - v.rho**2 * (1 + v.omega_av))
    v.lam = v.p * v.chi / (v.gamma * (1 + 2 * v.omega))
    v.y_hat = np.stack([v.hat[n]] * (n + 1))
    differences = v.hat[:n] - v.hat[n]
    v.d = [np.concatenate([c * differences, 0 * v.hat[n:]]) for _, c in v.outcomes]
    v.d_bar = [np.sum(d, axis=0) / (2 * n) for d in v.d]
    v.apart, v.spread = square(v.hat - v.y_hat), square(W(v.hat))
    v.u_next = [v.u - v.lam * W(d) for d in v.d]
    v.x_next = [(1 - v.rho) * v.hat + v.rho * (v.hat[n] + bar) for bar in v.d_bar]
    v.e_u, v.e_x = v.u - v.u_star, v.hat - v.x_star
    v.weight = v.gamma * (1 + 2 * v.omega) / (v.p**2 * v.chi)


def expected(v: Values, quantities: list[Any]) -> Any:
    """Return the expectation over the compressors given theta = 1, of one quantity per outcome."""
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


def factor(v: Values) -> Any:
    """Return the rate of (19)."""
    slow, fast = (1 - v.gamma * v.mu) ** 2, (1 - v.gamma * v.L) ** 2
    return np.maximum(np.maximum(slow, fast), 1 - v.p**2 * v.chi / (1 + 2 * v.omega))


def x_of_algorithm(v: Values) -> list[Any]:
    """Return x and y of lines 11 and 13."""
    n = v.n
    return [
        np.concatenate(
            [(1 - v.rho) * v.hat[:n] + v.rho * (v.hat[n] + bar), (v.hat[n] + v.rho * bar)[None]]
        )
        for bar in v.d_bar
    ]


def u_of_algorithm(v: Values) -> list[Any]:
    """Return u and v of lines 12 and 14."""
    n = v.n
    return [
        np.concatenate([v.u[:n] + v.lam * (bar - d[:n]), (v.u[n] + v.lam * bar)[None]])
        for bar, d in zip(v.d_bar, v.d, strict=True)
    ]


def mean_variance(v: Values) -> Any:
    """Return E|d-bar - E d-bar|^2."""
    mean = expected(v, v.d_bar)
    return expected(v, [np.sum((bar - mean) ** 2, axis=0) for bar in v.d_bar])


POSITIVE = Fraction(1, 50)
ITERATION = Space(
    "one iteration, n = 1..3, d = 2, quadratic f_i and g",
    (
        Variable("iterates", -2, 2, often=(0, 1), shape=(CLIENTS + 1, D)),
        Variable("others", -2, 2, often=(0, 1), shape=(CLIENTS + 1, D)),
        Variable("controls", -2, 2, often=(0, 1), shape=(CLIENTS, D)),
        Variable("solutions", -2, 2, often=(0, 1), shape=(CLIENTS, D)),
        Variable("solution", -2, 2, often=(0,), shape=(D,)),
        Variable(
            "curvature",
            0,
            1,
            often=(0, 1),
            hypothesis="mu <= curvatures <= L",
            beyond=(-1, 3),
            shape=(CLIENTS + 1, D),
        ),
        Variable("mu", POSITIVE, 1, often=(1,)),
        Variable(
            "g",
            POSITIVE,
            Fraction(99, 100),
            often=(Fraction(1, 2),),
            hypothesis="gamma < 2/L",
            beyond=(1, 3),
        ),
        Variable("r", POSITIVE, Fraction(99, 100), often=(Fraction(1, 2),)),
        Variable("p", POSITIVE, 1, often=(1, Fraction(1, 2))),
        Variable("share", POSITIVE, 1, often=(1,), hypothesis=DOWN, beyond=(1, 5)),
        Variable("keep", Fraction(1, 10), 1, often=(Fraction(1, 2), 1)),
    ),
    _derive,
    cells=tuple(
        (("n", n), ("compressor", compressor), ("shared", shared))
        for n in (1, 2, 3)
        for compressor in ("keep", "rand-1")
        for shared in (False, True)
    ),
    shows=("omega", "omega_av", "gamma", "rho", "chi"),
    method="rational",
    count=1500,
)
