"""The hypotheses of a theorem at their boundary: the theorem must hold there, too.

The parameters of a rule satisfy the hypotheses with a margin, so a condition that is too weak is
never seen there. Therefore each parameter of a rule is moved, alone and in both directions, until a
hypothesis holds with equality. At this point the exact worst case over all states of small
quadratics is compared with the promised factor, which may not exceed 1.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.theory.card import Card
from certibit.theory.checks.method.whole_runs import largest_share
from certibit.theory.setting import Setting
from certibit.theory.theorem import ContractionPromise, DescentPromise, RunPromise, Theorem
from certibit.theory.verdict import ROUNDING, Verdict, searched
from certibit.theory.worlds.linear_maps import worst_case
from certibit.theory.worlds.units import linear_compressor

FARTHEST = 2.0**13
"""A parameter that may grow or shrink by this factor has no boundary there."""
HALVINGS = 30
_CLIENTS = 3
STEPS = 30
"""Of a run that is held against a bound on whole runs."""


@dataclass(frozen=True)
class Boundary:
    """The parameters at which a hypothesis holds with equality, one parameter being moved.

    Attributes
    ----------
    parameter : str
        Which one was moved.
    value : float
        Where it came to lie.
    rate, worst : float
        The ratio promised there, and the largest one: see :func:`promised_and_worst`.
    hypotheses : tuple of str
        Those that fail a little farther.
    refused : str
        Why no worst case is known there; "" if it is.
    """

    parameter: str
    value: float
    rate: float
    worst: float
    hypotheses: tuple[str, ...] = ()
    refused: str = ""

    @property
    def ratio(self) -> float:
        """worst/rate, or the promised factor if that exceeds 1: neither may."""
        ratio = self.worst / self.rate if self.rate > 0 else math.inf
        if not math.isfinite(ratio + self.rate):
            return math.inf
        return max(ratio, self.rate) if self.rate > 1 else ratio

    @property
    def kept(self) -> bool:
        """Whether the promise is kept here, up to rounding; not where it is not known."""
        return not self.refused and self.ratio <= 1 + ROUNDING


def at_the_boundary(theorem: Theorem, card: Card, rule: str | None = None) -> Verdict:
    """Check the promised factor at parameters where a hypothesis holds with equality.

    Raises
    ------
    Refusal
        If the rule meets the theorem on none of the problems, no real parameter is bounded, or the
        worst case is refused wherever one is.
    """
    points = list(boundaries(theorem, card, rule))
    found = [point for point in points if not point.refused]
    if not found:
        raise Refusal(
            points[0].refused
            if points
            else f"no hypothesis of {theorem.title} bounds a real parameter of the rule {rule!r} "
            "on small quadratics; take another rule"
        )
    worst = max(found, key=lambda boundary: boundary.ratio)
    note = f"{worst.parameter} = {worst.value:.4g}"
    asked = " and ".join(worst.hypotheses) or f"on {worst.parameter}"
    advice = (
        f"The hypothesis {asked} is false on its boundary, it asks for too little: with {note} all "
        f"hypotheses hold, the promised factor is {worst.rate:.6g} and the worst case "
        f"{worst.worst:.6g}, for a quadratic with n = {_CLIENTS} and d = 2."
    )
    if len(found) < len(points):
        note += f"; {len(points) - len(found)} of {len(points)} points are refused"
    return Verdict(
        "worst case / tau at the boundary", worst.ratio, 1.0, note, advice, **searched(found)
    )


def boundaries(
    theorem: Theorem,
    card: Card,
    rule: str | None = None,
    *,
    kappas: tuple[float, ...] = (10.0, 200.0),
) -> Iterator[Boundary]:
    """Move each real parameter of a rule on small quadratics as far as the hypotheses allow."""
    for start in _starts(theorem, card, rule, kappas):
        for field in fields(start.method):
            if not isinstance(getattr(start.method, field.name), float):
                continue
            for factor in (2.0, 0.5):
                last = _last_met(theorem, start, field.name, factor)
                if last is not None:
                    value = getattr(last.method, field.name)
                    rate, worst, refused = np.nan, np.nan, ""
                    try:
                        with np.errstate(all="ignore"):
                            rate, worst = promised_and_worst(theorem, last)
                    except Refusal as refusal:
                        refused = str(refusal)
                    broken = _next_broken(theorem, last, field.name, factor)
                    yield Boundary(field.name, value, rate, worst, broken, refused)


def promised_and_worst(theorem: Theorem, experiment: ConvexExperiment) -> tuple[float, float]:
    """Return a promised ratio, and the largest one on a quadratic problem.

    They are those of E[Psi+] and Psi if a factor is promised; of E[Psi+] + c M and Psi for a
    descent; of f - f* and its bound along a run from x_0 for a bound on whole runs.
    """
    promise = theorem.promise(experiment.method, Setting.at(experiment))
    if isinstance(promise, ContractionPromise):
        return promise.factor, worst_case(experiment, theorem)
    if isinstance(promise, DescentPromise):
        return 1.0, worst_case(experiment, theorem, promise.c, promise.measure)
    assert isinstance(promise, RunPromise)
    return 1.0, largest_share(theorem, promise, experiment, Budget(iterations=STEPS))[0]


def _starts(
    theorem: Theorem,
    card: Card,
    rule: str | None,
    kappas: tuple[float, ...],
) -> Iterator[ConvexExperiment]:
    """Yield small quadratics, of alike and of unlike clients, where a rule meets the theorem.

    The messages are compressed, unless it meets the theorem without compression only.
    """
    found = False
    for chosen in dict.fromkeys((linear_compressor(card.method), None)):
        for kappa in kappas:
            for L, alike in ((kappa, True), (np.geomspace(kappa, np.sqrt(kappa), _CLIENTS), False)):
                shared = card.method.needs.shared_minimiser
                problem = Quadratic.random(
                    _CLIENTS, 2, 1.0, L, shared_eigenvectors=alike, shared_minimiser=shared
                )
                try:
                    method = card.parameters(problem, chosen, rule)
                    experiment = Experiment.of(method, problem, chosen)
                except Refusal:  # such as a rule for other compressors
                    continue
                if _met(theorem, experiment):
                    found = True
                    yield experiment
        if found:
            return


def _last_met(
    theorem: Theorem, start: ConvexExperiment, name: str, factor: float
) -> ConvexExperiment | None:
    """Move a parameter by a factor until a hypothesis fails, then halve the step to that point."""
    value = getattr(start.method, name)

    def at(scale: float) -> ConvexExperiment | None:
        try:
            moved = replace(start, method=replace(start.method, **{name: value * scale}))
            return moved if _met(theorem, moved) else None
        except (ValueError, ArithmeticError):  # such as a probability above 1
            return None

    inside, outside = 1.0, factor
    while at(outside):
        inside, outside = outside, outside * factor
        if not 1 / FARTHEST < outside < FARTHEST:
            return None
    for _ in range(HALVINGS):
        middle = math.sqrt(inside * outside)
        inside, outside = (middle, outside) if at(middle) else (inside, middle)
    return at(inside)


def _next_broken(
    theorem: Theorem, last: ConvexExperiment, name: str, factor: float
) -> tuple[str, ...]:
    """Return the hypotheses that fail where a parameter goes on by a thousandth."""
    value = getattr(last.method, name) * factor ** (1 / 1000)
    try:
        moved = replace(last, method=replace(last.method, **{name: value}))
        return tuple(c.statement for c in theorem.unmet(moved.method, Setting.at(moved)))
    except (ValueError, ArithmeticError):  # such as a probability above 1
        return ()


def _met(theorem: Theorem, experiment: ConvexExperiment) -> bool:
    return not theorem.unmet(experiment.method, Setting.at(experiment))
