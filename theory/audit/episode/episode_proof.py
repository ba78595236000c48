"""The convergence proof of EPISODE (ICLR 2023, appendices A to E.1), step by step.

Its parts: the auxiliary lemmas (`episode_lemmas`), the algebra in normalised constants
(`episode_algebra`, `episode_theorem`), what one round does, by exact enumeration
(`episode_rounds`), whether the theorem's conclusion can fail (`episode_limit`), and Proposition 1
(`episode_proposition`).
"""

from fractions import Fraction

from certibit.theory.audit.episode.algebra import LEMMAS
from certibit.theory.audit.episode.episode_rounds import ROUNDS, descent
from certibit.theory.audit.episode.episode_theorem import (
    FORM_CONSTANTS,
    FORMS,
    UNROLLING,
    theorem_steps,
)
from certibit.theory.audit.episode.lemmas import AUXILIARY, GROWTH
from certibit.theory.audit.episode.limit import conclusion
from certibit.theory.audit.episode.proposition import PROPOSITION, PROPOSITION_CONSTANTS
from certibit.theory.audit.machinery.step import Proof
from certibit.theory.formulas.episode_round import PRINTED

PROOF = Proof(
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
)
