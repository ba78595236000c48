"""One round of normalised EF21 in the lengths that its proof speaks of.

They are written once, for two worlds: numbers, of a played round (`normalised_ef21_search`), and
unknowns (`normalised_ef21_unknowns`). Both have gamma, s, A, B, L0, L1, kappa, rho and

* ``slope`` = |grad f(x)|, ``own`` = the mean of |grad f_i(x)|,
* ``error`` = the mean of |grad f_i(x) - g_i|, ``apart`` = |grad f(x) - g|,
* ``along`` = <grad f(x), x+ - x>, ``rise`` = f(x+) - f(x),
* ``move`` = the mean of |grad f_i(x+) - grad f_i(x)|, ``before`` = that of |grad f_i(x+) - g_i|,
* ``after`` = the mean of E|grad f_i(x+) - g_i+|.
"""

from typing import Any

from certibit.theory.audit.machinery.step import Values

REACH = "gamma <= C/L1"
SMALL = "gamma <= 1/(2 K B L1 rho)"
UNLIKE = "|grad f_i| <= kappa + rho |grad f|"
CONTRACTS = "E|C(v) - v|^2 <= s^2 |v|^2, so E|C(v) - v| <= s |v|"


def smoothness(v: Values) -> Any:
    """Return M = A L0 + B L1 (kappa + rho |grad f|)."""
    return v.A * v.L0 + v.B * v.L1 * (v.kappa + v.rho * v.slope)


def smoothness_of_clients(v: Values) -> Any:
    """Return A L0 + B L1 times the mean of |grad f_i|."""
    return v.A * v.L0 + v.B * v.L1 * v.own


def flat_smoothness(v: Values) -> Any:
    """Return A L0 + B L1 kappa, which M is where grad f = 0."""
    return v.A * v.L0 + v.B * v.L1 * v.kappa


def step_growth(v: Values) -> Any:
    """Return K = (1 + 3 s)/(2 (1 - s))."""
    return (1 + v.k.K * v.s) / (2 * v.t)


def weight(v: Values) -> Any:
    """Return c = 2 gamma/(1 - s), the weight of the mean error in V."""
    return v.k.weight * v.gamma / v.t


def change(v: Values) -> Any:
    """Return E V+ - V."""
    return v.rise + weight(v) * (v.after - v.error)
