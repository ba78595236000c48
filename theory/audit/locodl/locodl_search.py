"""The points at which the steps of LoCoDL's proof are tested: few clients, quadratics in R^2.

The vectors are arbitrary, the f_i and g are quadratics with arbitrary curvatures in [mu, L], and
the compressors are of two kinds, independent or shared by the clients: kept whole and scaled with
some probability, and one random coordinate of two. Expectations are over all outcomes.
"""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from certibit.theory.audit.locodl.iteration import DOWN, communication, local_step
from certibit.theory.audit.locodl.locodl_unknowns import unknowns
from certibit.theory.audit.machinery.step import Space, Values, Variable

CLIENTS, D = 3, 2


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
    unknowns=unknowns,
)
