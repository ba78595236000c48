"""What a theorem promises of one step, against what a certificate proves with its Psi.

A certificate is about all functions of a class and all noise of gradients. It is made where a
parameter is so large or so small that a hypothesis nearly holds with equality, and for constants
that are far apart: a condition that asks for too little is seen nowhere else.
"""

import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.solvers.method import Method
from certibit.theory.assumptions.bounded_dissimilarity import BoundedDissimilarity
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.certificates.certify import class_of_proof
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.programme.descent_programme import DescentProgramme
from certibit.theory.proofs.proof import Measure, step_and_start
from certibit.theory.setting import OfSamples, Setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import Verdict, largest, searched
from certibit.theory.worlds.opaque.exact_numbers import fraction, rational

CLOSE = 1e-6
"""Relative difference to what is promised that counts as rounding."""

LARGE, LARGER = 20.0, 100.0
"""An e that is promised is at most so many times the one that is certified; e + zeta^2 e' is."""

ZETAS = (0.01, 30.0)
"""How much clients differ, in units of sigma, where it is promised for any."""

INSIDE = 1e-4
"""How far inside the boundary, relatively: a programme needs points where everything is strict."""

FARTHEST, HALVINGS = 2.0**13, 30
"""A parameter that may be so many times larger or smaller is not bounded; steps of bisection."""


@dataclass(frozen=True)
class _Place:
    """Parameters and constants at which a theorem is held against a certificate."""

    method: Method
    setting: Setting
    moved: str = ""

    def __str__(self) -> str:
        k = self.setting.constants
        values = ((one.name, getattr(self.method, one.name)) for one in fields(self.method))
        said = [f"{name} = {x:.6g}" for name, x in values if isinstance(x, (int, float))]
        return (
            f"{', '.join(said)}, n = {self.setting.n}, L = {k.L:.4g}, L_f = {k.L_f:.4g}, "
            f"L_tilde = {k.L_tilde:.4g}, difference = {self.setting.difference:.4g}, "
            f"A = {self.setting.expected:.4g}"
        )


def certified_promise(
    theorem: Theorem, card: Card, method: Method, setting: Setting
) -> Verdict | None:
    """Check that c and e of a theorem are certified with its Psi; None where no step is certified.

    The value is 1 or less if a certificate proves the promised c with the promised e, and infinite
    if it does not prove c at all. An e that is more than ``LARGE`` times the certified one is no
    rounding but a wrong constant.
    """
    found: list[tuple[float, str]] = []
    for place in _places(theorem, card, method, setting):
        with suppress(Refusal):  # a step that is not linear, or too large
            found.append(_share(theorem, place))
    if not found:
        return None
    worst = largest(share for share, _ in found)
    said = next(text for share, text in found if share == worst)
    advice = (
        f"{said} Look at the step, at the weights of the potential, at c and e of the theorem, and "
        "at the hypotheses that hold there with equality. A proof that uses more than the "
        "inequalities of the class is not refuted by this."
    )
    return Verdict(
        "promise / certificate at the boundary", worst, 1.0, "", advice, **searched(found)
    )


def _places(theorem: Theorem, card: Card, method: Method, setting: Setting) -> Iterator[_Place]:
    """Yield given parameters and those of rules, where hypotheses nearly hold with equality.

    The rules are taken where constants are far apart, for n clients with noise far above L and far
    below, and where all L_i are L_f, for few clients.
    """
    starts = [_Place(method, setting)]
    sampled = theorem.allows_noise(method, setting)
    few = 2 if getattr(theorem.promise(method, setting), "dissimilarity", 0.0) else 1
    n = max(setting.n, 2)
    kinds = ((n, 30.0, False), (n, 0.1, False), (few, 0.1, True))[0 if sampled else 1 :]
    for clients, size, alike in kinds if card.rules else ():
        apart = _apart(setting, clients, size if sampled else 0.0, alike)
        starts += list(islice(_by_rule(theorem, card, apart), 1))
    for start in starts:
        found = list(_boundaries(theorem, start))
        yield from found or [start]


def _by_rule(theorem: Theorem, card: Card, setting: Setting) -> Iterator[_Place]:
    """Yield the parameters of rules that meet a theorem."""
    for rule in card.rules:
        with suppress(Refusal, ValueError, ArithmeticError):
            made = card.at(setting, rule)
            if not theorem.unmet(made, setting):
                yield _Place(made, setting)


def _apart(setting: Setting, n: int, size: float, alike: bool) -> Setting:
    """Return the setting with L_f below L_tilde below L, or equal, and noise of so many times L."""
    k = setting.constants
    L_i = np.full(n, k.L if alike else max(k.L / 4, k.mu))
    L_i[0] = k.L
    L_f = k.L if alike else (max(k.mu, 0.0) + float(np.mean(L_i))) / 2
    samples = OfSamples(size * k.L, size * k.L)
    constants = Constants(k.mu, L_i, L_f, k.ridge)
    return replace(setting, constants=constants, n=n, of_samples=samples)


def _boundaries(theorem: Theorem, start: _Place) -> Iterator[_Place]:
    """Move each real parameter, up and down, until a hypothesis nearly holds with equality."""
    for field in fields(start.method):
        value = getattr(start.method, field.name)
        if not isinstance(value, float):
            continue

        def at(scale: float, name: str = field.name, value: float = value) -> _Place | None:
            with suppress(ValueError, ArithmeticError):  # such as a probability above 1
                moved = replace(start.method, **{name: value * scale})
                if not theorem.unmet(moved, start.setting):
                    return _Place(moved, start.setting, name)
            return None

        for factor in (2.0, 0.5):
            inside, outside = 1.0, factor
            while at(outside) and 1 / FARTHEST < outside < FARTHEST:
                inside, outside = outside, outside * factor
            if at(outside):
                continue
            for _ in range(HALVINGS):
                middle = math.sqrt(inside * outside)
                inside, outside = (middle, outside) if at(middle) else (inside, middle)
            if last := at(inside * factor**-INSIDE):
                yield last


def _share(theorem: Theorem, place: _Place) -> tuple[float, str]:
    """Return how much of a promise is not certified, and that in words.

    Raises
    ------
    Refusal
        If the step of the method cannot be certified.
    """
    method, setting = place.method, place.setting
    promise: Any = theorem.promise(method, setting)
    factor = theorem.measure == "potential"
    c, e = (1 - promise.factor if factor else promise.c), promise.e
    unlike = 0.0 if factor else promise.dissimilarity
    shares = [(0.0, "")]
    for zeta in ZETAS if unlike else (0.0,):
        functions = replace(FunctionClass.of(setting), noise=_noise(theorem, place))
        if zeta:
            more = (*functions.assumptions, BoundedDissimilarity(1.0, zeta))
            functions = replace(functions, assumptions=more)
        allowed = e + zeta**2 * unlike
        proved = _least_noise(theorem, method, functions, c * (1 - CLOSE))
        if proved is None:
            shares.append((math.inf, f"c = {c:.6g} is promised, and not certified, with {place}."))
            continue
        said = f"e = {allowed:.6g} is promised, and {proved:.6g} certified, with {place}."
        ratio = proved / allowed if allowed else math.inf if proved > CLOSE * c else 0.0
        shares.append((ratio / (1 + CLOSE), said))
        alike = setting.constants.L_f >= setting.L and not (zeta and setting.n == 1)
        if proved > 0 and alike:  # elsewhere L in the place of L_f costs more than a constant
            shares.append((allowed / proved / (LARGER if zeta else LARGE), said))
    return max(shares, key=lambda share: share[0])


def _noise(theorem: Theorem, place: _Place) -> GradientNoise | None:
    """Return what a theorem assumes of the noise of gradients; None where they are exact."""
    method, setting = place.method, place.setting
    if not theorem.allows_noise(method, setting):
        return None
    if theorem.measure != "potential":
        return GradientNoise(difference=setting.difference)
    bounded = theorem.noise(method, setting) and not theorem.noise_at_solution
    return GradientNoise(expected=None if bounded else setting.expected)


def _least_noise(
    theorem: Theorem, method: Method, functions: FunctionClass, c: float
) -> float | None:
    """Return the smallest e + zeta^2 e' that is certified with a given c; None if c is not."""
    name: Any = theorem.measure
    measure = Measure(name)
    functions = class_of_proof(method, functions, measure.name)
    step, _ = step_and_start(method, functions, theorem, measure)
    programme = DescentProgramme(step, tuple(map(rational, step.symbols.weights)))
    try:
        return float(fraction(programme.quietest(rational(c)).spent(functions)))
    except Refusal:
        return None
