"""The algebra of EPISODE's proof in normalised constants, as polynomial steps.

Divided by Gamma, the constants a = A L0, b = B L1 kappa, s = B L1 rho sigma, t = B L1 rho tau have
sum 1; with the theorem's t = 11 s + a, 2a + b + 12 s = 1. Gradient norms are in units of
Gamma/(B L1 rho); q = 1/rho, i = 1/I, iN = 1/N. A simplex is a box: a = y1, b = (1 - y1) y2, ...
"""

from dataclasses import replace
from fractions import Fraction

from certibit.theory.audit.machinery.step import (
    Amendment,
    ProofStep,
    Severity,
    Space,
    Values,
    Variable,
    steps_on,
)

FEW = 3000


def unit_variable(name: str, hypothesis: str = "", beyond: tuple[int, int] = (0, 10)) -> Variable:
    """Return a variable in [0, 1]."""
    return Variable(
        name, 0, 1, often=(0, 1), hypothesis=hypothesis, beyond=beyond if hypothesis else None
    )


def _general_tau(v: Values) -> None:
    rest = 1 - v.y1
    v.a, v.b = v.y1, rest * v.y2
    v.s, v.t = rest * (1 - v.y2) * v.y3, rest * (1 - v.y2) * (1 - v.y3)
    v.e = v.h * v.k.lemma_1 / 2  # eta I Gamma
    v.L = v.a * v.iA + (v.b + (1 + v.q) * (v.t + 2 * v.s)) * v.iB  # Lemma 2's L over Gamma


ANY_TAU = Space(
    "constants under the hypotheses of Lemma 1, any tau",
    (
        unit_variable("y1"),
        unit_variable("y2"),
        unit_variable("y3"),
        unit_variable("h", "2 eta I Gamma <= 1"),
        unit_variable("q", "rho >= 1"),
        unit_variable("iA", "A, B >= 1"),
        unit_variable("iB", "A, B >= 1"),
        unit_variable("i", "I >= 1"),
        unit_variable("p"),
        unit_variable("Gamma"),
    ),
    _general_tau,
    reads=("lemma_1",),
    method="polynomial",
    count=FEW,
    shows=("a", "b", "s", "t", "L"),
)

OWN_TAU = Amendment(
    "tau >= A L0/(B L1 rho), as in the theorem",
    {
        # a is at most half of Gamma then, which y1 <= 1/2 says.
        "space": replace(
            ANY_TAU,
            variables=tuple(
                replace(u, high=Fraction(1, 2), often=(0,)) if u.name == "y1" else u
                for u in ANY_TAU.variables
            ),
        )
    },
    restricts=True,
)

OWN_STEP = Amendment(
    "2 eta I Gamma <= 2/216, the theorem's step size",
    constants={"lemma_1": Fraction(2, 216)},
    restricts=True,
)

_step = steps_on(ANY_TAU)

LEMMAS = (
    _step(
        "(10) t_r + 1",
        "2 eta sigma + gamma <= 2 eta (sigma + gamma/eta)",
        lambda v: 2 * v.s + v.t,
        lambda v: 2 * (v.s + v.t),
        feeds=("(8)",),
    ),
    _step(
        "(12)",
        "(11), (12): Lambda k eta Gamma + 2 sigma + tau <= Lambda, k < I",
        lambda v: 2 * (2 * v.s + v.t) * v.p * v.e + 2 * v.s + v.t,
        lambda v: 2 * (2 * v.s + v.t),
        feeds=("(8)",),
    ),
    _step(
        "after (13)",
        "2 sigma + tau + kappa + rho(sigma + tau) <= kappa + (rho+1)(2 sigma + tau)",
        lambda v: (2 * v.s + v.t) * v.q + v.s + v.t,
        lambda v: (1 + v.q) * (2 * v.s + v.t),
        feeds=("Lemma 2",),
    ),
    _step(
        "(18) factor",
        "from (16), (17): 1/I + 1 + 4 L^2 (I+1) eta^2 <= 1/I + 1 + 4 L I eta^2",
        lambda v: (1 + v.i) * (v.L * v.Gamma) ** 2,
        lambda v: v.L * v.Gamma,
        feeds=("(14)", "(15)"),
        amendments=(
            Amendment.of(
                "4 L^2 I eta^2", Severity.WRONG_CONSTANT, right=lambda v: (v.L * v.Gamma) ** 2
            ),
            Amendment.of(
                "4 L^2 (I+1) eta^2",
                Severity.WRONG_CONSTANT,
                right=lambda v: (1 + v.i) * (v.L * v.Gamma) ** 2,
            ),
        ),
    ),
    _step(
        "(18) noise",
        "from (16), (17): 4(I+1) + 1 <= 10(I+1)",
        lambda v: 4 * (1 + v.i) + v.i,
        lambda v: 10 * (1 + v.i),
        feeds=("(14)", "(15)"),
    ),
    _step(
        "after (18) i",
        "4 I eta^2 L^2 <= 1/I from 2 eta I Gamma <= 1 and A, B >= 1",
        lambda v: (2 * v.e * v.L) ** 2,
        lambda v: 1 + 0 * v.e,
        feeds=("(14)", "(15)"),
        movable=("lemma_1",),
        amendments=(OWN_STEP,),
    ),
    _step(
        "(18) repaired",
        "4 (I+1) eta^2 L^2 <= 1/I, what (18) needs when its factor is right",
        lambda v: (1 + v.i) * (2 * v.e * v.L) ** 2,
        lambda v: 1 + 0 * v.e,
        feeds=("(14)", "(15)"),
        movable=("lemma_1",),
        amendments=(OWN_STEP,),
    ),
    _step(
        "Claim 2, (35)",
        "Claim 2's constants cover (34), (35): eta/(2I) 18 p I^4 eta^2 Gamma^2 (2|f'|^2 + 7 s^2)",
        lambda v: (v.k.square * v.p + v.k.square_noise * v.s) / 2,
        lambda v: v.k.claim_2 * v.p + v.k.claim_2_noise * v.s,
        feeds=("Lemma 4, smooth f",),
        movable=("claim_2", "claim_2_noise"),
    ),
    _step(
        "combine A L0",
        "A L0 terms of Claims 1, 3 and (19): 2 + 2/2 <= 3, 4/2 <= 2",
        lambda v: (2 + v.k.claim_3_clipped / 2) * v.a + v.k.claim_3_noise / 2 * v.p,
        lambda v: v.k.U_smoothness * v.a + v.k.V_variance * v.p,
        feeds=("Lemma 4, smooth f",),
        movable=("U_smoothness", "V_variance"),
    ),
    _step(
        "combine slope",
        "|f'| terms of Claim 1 and (20): 2 B L1 rho + B L1/2 <= B L1 (4 rho + 1)/2",
        lambda v: 2 + v.q / 2,
        lambda v: (v.k.U_slope + v.q) / 2,
        feeds=("Lemma 4, smooth f",),
        movable=("U_slope",),
    ),
    _step(
        "combine p",
        "p 9 B L1 I^2 eta^2 (5 s^2 + tau s)|f'| of (21) <= p^2 9 ... of the combination",
        lambda v: v.k.linear / 2 * v.p,
        lambda v: v.k.V_linear * v.p * v.p,
        feeds=("Lemma 4, smooth f",),
        amendments=(Amendment.of("p instead of p^2", right=lambda v: v.k.V_linear * v.p),),
    ),
    _step(
        "126 -> 90",
        "second combination: 126 Gamma^2 I^3 eta^3 sigma^2 <= 90 Gamma^2 I^3 eta^3 sigma^2",
        lambda v: v.k.claim_2_noise * (v.e * v.s) ** 2,
        lambda v: v.k.V_noise * (v.e * v.s) ** 2,
        feeds=("Lemma 4, smooth f",),
        movable=("V_noise",),
        amendments=(
            Amendment.of(
                "63 for 126 in Claim 2, as (34), (35) give",
                Severity.WRONG_CONSTANT,
                left=lambda v: v.k.square_noise / 2 * (v.e * v.s) ** 2,
            ),
        ),
    ),
    _step(
        "last term, said",
        "the reason given: 4 eta^2 <= eta/(2I)",
        lambda v: 8 * v.e,
        lambda v: v.Gamma,
        feeds=("last term",),
        amendments=(
            Amendment(
                "2 A L0 eta^2 <= eta/(2I), and tau as in the theorem",
                {
                    **OWN_TAU.changes,
                    "left": lambda v: 4 * v.a * v.e,
                    "right": lambda v: 1 + 0 * v.e,
                },
                severity=Severity.GAP_IN_PROOF,
            ),
        ),
    ),
    _step(
        "last term",
        "the last term is dropped: 2 A L0 eta^2 <= eta/(2I), said to be assumed",
        lambda v: v.k.claim_3_square * v.a * v.e,
        lambda v: 1 + 0 * v.e,
        feeds=("Lemma 4, smooth f",),
        amendments=(OWN_TAU,),
        movable=("claim_3_square",),
    ),
    ProofStep(
        "(24) slope^2",
        "V of the theorem's proof covers Lemma 4's: 9 tau B L1 I^2 eta^2 <= 9 tau I^2 eta^2",
        replace(
            ANY_TAU,
            variables=(*ANY_TAU.variables, Variable("BL1", 0, 10, often=(1, 2))),
        ),
        lambda v: v.BL1,
        lambda v: 1 + 0 * v.BL1,
        feeds=tuple(f"(32) V {key}" for key in ("main", "appendix", "general")),
        amendments=(Amendment.of("B L1 put back", right=lambda v: v.BL1),),
    ),
    _step(
        "(24) slope",
        "V of the theorem's proof covers Lemma 4's: 9 B L1 ... <= p_r 9 B L1 ...",
        lambda v: 1 + 0 * v.p,
        lambda v: v.p,
        feeds=tuple(f"(32) V {key}" for key in ("main", "appendix", "general")),
        amendments=(Amendment.of("without p_r", right=lambda v: 1 + 0 * v.p),),
    ),
    _step(
        "(24) noise",
        "V of the theorem's proof covers Lemma 4's: 90 Gamma^2 ... <= 126 Gamma^2 ...",
        lambda v: v.k.V_noise * v.s,
        lambda v: v.k.claim_2_noise * v.s,
        feeds=tuple(f"(32) V {key}" for key in ("main", "appendix", "general")),
    ),
)
