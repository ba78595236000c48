"""A proved lower bound on the average in EPISODE's Theorem 1, which contradicts its conclusion.

f_1 = e^x, f_2 = e^{-x}: every f_i is (L0, 1)-smooth for every L0 >= 0, f = cosh x is so only for
L0 >= 1; kappa = 1, rho = 2. N = 2, I = 1, Rademacher noise sigma < tau, x_0 = 0, so Delta may be
as small as one likes and R as large. If no round is clipped, x+ = x - eta sinh x + eta nu with
E nu = 0, E nu^2 = sigma^2/2, E nu^4 = sigma^4/2. Then, for eta cosh sigma <= 1:

* |x| <= sigma always, for |x - eta sinh x| <= (1 - eta)|x| and |nu| <= sigma;
* writing m_j for the limit of the averages of E|x_r|^j (limits of R to infinity),
  E x+^2 >= x^2 - 2 eta x sinh x + eta^2 sigma^2/2 gives m_2 >= (eta sigma^2/4) sigma/sinh sigma;
* (1 - (1-eta)^4) m_4 <= 3 eta^2 sigma^2 m_2 + eta^4 sigma^4/2, (1 - (1-eta)^2) m_2 <=
  eta^2 sigma^2/2;
* by Hoelder, m_1 >= m_2^{3/2}/m_4^{1/2}, and |f'(x)| = |sinh x| >= |x|.

No round is clipped, for |G| <= sinh sigma + sigma <= 2.2 sigma <= 11 sigma < tau at sigma <= 1.
So the averages of E|f'(x_r)| that the theorem bounds by 3 epsilon tend to at least m_1.
"""

from fractions import Fraction
from functools import partial

import numpy as np

from certibit.theory.audit.machinery.numbers import sinh
from certibit.theory.audit.machinery.rounds import JOINT
from certibit.theory.audit.machinery.step import Amendment, ProofStep, Space, Values, Variable
from certibit.theory.cards.episode import Theorem1
from certibit.theory.formulas.episode_round import factor_A, factor_B


def _average(v: Values, key: str, general: bool) -> None:
    """Derive the theorem's epsilon and largest step size, and the lower bound of m_1."""
    C = v.number(1)
    A, B = factor_A(C), factor_B(C)
    first, second, third = (getattr(v.k, f"{key}_{j}") for j in (1, 2, 3))
    Gamma = 2 * A * v.L0 + B * (1 + 24 * v.sigma)
    v.epsilon = v.share * 3 * A * v.L0 / (10 * B)
    smoothness = A * v.L0 + (B if general else 0)
    v.eta = np.minimum(
        1 / (first * Gamma),
        np.minimum(
            v.epsilon / (second * Gamma * v.sigma),
            2 * v.epsilon**2 / (third * smoothness * v.sigma**2),
        ),
    )
    v.joint = v.L0 >= 1
    unit = v.eta * v.sigma**2
    least = unit / 4 * v.sigma / sinh(v.sigma)
    # 1 - (1 - eta)^2 and 1 - (1 - eta)^4, divided by eta.
    two = 2 - v.eta
    four = two * (1 + (1 - v.eta) ** 2)
    fourth = (3 * unit * (unit / 2 / two) + v.eta * unit**2 / 2) / four
    v.average = np.sqrt(least**3 / fourth)


def conclusion(form: Theorem1, key: str) -> ProofStep:
    """Return the conclusion against the lower bound; what floats find, decimals confirm."""
    space = Space(
        "f_1 = e^x, f_2 = e^-x, N = 2, I = 1, x_0 = 0, R to infinity",
        (
            Variable("L0", Fraction(1, 10**9), 10, logarithmic=True, often=(1,)),
            Variable("sigma", Fraction(1, 100), 1, logarithmic=True, often=(1,)),
            Variable("share", Fraction(1, 1000), 1, logarithmic=True, often=(1,)),
        ),
        partial(_average, key=key, general=form.general),
        reads=tuple(f"{key}_{j}" for j in (1, 2, 3)),
        shows=("epsilon", "eta", "joint"),
        count=5000,
    )
    return ProofStep(
        f"Thm 1 {key}",
        "mean of E|f'(x_r)| <= 3 eps: a proved lower bound of the mean's limit is not above 3 eps",
        space,
        lambda v: v.average,
        lambda v: 3 * v.epsilon,
        amendments=(
            Amendment("f is (L0, L1)-smooth", {"space": space.having(JOINT)}, restricts=True),
        ),
        constants=", ".join(map(str, form.limits)),
    )
