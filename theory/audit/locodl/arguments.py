"""Proofs of the inequalities of LoCoDL's appendix A: right - left as a sum of nonnegative terms.

An argument returns such a sum; its equality with right - left is checked term by term.
"""

from collections.abc import Callable, Mapping

from certibit.theory.audit.locodl.iteration import S, W
from certibit.theory.audit.machinery.nonnegative import Nonnegative, squared
from certibit.theory.audit.machinery.step import Values
from certibit.theory.audit.machinery.unknowns import Joint

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
