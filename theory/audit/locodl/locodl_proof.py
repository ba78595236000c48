"""The convergence proof of LoCoDL (arXiv:2403.04348, appendix A), step by step.

"l." gives the line number of the paper where an equation has no number. An argument returns
right - left as a sum of nonnegative terms; the equality is checked term by term.
"""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from certibit.theory.audit.locodl.iteration import (
    ITERATION,
    S,
    W,
    as_one_side,
    before_rate,
    centre,
    everywhere,
    expected,
    factor,
    gain,
    inner,
    lyapunov,
    mean_variance,
    server,
    square,
    step_contraction,
    u_of_algorithm,
    u_square,
    x_of_algorithm,
    x_square,
    x_square_sent,
)
from certibit.theory.audit.machinery.step import ProofStep, Values, WrittenProof
from certibit.theory.audit.machinery.unknowns import Joint, Nonnegative, squared

Argument = Callable[[Values], Nonnegative]


def _sent_square(v: Values) -> Nonnegative:
    """P lam^2, which all of the dual step's error is multiplied by."""
    lam = v.known.p * v.known.chi / (v.known.gamma * v.known.s)
    return v.known.p * lam * lam


def variance(v: Values) -> Nonnegative:
    """Omega |x^ - 1y^|^2 - E|d - E d|^2."""
    return v.known.variance


def _jensen(v: Values) -> Nonnegative:
    """Return E|S(d - E d)|^2."""
    return squared(S(v.noise)).mean()


def peter_paul(v: Values) -> Nonnegative:
    """Return 2|Wx^|^2 - |x^ - 1y^|^2: the clients' squared deviations from their mean."""
    hat = v.hat
    return squared(Joint(hat.n, 0 * hat.clients, 0 * hat.server, hat.own))


def _dual_compressed(v: Values) -> Nonnegative:
    """P lam^2 (omega |x^ - 1y^|^2 - E|d - E d|^2)."""
    return _sent_square(v) * variance(v)


def _dual_jensen(v: Values) -> Nonnegative:
    """Return the same, and p lam^2 E|S(d - E d)|^2."""
    return _dual_compressed(v) + _sent_square(v) * _jensen(v)


def dual(v: Values) -> Nonnegative:
    """Return the same, and p lam^2 omega (2|Wx^|^2 - |x^ - 1y^|^2)."""
    return _dual_jensen(v) + _sent_square(v) * v.known.omega * peter_paul(v)


def _variance_of_mean_first(v: Values) -> Nonnegative:
    """Return a quarter of what is known of the variance of the mean."""
    return v.known.joint_variance * v.known.quarter


def _variance_of_mean(v: Values) -> Nonnegative:
    """Return the same, and omega_av/(4n) (2|Wx^|^2 - |x^ - 1y^|^2)."""
    share = v.known.omega_av * v.known.quarter / v.known.n
    return _variance_of_mean_first(v) + share * peter_paul(v)


def _primal_sent(v: Values) -> Nonnegative:
    """Return 2n rho^2 (omega_av/(2n) |Wx^|^2 - E|d-bar - E d-bar|^2)."""
    n, rho, half = v.known.n, v.known.rho, v.known.half
    return n * rho * rho * _variance_of_mean(v) / half


def primal(v: Values) -> Nonnegative:
    """Return the same, sent with probability p."""
    return v.known.p * _primal_sent(v)


def _before_chi(v: Values) -> Nonnegative:
    """Return the steps of x and u, weighted as in Psi."""
    gamma, p, chi, s = v.known.gamma, v.known.p, v.known.chi, v.known.s
    weight = gamma * s / (p * p * chi)
    return primal(v) / gamma + weight * dual(v)


def _one_iteration(v: Values) -> Nonnegative:
    """Return the same, and what chi leaves of the gain."""
    spread = squared(W(v.hat))
    return _before_chi(v) + v.known.p / v.known.gamma * v.known.down * spread


def gradient_step(v: Values) -> Nonnegative:
    """Return with M = max(1 - gamma mu, gamma L - 1)."""
    known = v.known
    gamma, slow, fast = known.gamma, known.above_slow, known.above_fast
    return (
        gamma * gamma * known.cocoercive
        + fast * gamma * known.convex
        + slow * gamma * known.smooth
        + slow * fast * squared(v.x - v.x_star)
    )


def theorem(v: Values) -> Nonnegative:
    """Return the iteration, the gradient step, and what F is above each of the three."""
    known = v.known
    gamma, p, chi, s = known.gamma, known.p, known.chi, known.s
    weight = gamma * s / (p * p * chi)
    distance = known.above_square * squared(v.x - v.x_star)
    return (
        _one_iteration(v)
        + (gradient_step(v) + distance) / gamma
        + known.above_kept * weight * squared(v.u - v.u_star)
    )


def _below_one(v: Values) -> Nonnegative:
    """Return 1 - F, F being the largest of the three."""
    known = v.known
    fast = known.gamma * known.L * known.step
    slow = known.gamma * known.mu * (known.step + known.gamma * known.slower)
    return (slow, fast, known.p * known.p * known.chi / known.s)[v.rate]


ARGUMENTS: Mapping[str, Argument] = {
    "l. 482": variance,
    "l. 484": _dual_compressed,
    "l. 485 Jensen": _jensen,
    "l. 486": _dual_jensen,
    "(18)": peter_paul,
    "l. 488": dual,
    "l. 493 first": _variance_of_mean_first,
    "l. 493": _variance_of_mean,
    "l. 494": _primal_sent,
    "l. 495": primal,
    "l. 497": primal,
    "l. 498": _before_chi,
    "l. 499": _one_iteration,
    "l. 500": gradient_step,
    "(19)": theorem,
    "(5) rate": _below_one,
}


def step(
    place: str, words: str, left: Any, right: Any, *feeds: str, equality: bool = False, **other: Any
) -> ProofStep:
    """Return a step about one iteration."""
    argument = ARGUMENTS.get(place)
    return ProofStep(
        place, words, ITERATION, left, right, equality, feeds, argument=argument, **other
    )


PROOF = WrittenProof(
    "locodl",
    "LoCoDL, arXiv:2403.04348, appendix A: the proof of Theorem 3.1.",
    (
        step(
            "(13)",
            "S is an orthogonal projection: <Sx, x'> = <Sx, Sx'>",
            lambda v: inner(S(v.x), v.other),
            lambda v: inner(S(v.x), S(v.other)),
            "(19)",
            equality=True,
        ),
        step(
            "(14)",
            "W is an orthogonal projection: <Wx, x'> = <Wx, Wx'>",
            lambda v: inner(W(v.x), v.other),
            lambda v: inner(W(v.x), W(v.other)),
            "(19)",
            equality=True,
        ),
        step(
            "(15)",
            "Wx = (d_i - d-bar, -d-bar), d_i = x_i - y",
            lambda v: W(v.x),
            lambda v: W(v.x - everywhere(server(v.x), v.x)),
            "(17)",
            equality=True,
        ),
        step(
            "(17)",
            "the iteration's u_{t+1} = u + lambda(1 d-bar - d)",
            lambda v: as_one_side(v.u_next),
            lambda v: as_one_side(
                [
                    v.u + v.lam * (everywhere(bar, d) - d)
                    for bar, d in zip(v.d_bar, v.d, strict=True)
                ]
            ),
            "(19)",
            equality=True,
        ),
        step(
            "Alg. 1, 13-14",
            "lines 11 to 14 of the algorithm are the iteration (17) for x, y, u and v",
            lambda v: as_one_side([*v.x_next, *v.u_next]),
            lambda v: as_one_side([*x_of_algorithm(v), *u_of_algorithm(v)]),
            "(19)",
            equality=True,
        ),
        step(
            "S u = 0",
            "S u_{t+1} = 0 if S u_t = 0",
            lambda v: as_one_side([square(S(u)) for u in v.u_next]),
            lambda v: 0 * v.mu,
            "(19)",
            equality=True,
        ),
        step(
            "l. 479",
            "|u+ - u*|^2 = |u - u*|^2 + lam^2|d|^2 - lam^2|Sd|^2 - 2 lam<u - u*, d>",
            lambda v: as_one_side([square(u - v.u_star) for u in v.u_next]),
            lambda v: as_one_side(
                [
                    square(v.e_u)
                    + v.lam**2 * (square(d) - square(S(d)))
                    - 2 * v.lam * inner(v.e_u, d)
                    for d in v.d
                ]
            ),
            "l. 484",
            equality=True,
        ),
        step(
            "l. 482",
            "E|d|^2 <= (1 + omega)|x^ - 1y^|^2",
            lambda v: expected(v, [square(d) for d in v.d]),
            lambda v: (1 + v.omega) * v.apart,
            "l. 484",
        ),
        step(
            "l. 483",
            "E d = x^ - 1y^",
            lambda v: expected(v, v.d),
            lambda v: v.hat - v.y_hat,
            "l. 484",
            equality=True,
        ),
        step(
            "l. 484",
            "E|u+ - u*|^2 <= |u - u*|^2 + p lam^2((1+omega)|x^ - 1y^|^2 - E|Sd|^2) - ...",
            u_square,
            lambda v: (
                square(v.e_u)
                + v.p
                * v.lam**2
                * ((1 + v.omega) * v.apart - expected(v, [square(S(d)) for d in v.d]))
                - 2 * v.p * v.lam * inner(v.e_u, v.hat)
            ),
            "l. 488",
        ),
        step(
            "l. 485 Jensen",
            "E|Sd|^2 >= |Sx^ - 1y^|^2",
            lambda v: square(S(v.hat) - v.y_hat),
            lambda v: expected(v, [square(S(d)) for d in v.d]),
            "l. 486",
        ),
        step(
            "l. 486 split",
            "|x^ - 1y^|^2 = |Sx^ - 1y^|^2 + |Wx^|^2",
            lambda v: v.apart,
            lambda v: square(S(v.hat) - v.y_hat) + v.spread,
            "l. 486",
            equality=True,
        ),
        step(
            "l. 486",
            "E|u+ - u*|^2 <= |u - u*|^2 + p lam^2(omega|x^ - 1y^|^2 + |Wx^|^2) - ...",
            u_square,
            lambda v: (
                square(v.e_u)
                + v.p * v.lam**2 * (v.omega * v.apart + v.spread)
                - 2 * v.p * v.lam * inner(v.e_u, v.hat)
            ),
            "l. 488",
        ),
        step(
            "(18)",
            "|x^ - 1y^|^2 <= 2|Wx^|^2",
            lambda v: v.apart,
            lambda v: v.k.peter_paul * v.spread,
            "l. 488",
            "l. 493",
            movable=("peter_paul",),
        ),
        step(
            "l. 488",
            "E|u+ - u*|^2 <= |u - u*|^2 + p lam^2(1 + 2 omega)|Wx^|^2 - 2 p lam<u - u*, x^>",
            u_square,
            lambda v: (
                square(v.e_u)
                + v.p * v.lam**2 * (1 + v.k.peter_paul * v.omega) * v.spread
                - 2 * v.p * v.lam * inner(v.e_u, v.hat)
            ),
            "l. 499",
            movable=("peter_paul",),
        ),
        step(
            "l. 490",
            "y^ + E d-bar = x^-bar",
            lambda v: server(v.hat) + expected(v, v.d_bar),
            lambda v: centre(v.hat),
            "l. 494",
            equality=True,
        ),
        step(
            "l. 491",
            "<x^ - x*, Sx^ - x*> = |S(x^ - x*)|^2",
            lambda v: inner(v.e_x, S(v.hat) - v.x_star),
            lambda v: square(S(v.e_x)),
            "l. 494",
            equality=True,
        ),
        step(
            "l. 492",
            "E|1(y^ + d-bar) - x*|^2 = |Sx^ - x*|^2 + 2n E|d-bar - E d-bar|^2",
            lambda v: expected(
                v, [square(everywhere(server(v.hat) + bar, v.hat) - v.x_star) for bar in v.d_bar]
            ),
            lambda v: square(S(v.hat) - v.x_star) + 2 * v.n * mean_variance(v),
            "l. 494",
            equality=True,
        ),
        step(
            "l. 493 first",
            "E|d-bar - E d-bar|^2 <= omega_av/(4n) sum|x^_i - y^|^2",
            mean_variance,
            lambda v: v.omega_av / (4 * v.n) * v.apart,
            "l. 494",
        ),
        step(
            "l. 493",
            "E|d-bar - E d-bar|^2 <= omega_av/(2n)|Wx^|^2",
            mean_variance,
            lambda v: v.k.peter_paul * v.omega_av / (4 * v.n) * v.spread,
            "l. 494",
            movable=("peter_paul",),
        ),
        step(
            "l. 494",
            "E|x+ - x*|^2 <= |x^ - x*|^2 - (2 rho - rho^2 - rho^2 omega_av)|Wx^|^2, sent",
            x_square_sent,
            lambda v: square(v.e_x) - gain(v) * v.spread,
            "l. 495",
        ),
        step(
            "l. 495",
            "E|x+ - x*|^2 <= |x^ - x*|^2 - p(2 rho - rho^2(1 + omega_av))|Wx^|^2",
            x_square,
            lambda v: square(v.e_x) - v.p * gain(v) * v.spread,
            "l. 497",
        ),
        step(
            "l. 496",
            "|x^ - x*|^2 = |w - w*|^2 - gamma^2|u - u*|^2 + 2 gamma<x^, u - u*>",
            lambda v: square(v.e_x),
            lambda v: (
                square(v.w - v.w_star)
                - v.gamma**2 * square(v.e_u)
                + 2 * v.gamma * inner(v.hat, v.e_u)
            ),
            "l. 497",
            equality=True,
        ),
        step(
            "l. 497",
            "E|x+ - x*|^2 <= |w - w*|^2 - gamma^2|u - u*|^2 + 2 gamma<x^, u - u*> - ...",
            x_square,
            lambda v: (
                square(v.w - v.w_star)
                - v.gamma**2 * square(v.e_u)
                + 2 * v.gamma * inner(v.hat, v.e_u)
                - v.p * gain(v) * v.spread
            ),
            "l. 499",
        ),
        step(
            "l. 498",
            "E Psi+ <= ... - (p/gamma)(2 rho - rho^2(1 + omega_av) - chi)|Wx^|^2",
            lambda v: lyapunov(x_square(v), u_square(v), v),
            lambda v: before_rate(v) - v.p / v.gamma * (gain(v) - v.chi) * v.spread,
            "l. 499",
        ),
        step(
            "l. 499",
            "E Psi+ <= |w - w*|^2/gamma + (1 - p^2 chi/(1+2 omega)) weight |u - u*|^2",
            lambda v: lyapunov(x_square(v), u_square(v), v),
            before_rate,
            "(19)",
        ),
        step(
            "l. 500",
            "|w - w*|^2 <= max(1 - gamma mu, gamma L - 1)^2 |x - x*|^2",
            lambda v: square(v.w - v.w_star),
            lambda v: step_contraction(v) ** 2 * square(v.x - v.x_star),
            "(19)",
        ),
        step(
            "(19)",
            "E Psi+ <= max{(1 - gamma mu)^2, (1 - gamma L)^2, 1 - p^2 chi/(1+2 omega)} Psi",
            lambda v: lyapunov(x_square(v), u_square(v), v),
            lambda v: factor(v) * lyapunov(square(v.x - v.x_star), square(v.e_u), v),
        ),
        step("(5) rate", "the rate is at most 1", factor, lambda v: 1 + 0 * v.mu),
    ),
    {"peter_paul": Fraction(2)},
)
