"""One iteration of LoCoDL in the notation of its proof (arXiv:2403.04348, appendix A).

It is written once, for two worlds: numbers, where the vectors are arrays (n+1, D, points), clients
first and the server last; unknowns, where they are `Joint`. The points at which steps are tested
have few clients and quadratics in R^2 with arbitrary curvatures in [mu, L], and arbitrary vectors.
The compressors are of two kinds, independent or shared by the clients: kept whole and scaled with
some probability, and one random coordinate of two. Expectations are over all outcomes.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.step import Space, Values, Variable
from certibit.theory.audit.machinery.unknowns import NOISE, Expansion, Joint, assume, positive

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


SCALARS = ("n", "gamma", "mu", "L", "p", "chi", "rho", "omega_av", "s")


CLIENTS, D = 3, 2
POSITIVE = Fraction(1, 50)


def unknowns(constants: Mapping[str, Fraction]) -> Iterator[Values]:
    """Yield the iteration in every case of the two maxima of the rate."""
    for larger in product(range(2), range(3)):
        v = SimpleNamespace(k=SimpleNamespace(**constants))
        v.contraction, v.rate = larger
        for number, name in enumerate(SCALARS):
            setattr(v, name, Polynomial.variable(len(SCALARS), number))
        v.omega = (v.s - 1) / 2
        v.x, v.other = Joint.unknown(v.n, "x"), Joint.unknown(v.n, "other")
        v.u, v.u_star = _balanced(v, "u"), _balanced(v, "u*")
        v.x_star = everywhere(Expansion({"x*": v.n / v.n}), v.x)
        v.steeper = Joint.unknown(v.n, "gradient")
        v.gradient = v.steeper + v.u_star
        local_step(v)
        noise = Joint.unknown(v.n, NOISE)
        v.noise = Joint(v.n, noise.clients, 0 * noise.server, noise.own)
        v.d = [v.differences + v.noise]
        communication(v)
        _hypotheses(v)
        yield v


def _balanced(v: Values, name: str) -> Joint:
    """Return unknown control variates u with S u = 0."""
    vectors = Joint.unknown(v.n, name)
    return Joint(v.n, vectors.clients, -vectors.clients, vectors.own)


def _hypotheses(v: Values) -> None:
    known = v.known = SimpleNamespace(**{name: positive(getattr(v, name)) for name in SCALARS})
    known.half, known.quarter = positive(v.n / v.n / 2), positive(v.n / v.n / 4)
    known.omega = assume("omega >= 0", v.omega)
    known.down = assume(DOWN, gain(v) - v.chi)
    known.slower = assume("mu <= L", v.L - v.mu)
    known.step = assume("gamma <= 2/L", 2 - v.gamma * v.L)
    _functions(v)
    _compressors(v)
    M, F, largest = step_contraction(v), factor(v), "a maximum is at least each"
    known.above_slow = assume(largest, M - (1 - v.gamma * v.mu))
    known.above_fast = assume(largest, M - (v.gamma * v.L - 1))
    known.above_square = assume(largest, F - M**2)
    known.above_kept = assume(largest, F - (1 - v.p**2 * v.chi / v.s))


def _functions(v: Values) -> None:
    """State what holds for the gradients of mu-strongly convex, L-smooth functions."""
    e, g = v.x - v.x_star, v.steeper
    words = "f_i and g are mu-strongly convex and L-smooth"
    above, below = g - v.mu * e, v.L * e - g
    v.known.convex = assume(words, inner(above, e))
    v.known.smooth = assume(words, inner(below, e))
    v.known.cocoercive = assume(words, inner(above, below))


def _compressors(v: Values) -> None:
    """State what omega and omega_av are."""
    v.known.variance = assume(
        "E|C(x) - x|^2 <= omega |x|^2", v.omega * v.apart - square(v.noise).mean()
    )
    bar = v.noise.clients
    v.known.joint_variance = assume(
        "E|mean of C(x_i) - x_i|^2 <= omega_av mean of |x_i|^2",
        v.omega_av * v.apart / v.n - bar.dot(bar).mean(),
    )


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
    v.gradient = v.m * (v.x - v.x_star) + v.u_star
    v.rho = 2 * v.r / (1 + v.omega_av)
    v.chi = v.share * (2 * v.rho - v.rho**2 * (1 + v.omega_av))
    local_step(v)
    sent = v.differences
    v.d = [np.concatenate([c * sent[:n], 0 * sent[n:]]) for _, c in v.outcomes]
    communication(v)


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
    unknowns=unknowns,
)
