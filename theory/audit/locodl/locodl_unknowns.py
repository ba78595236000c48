"""The iteration of LoCoDL on unknown vectors: all n, d, functions and compressors at once.

Scalars are polynomials in positive variables, with s = 1 + 2 omega, so that all that is divided by
is a monomial. A gradient is that of the solution plus an unknown; a message arrives with an unknown
noise of mean 0. What is known of them is stated as hypotheses.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

from certibit.theory.audit.locodl.iteration import (
    DOWN,
    communication,
    everywhere,
    factor,
    gain,
    inner,
    local_step,
    square,
    step_contraction,
)
from certibit.theory.audit.machinery.nonnegative import assume, positive
from certibit.theory.audit.machinery.polynomial import Polynomial
from certibit.theory.audit.machinery.step import Values
from certibit.theory.audit.machinery.unknowns import NOISE, Expansion, Joint

SCALARS = ("n", "gamma", "mu", "L", "p", "chi", "rho", "omega_av", "s")


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
