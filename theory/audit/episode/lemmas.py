"""EPISODE's auxiliary lemmas 5 to 7, as steps."""

from fractions import Fraction
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.numbers import cosh, sinh
from certibit.theory.audit.machinery.step import Hypothesis, ProofStep, Space, Values, Variable
from certibit.theory.formulas.episode_round import factor_A, factor_B

REACH = "|x' - x| <= C/L1"
SMOOTH = "f is (L0, L1)-smooth"


def _pair(v: Values) -> None:
    """Derive f(x') - f(x), f'(x) and f'(x') of a scalar f."""
    L1, one = v.L1, v.L1 * 0 + 1
    step = v.part * v.C / L1
    end = v.x + step
    if v.f == "exp(L1 x)":
        v.L0 = 0 * one
        before, after = L1 * np.exp(L1 * v.x), L1 * np.exp(L1 * end)
        rise = np.exp(L1 * end) - np.exp(L1 * v.x)
    elif v.f == "cosh(L1 x)":
        v.L0 = L1 * L1
        before, after = L1 * sinh(L1 * v.x), L1 * sinh(L1 * end)
        rise = cosh(L1 * end) - cosh(L1 * v.x)
    elif v.f == "x^4/4":
        v.L0 = 4 / (L1 * L1)
        before, after, rise = v.x**3, end**3, (end**4 - v.x**4) / 4
    else:  # f'' = L0 + L1 f' from f'(x) >= 0 upwards: the steepest f there is
        v.L0, before, u = v.y, abs(v.x), abs(v.part) * v.C
        step = u / L1
        after = (before + v.L0 / L1) * np.exp(u) - v.L0 / L1
        rise = (before + v.L0 / L1) * (np.exp(u) - 1) / L1 - v.L0 * step / L1
    v.A, v.B, v.L0 = factor_A(v.C), factor_B(v.C), v.L0 * v.factor
    v.before, v.after, v.rise, v.step = before, after, rise, step


PAIR = Space(
    "scalar f: exp, cosh, x^4/4, and f'' = L0 + L1|f'|, the steepest of all",
    (
        Variable("x", -3, 3, often=(0, 1)),
        Variable("y", 0, 5, often=(0, 1), of=("f'' = L0 + L1|f'|",)),
        Variable("L1", Fraction(1, 5), 3, logarithmic=True, often=(1,)),
        Variable("C", Fraction(1, 20), 5, logarithmic=True, often=(1,)),
        Variable("part", -1, 1, often=(-1, 1), hypothesis=REACH, beyond=(-4, 4)),
        Variable("factor", 1, 2, often=(1,), hypothesis=SMOOTH, beyond=(0, 1)),
    ),
    _pair,
    cells=tuple((("f", f),) for f in ("exp(L1 x)", "cosh(L1 x)", "x^4/4", "f'' = L0 + L1|f'|")),
    shows=("L0", "step"),
    count=4000,
)

FREE_C = Space(
    "C >= 1",
    (Variable("C", 1, 20, often=(1,), hypothesis="C >= 1", beyond=(Fraction(1, 100), 20)),),
    count=4000,
)


def _norm(x: Any) -> Any:
    return np.sqrt(np.sum(np.asarray(x) ** 2, axis=0))


PLANE = Space(
    "u, v in a plane, v != 0",
    (
        Variable("u", -3, 3, often=(0, 1), shape=(2,)),
        Variable("v", -3, 3, often=(1,), shape=(2,)),
        Variable("mu", 0, 5, often=(0, Fraction(2, 5), 1), hypothesis="mu > 0", beyond=(-3, 0)),
    ),
    hypotheses=(Hypothesis("v != 0", lambda v: np.sum(v.v**2, axis=0) > 0),),
    count=10000,
)

AUXILIARY = (
    ProofStep(
        "Lemma 5",
        "f(x') - f(x) <= <f'(x), x' - x> + (A L0 + B L1 |f'(x)|)/2 |x' - x|^2",
        PAIR,
        lambda v: v.rise,
        lambda v: v.before * v.step + (v.A * v.L0 + v.B * v.L1 * abs(v.before)) / 2 * v.step**2,
        feeds=("(19)",),
    ),
    ProofStep(
        "Lemma 6",
        "|f'(x') - f'(x)| <= (A L0 + B L1 |f'(x)|) |x' - x|",
        PAIR,
        lambda v: abs(v.after - v.before),
        lambda v: (v.A * v.L0 + v.B * v.L1 * abs(v.before)) * abs(v.step),
        feeds=("(12)", "Lemma 2", "(35) ends", "Claim 1"),
    ),
    ProofStep(
        "A, B >= 1",
        "C >= 1 makes 1 <= B <= A",
        FREE_C,
        lambda v: np.stack([factor_B(v.C), 1 + 0 * v.C]),
        lambda v: np.stack([factor_A(v.C), factor_B(v.C)]),
    ),
    ProofStep(
        "Lemma 7",
        "-<u,v>/|v| <= -mu|u| - (1-mu)|v| + (1+mu)|v-u|",
        PLANE,
        lambda v: -np.sum(v.u * v.v, axis=0) / _norm(v.v),
        lambda v: -v.mu * _norm(v.u) - (1 - v.mu) * _norm(v.v) + (1 + v.mu) * _norm(v.v - v.u),
        feeds=("Claim 1",),
    ),
)

ROOM = Space(
    "I >= 1",
    (
        Variable(
            "I",
            1,
            10**4,
            logarithmic=True,
            often=(1, 2, 3),
            hypothesis="I >= 1",
            beyond=(Fraction(1, 10), 1),
        ),
    ),
    count=5000,
)


def _growth(v: Values) -> Any:
    return (1 + 2 / v.I) ** v.I * (v.I + 1)


GROWTH = (
    ProofStep(
        "after (18) ii",
        "(1 + 2/I)^I (I+1) <= e^2 I",
        ROOM,
        _growth,
        lambda v: np.exp(v.I * 0 + 2) * v.I,
        feeds=("(14)", "(15)"),
    ),
    ProofStep(
        "after (18) 9",
        "(1 + 2/I)^I (I+1) I {4, 20, 2, 10} <= {36, 90, 18, 18*5} I^2",
        ROOM,
        lambda v: np.stack([c * _growth(v) for c in (4, 2, 10)]),
        lambda v: np.stack(
            [v.k.square * v.I, v.k.linear * v.I, v.k.linear * v.k.linear_noise * v.I]
        ),
        feeds=("(14)", "(15)"),
        movable=("square", "linear"),
    ),
)
