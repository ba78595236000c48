"""The convergence proof of EPISODE (ICLR 2023, appendices A to E.1), step by step.

Its parts: the auxiliary lemmas (`episode_lemmas`), the algebra in normalised constants
(`episode_algebra`, `episode_theorem`), what one round does, by exact enumeration
(`episode_rounds`), whether the theorem's conclusion can fail (`episode_limit`), and Proposition 1
(`episode_proposition`).
"""

from fractions import Fraction
from functools import partial

import numpy as np

from certibit.theory.audit.episode.algebra import LEMMAS
from certibit.theory.audit.episode.episode_rounds import JOINTLY, ROUNDS, descent
from certibit.theory.audit.episode.episode_theorem import (
    FORM_CONSTANTS,
    FORMS,
    UNROLLING,
    theorem_steps,
)
from certibit.theory.audit.episode.lemmas import AUXILIARY, GROWTH
from certibit.theory.audit.episode.proposition import PROPOSITION, PROPOSITION_CONSTANTS
from certibit.theory.audit.machinery.numbers import sinh
from certibit.theory.audit.machinery.rounds import JOINT, own_step
from certibit.theory.audit.machinery.step import (
    Amendment,
    ProofStep,
    Space,
    Values,
    Variable,
    WrittenProof,
)
from certibit.theory.cards.episode import Theorem1
from certibit.theory.formulas.episode_round import PRINTED, factor_A, factor_B


def _average(v: Values, key: str, general: bool) -> None:
    """Derive the theorem's epsilon and largest step size, and the lower bound of m_1."""
    C, v.L1, v.kappa, v.rho, v.N, v.I = map(v.number, (1, 1, 1, 2, 2, 1))
    v.A, v.B = factor_A(C), factor_B(C)
    v.eta = own_step(v, key, general)
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
        amendments=(Amendment(JOINTLY.words, {"space": space.having(JOINT)}, restricts=True),),
        constants=", ".join(map(str, form.limits)),
    )


PROOF = WrittenProof(
    "episode",
    "Crawshaw, Bao, Liu: EPISODE, ICLR 2023, appendices A-D and E.1; Theorem 1 with the constants "
    "of the main text (216, 180, 16), of the appendix (856, 180, 8), and in a general form.",
    (
        *AUXILIARY,
        *LEMMAS[:6],
        *GROWTH,
        *LEMMAS[6:],
        *ROUNDS,
        *(step for key in FORMS for step in theorem_steps(key)),
        *(descent(form, key) for key, form in FORMS.items()),
        *UNROLLING,
        *(conclusion(form, key) for key, form in FORMS.items()),
        *PROPOSITION,
    ),
    {**PRINTED, **FORM_CONSTANTS, **PROPOSITION_CONSTANTS, "lemma_1": Fraction(1)},
    {
        JOINTLY.words: "Assume f_i for i in [N] and f defined in (1) satisfy: (i) f_i is second "
        "order differentiable and (L0, L1)-smooth."
    },
)
