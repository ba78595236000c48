"""EPISODE's Proposition 1 on its synthetic problem, (38) to (41), as steps."""

from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from certibit.theory.audit.machinery.numbers import high_precision, number
from certibit.theory.audit.machinery.step import (
    Amendment,
    Cell,
    ProofStep,
    Space,
    Values,
    Variable,
    steps_on,
)


def _kappa(H: Any) -> Any:
    """Return kappa(H) as Proposition 1's proof defines it."""
    x_2 = (np.sqrt(18**2 + 480 * H) - 18) / 24
    return 9 * x_2**2 + 10 * H * x_2 + 25 * H**2 / 3 + 45 * H + 100


def _quartics(v: Values) -> None:
    """Derive the synthetic problem's gradients and the parts of Proposition 1.

    The roots of its derivatives are of order 1 and of order sqrt(H): x is searched at both scales.
    """
    v.x = v.from_ + v.y * (np.sqrt(v.H) if v.scale == "sqrt(H)" else 1)
    x, H = v.x, v.H
    v.mean = 4 * x**3 - 9 * x**2 - H * x + 1
    v.first, v.second = v.mean + 3 * H * x, v.mean - 3 * H * x
    v.larger = np.maximum(abs(v.first), abs(v.second))
    v.cubic = abs(4 * x**3 - 9 * x**2)
    v.g = 10 * H * abs(x) - v.cubic
    v.root = np.sqrt(18**2 + 480 * H)
    v.x_2 = (v.root - 18) / 24
    v.third = 9 * v.x_2**2 + 10 * H * v.x_2
    v.kappa = _kappa(H)
    v.kappa_later = _kappa(H + abs(x))


H_RANGE = Variable(
    "H",
    1,
    10**6,
    logarithmic=True,
    often=(1, 2, 4, 8, 10**6),
    hypothesis="H >= 1",
    beyond=(Fraction(1, 1000), 1),
)
SCALES = tuple((("scale", scale),) for scale in ("1", "sqrt(H)"))


def _region(
    words: str,
    low: Fraction | int,
    high: Fraction | int,
    start: Fraction | int = 0,
    scales: tuple[Cell, ...] = SCALES,
) -> Space:
    """Return x = start + y times a scale for y from low to high."""

    def derive(v: Values) -> None:
        v.from_ = v.number(start)
        _quartics(v)

    return Space(
        f"f_i of the synthetic problem, H in [1, 10^6], {words}",
        (Variable("y", low, high, often=(0, Fraction(9, 4))), H_RANGE),
        derive,
        cells=scales,
        shows=("x", "root", "g"),
        count=10000,
    )


LINE = _region("|x| <= 20 sqrt(H)", -20, 20)
LEFT = _region("-20 sqrt(H) <= x <= 0", -20, 0)
MIDDLE = _region("0 <= x <= 9/4", 0, Fraction(9, 4), scales=SCALES[:1])
RIGHT = _region("9/4 <= x <= 20 sqrt(H)", 0, 18, Fraction(9, 4))
LIMIT = Space(
    "f_i of the synthetic problem, H to infinity, |x| = t sqrt(5 H/6), t <= 16",
    (Variable("t", 0, 16, often=(0, 1)),),
    method="polynomial",
)
CONCLUSION = ("Proposition 1",)


def _peak(v: Values, root: Any) -> Any:
    """Return the maximum printed before (41), with x_2 at a root."""
    at = np.asarray(root)
    return np.maximum(-4 * at**3 + 9 * at**2 + 10 * v.H * at, 45 * v.H / 2)


def _quartic_at(H: int) -> Space:
    def derive(v: Values) -> None:
        v.H, v.from_, v.scale = v.y * 0 + H, 0, "1"
        _quartics(v)

    return Space(
        f"f_i of the synthetic problem, H = {H}",
        (Variable("y", -6, 6, often=(0,)),),
        derive,
        count=200000,
    )


def printed_kappa(H: int) -> Fraction:
    """Return kappa(H) of Proposition 1, rounded up to a rational number."""
    with high_precision():
        return Fraction(int(_kappa(number(Fraction(H), "decimal")) * 10**9) + 1, 10**9)


def _constant(H: int, v: Values) -> Any:
    return getattr(v.k, f"kappa_{H}") + 0 * v.x


PROPOSITION_CONSTANTS = {f"kappa_{H}": printed_kappa(H) for H in (1, 2, 4, 8)}

_on_line, _on_right, _in_the_limit = map(steps_on, (LINE, RIGHT, LIMIT))

PROPOSITION = (
    _on_line(
        "(38) 1-3",
        "|f_i'| <= 3H|x| + |f'| = 3H|x| - |4x^3 - 9x^2 - Hx + 1| + 2|f'|",
        lambda v: v.larger,
        lambda v: 3 * v.H * abs(v.x) - abs(v.mean) + 2 * abs(v.mean),
        feeds=CONCLUSION,
    ),
    _on_line(
        "(38) 4",
        "3H|x| - |4x^3 - 9x^2 - Hx + 1| <= 4H|x| - |4x^3 - 9x^2 + 1|",
        lambda v: 3 * v.H * abs(v.x) - abs(v.mean),
        lambda v: 4 * v.H * abs(v.x) - abs(4 * v.x**3 - 9 * v.x**2 + 1),
        feeds=CONCLUSION,
    ),
    _on_line(
        "(38) 5",
        "4H|x| - |4x^3 - 9x^2 + 1| <= 10H|x| - |4x^3 - 9x^2| + 1",
        lambda v: 4 * v.H * abs(v.x) - abs(4 * v.x**3 - 9 * v.x**2 + 1),
        lambda v: v.g + 1,
        feeds=CONCLUSION,
    ),
    ProofStep(
        "before (39)",
        "x_1 = (18 - sqrt(18^2 + 480H))/24 is a root of 12x^2 - 18x - 10H",
        LEFT,
        lambda v: 12 * ((18 - v.root) / 24) ** 2,
        lambda v: 18 * ((18 - v.root) / 24) + 10 * v.H,
        equality=True,
        feeds=("(39)",),
    ),
    ProofStep(
        "(39)",
        "x < 0: g(x) <= 10H (sqrt(18^2 + 480H) - 18)/24 <= 25H^2/3",
        LEFT,
        lambda v: np.stack([v.g, 10 * v.H * v.x_2]),
        lambda v: np.stack([10 * v.H * v.x_2, 25 * v.H**2 / 3]),
        feeds=CONCLUSION,
    ),
    ProofStep(
        "(40)",
        "0 < x < 9/4: g(x) <= 10H*9/4",
        MIDDLE,
        lambda v: v.g,
        lambda v: 45 * v.H / 2,
        feeds=CONCLUSION,
    ),
    _on_right(
        "before (41)",
        "x_2 = (-18 + sqrt(18^2 + 480H))/24 is a root of -12x^2 + 18x + 10H",
        lambda v: 12 * v.x_2**2,
        lambda v: 18 * v.x_2 + 10 * v.H,
        equality=True,
        feeds=("(41) first", "(41)"),
        amendments=(
            Amendment.of(
                "x_2 = (18 + sqrt(18^2 + 480H))/24",
                left=lambda v: 12 * ((v.root + 18) / 24) ** 2,
                right=lambda v: 18 * ((v.root + 18) / 24) + 10 * v.H,
            ),
        ),
    ),
    _on_right(
        "(41) first",
        "x > 9/4: g(x) <= max{-4x_2^3 + 9x_2^2 + 10Hx_2, g(9/4)}",
        lambda v: v.g,
        lambda v: _peak(v, v.x_2),
        feeds=("(41)",),
        amendments=(
            Amendment.of(
                "x_2 = (18 + sqrt(18^2 + 480H))/24", right=lambda v: _peak(v, (v.root + 18) / 24)
            ),
        ),
    ),
    _on_right(
        "(41)",
        "x > 9/4: g(x) <= 9x_2^2 + 10Hx_2 + 9(9/4)^2 + 45H/2",
        lambda v: v.g,
        lambda v: v.third + (729 + 360 * v.H) / 16,
        feeds=CONCLUSION,
    ),
    _in_the_limit(
        "(41) first, limit",
        "(41) first over H sqrt(5 H/6): both roots have the same limit",
        lambda v: 10 * v.t - v.t**3 * 10 / 3,
        lambda v: 0 * v.t + v.number(Fraction(20, 3)),
    ),
    _in_the_limit(
        "(41), limit",
        "(41) over H sqrt(5 H/6)",
        lambda v: 10 * v.t - v.t**3 * 10 / 3,
        lambda v: 10 + 0 * v.t,
        feeds=CONCLUSION,
    ),
    _in_the_limit(
        "Prop. 1, limit",
        "Proposition 1 over H^2: the gradients are of a lower order than kappa(H)",
        lambda v: 0 * v.t,
        lambda v: 0 * v.t + v.number(Fraction(25, 3)),
    ),
    _on_line(
        "Proposition 1",
        "|f_i'(x)| <= 2|f'(x)| + kappa(H)",
        lambda v: v.larger,
        lambda v: 2 * abs(v.mean) + v.kappa,
    ),
    _on_line(
        "kappa(H) grows",
        "kappa(H) <= kappa(H') for 1 <= H <= H'",
        lambda v: v.kappa,
        lambda v: v.kappa_later,
    ),
    *(
        ProofStep(
            f"kappa({H})",
            f"kappa({H}) of Proposition 1 is a valid constant",
            _quartic_at(H),
            lambda v: v.larger - 2 * abs(v.mean),
            partial(_constant, H),
            movable=(f"kappa_{H}",),
        )
        for H in (1, 2, 4, 8)
    ),
)
