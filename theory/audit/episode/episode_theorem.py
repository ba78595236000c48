"""The proof of EPISODE's Theorem 1, (22) to (32) and the sum over rounds, as polynomial steps.

The constants are normalised as in `episode_algebra`; with the theorem's tau, t = 11 s + a and
2a + b + 12 s = 1.
"""

from fractions import Fraction
from functools import partial
from typing import Any

from certibit.theory.audit.episode.algebra import FEW, unit_variable
from certibit.theory.audit.machinery.step import (
    Amendment,
    ProofStep,
    Severity,
    Space,
    Values,
    Variable,
    steps_on,
)
from certibit.theory.cards.episode import APPENDIX, GENERAL, MAIN, Theorem1

FORMS: dict[str, Theorem1] = {"main": MAIN, "appendix": APPENDIX, "general": GENERAL}
FORM_CONSTANTS = {
    f"{key}_{j + 1}": Fraction(limit)
    for key, form in FORMS.items()
    for j, limit in enumerate(form.limits)
}
TWICE = "twice the right side"
"""What (22) lacks, in both parts and both forms."""


def _theorem(v: Values, key: str, general: bool) -> None:
    first, second, third = (getattr(v.k, f"{key}_{j}") for j in (1, 2, 3))
    v.first = first
    v.a, v.b = v.y1 / 2, (1 - v.y1) * v.y2
    v.s = (1 - v.y1) * (1 - v.y2) / 12
    v.t = 11 * v.s + v.a
    v.e = v.h / first  # eta I Gamma
    v.noise = v.w / second  # eta I Gamma sigma/eps
    v.variance = v.z / third  # A Lambda eta sigma^2/(N eps^2)
    v.limit = v.a * 3 / 5 * v.share  # epsilon
    # A form is homogeneous in |f'| and epsilon (or 1): the larger one is 1.
    v.x, v.y = (
        (v.ratio, 1 + 0 * v.ratio) if v.chart == "|f'| <= other" else (1 + 0 * v.ratio, v.ratio)
    )
    own = 1 if general else v.q
    # V and U of Lemma 4 over eta I; the step size's limits are independent here.
    v.V = (
        (-1 + 2 * v.k.V_square * v.e**2 + 2 * v.k.V_linear * v.t * own * v.e) / 2 * v.x**2
        + v.k.V_linear * own * (v.k.linear_noise * v.s + v.t) * v.noise * v.y * v.x
        + v.k.V_noise * v.noise**2 * v.y**2
        + v.k.V_variance * v.variance * v.y**2
    )
    kappa = v.k.U_kappa + (1 if general else 0)
    v.U_slope = -v.k.mu * v.t + (v.k.U_slope + own) / 2 * v.t**2 * v.e
    v.U_rest = (
        (v.k.mu - 1) * v.t**2
        + v.t**2 * v.e * (v.k.U_smoothness * v.a + kappa * v.b)
        + v.k.U_noise * v.t * v.s
    )


def _quarter(v: Values) -> Any:
    return v.number(Fraction(1, 4)) + 0 * v.h


def _theorem_space(key: str) -> Space:
    """Return the constants and the step sizes of one form of Theorem 1."""
    form = FORMS[key]
    first, second, third = form.limits
    return Space(
        f"constants with the theorem's tau and step size, {key}",
        (
            unit_variable("y1"),
            unit_variable("y2"),
            unit_variable("q", "rho >= 1"),
            unit_variable("h", f"eta <= 1/({first} Gamma I)", (0, 1000)),
            unit_variable("w", f"eta <= eps/({second} Gamma I sigma)", (0, 1000)),
            unit_variable("z", f"eta <= N eps^2/({third} A L0 sigma^2)", (0, 1000)),
            unit_variable("share", "eps <= 3 A L0/(5 B L1 rho)"),
            unit_variable("iB", "A, B >= 1"),
            unit_variable("ratio"),
            Variable("C", 1, 5, often=(1,), hypothesis="C >= 1", beyond=(0, 1)),
        ),
        partial(_theorem, key=key, general=form.general),
        cells=((("chart", "|f'| <= other"),), (("chart", "|f'| >= other"),)),
        reads=tuple(f"{key}_{j}" for j in (1, 2, 3)),
        method="polynomial",
        count=FEW,
        shows=("a", "b", "s", "t"),
    )


def theorem_steps(key: str) -> tuple[ProofStep, ...]:
    """Return the proof of Theorem 1 with the step sizes of one form."""
    form = FORMS[key]
    space, limits = _theorem_space(key), ", ".join(map(str, form.limits))
    third = (f"{key}_3",)
    q: Any = (lambda v: 1) if form.general else (lambda v: v.q)

    def step(place: str, words: str, left: Any, right: Any, *feeds: str, **other: Any) -> ProofStep:
        fed = tuple(f"{f} {key}" for f in feeds)
        return ProofStep(
            f"{place} {key}", words, space, left, right, feeds=fed, constants=limits, **other
        )

    steps = (
        step(
            "(22) a",
            f"2 Gamma eta I <= 1/{form.limits[0]}, as printed",
            lambda v: 2 * v.h,
            lambda v: 1 + 0 * v.h,
            "(22) b",
            amendments=(Amendment.of(TWICE, Severity.WRONG_CONSTANT, right=lambda v: 2 + 0 * v.h),),
        ),
        step(
            "(22) b",
            "Lemma 1's 2 Gamma eta I <= 1",
            lambda v: 2 * v.e,
            lambda v: 1 + 0 * v.h,
        ),
        step(
            "(22) c",
            f"2 eta I (2 sigma + tau) <= (2 sigma + tau)/({form.limits[0]} Gamma), as printed",
            lambda v: 2 * v.h * (2 * v.s + v.t),
            lambda v: 2 * v.s + v.t,
            "(22) d",
            amendments=(
                Amendment.of(TWICE, Severity.WRONG_CONSTANT, right=lambda v: 2 * (2 * v.s + v.t)),
            ),
        ),
        step(
            "(22) d",
            "Lemma 1's 2 eta I (2 sigma + tau) <= C/L1",
            lambda v: 2 * v.e * (2 * v.s + v.t) * v.q * v.iB,
            lambda v: v.C,
        ),
        step(
            "(22) e",
            "gamma I <= 4 eta I sigma + 2 gamma I",
            lambda v: v.t,
            lambda v: 4 * v.s + 2 * v.t,
        ),
        step(
            "(26) i",
            "2 B L1 rho gamma I + B L1 gamma I/2 <= 3(11 B L1 rho sigma + A L0) eta I",
            lambda v: (v.k.U_slope / 2 + q(v) / 2) * v.t * v.e,
            lambda v: 3 * v.t * v.e,
            "(28)",
        ),
        step(
            "(26) ii",
            "3(11 B L1 rho sigma + A L0) eta I <= 18/c_1",
            lambda v: 3 * v.t * v.e,
            lambda v: 18 / v.first + 0 * v.h,
            "(28)",
        ),
        step(
            "(26) 3/10",
            "-2/5 + 18/c_1 <= -3/10",
            lambda v: 18 / v.first + 0 * v.h,
            lambda v: v.number(Fraction(1, 10)) + 0 * v.h,
            "(28)",
        ),
        step(
            "(26) iv",
            "-(3/10) gamma I <= -(1/2) eps eta I",
            lambda v: v.limit / 2,
            lambda v: v.t * 3 / 10,
            "(28)",
        ),
        step(
            "(27) terms",
            "3 A L0 + 2 B L1 kappa <= 3 Gamma and 6 sigma/tau <= 6/11",
            lambda v: v.U_rest,
            lambda v: v.t**2 * (v.k.mu - 1 + 3 * v.e + v.number(Fraction(6, 11))),
            "(28)",
        ),
        step(
            "(27)",
            "-3/5 + 3/c_1 + 6/11 <= 0",
            lambda v: v.k.mu - 1 + 3 / v.first + v.number(Fraction(6, 11)) + 0 * v.h,
            lambda v: 0 * v.h,
            "(28)",
        ),
        step(
            "(28)",
            "U <= -(1/2) eps eta I |f'|",
            lambda v: v.U_slope * v.x + v.U_rest * v.y,
            lambda v: -v.limit * v.x / 2,
        ),
        step(
            "(29)",
            "-1/2 + 36/c_1^2 + 9 tau B L1 eta I <= -1/4",
            lambda v: v.k.V_square * v.e**2 + v.k.V_linear * v.t * q(v) * v.e,
            _quarter,
            "(32) V",
        ),
        step(
            "(29) said",
            "the same from Gamma >= B L1 sigma + A L0/rho alone",
            lambda v: v.k.V_square * v.e**2 + v.k.V_linear * 11 * v.w * v.e,
            _quarter,
            "(29)",
            amendments=(
                Amendment.of(
                    "tau B L1 <= tau B L1 rho <= (11/12) Gamma instead",
                    Severity.GAP_IN_PROOF,
                    left=lambda v: v.k.V_square * v.e**2 + v.k.V_linear * v.t * q(v) * v.e,
                ),
            ),
        ),
        step(
            "(30)",
            "9 B L1 I^2 eta^2 (5 sigma^2 + tau sigma) <= (1/4) eps eta I",
            lambda v: v.k.V_linear * q(v) * (v.k.linear_noise * v.s + v.t) * v.noise,
            _quarter,
            "(32) V",
            movable=(f"{key}_2",),
        ),
        step(
            "(31)",
            f"90/{form.limits[1]}^2 eps^2 + 2 eps^2/{form.limits[2]} <= (1/4) eps^2",
            lambda v: v.k.V_noise * v.noise**2 + v.k.V_variance * v.variance,
            _quarter,
            "(32) V",
            movable=third,
        ),
        step(
            "(32)",
            "-(1/4)|f'|^2 + (1/4) eps |f'| + (1/4) eps^2 <= -(1/4) eps |f'| + (1/2) eps^2",
            lambda v: (-v.x * v.x + v.y * v.x + v.y**2) / 4,
            lambda v: (2 * v.y**2 - v.y * v.x) / 4,
            "(32) V",
        ),
        step(
            "(32) V",
            "V <= -(1/4) eps eta I |f'| + (1/2) eps^2 eta I, however it is shown",
            lambda v: v.V,
            lambda v: (2 * v.y**2 - v.y * v.x) / 4,
            movable=third,
        ),
    )
    printed = ("(22) a", "(22) c", "(29) said")  # what the general form has no need of
    return tuple(s for s in steps if not (form.general and s.place.startswith(printed)))


SUM = Space(
    "R >= 4 Delta/(eps^2 eta I), eps = 1",
    (
        Variable("R", 1, 1000, often=(1, 2)),
        unit_variable("d", "R >= 4 Delta/(eps^2 eta I)"),
    ),
    method="polynomial",
    count=FEW,
)

_step = steps_on(SUM)

UNROLLING = (
    _step(
        "unrolling",
        "mean over r = 0..R of E|f'| <= 4 Delta/(eps eta I (R+1)) + 2 eps <= 3 eps",
        lambda v: v.d * v.R + 2 * (v.R + 1),
        lambda v: 3 * (v.R + 1),
    ),
    _step(
        "restated 1/R",
        "the same with 1/R before the R+1 terms, as the appendix restates it",
        lambda v: v.d * v.R + 2 * (v.R + 1),
        lambda v: 3 * v.R,
        feeds=("unrolling",),
        amendments=(Amendment.of("1/(R+1)", right=lambda v: 3 * (v.R + 1)),),
    ),
    _step(
        "rounds, first",
        "Lemma 4 for 1 <= r (appendix) covers r = 0, which the sum uses",
        lambda v: 1 + 0 * v.R,
        lambda v: 0 * v.R,
        feeds=("unrolling",),
        amendments=(Amendment.of("0 <= r, as in the main text", left=lambda v: 0 * v.R),),
    ),
    _step(
        "rounds, last",
        "Lemma 4 for r <= R - 1 covers r = R, which the sum uses",
        lambda v: v.R,
        lambda v: v.R - 1,
        feeds=("unrolling",),
        amendments=(Amendment.of("r <= R", right=lambda v: v.R),),
    ),
)
