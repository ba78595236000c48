"""Checks of the theorems of a method at its parameters."""

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.theory.card import Card
from certibit.theory.certificates.certified_theorem import limits_of_parameters
from certibit.theory.checks.compressor.compression import small_dimension
from certibit.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_like,
    worst_quadratic,
)
from certibit.theory.checks.method.whole_runs import (
    RunsCheck,
    bounded_run,
    largest_share,
    on_huber_functions,
)
from certibit.theory.checks.method.written_formulas import written_hypotheses
from certibit.theory.setting import Setting
from certibit.theory.theorem import (
    AnyPromise,
    Condition,
    ContractionPromise,
    DescentPromise,
    RunPromise,
    RunTheorem,
    Theorem,
)
from certibit.theory.verdict import ROUNDING, Verdict, readable, searched
from certibit.theory.worlds.linear_maps import worst_case
from certibit.theory.worlds.units import linear_compressor

_CLIENTS = 3
STEPS = 30
"""Of a run that is held against a bound on whole runs."""


@dataclass(frozen=True)
class _Boundary:
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
) -> Iterator[_Boundary]:
    """Move each real parameter of a rule on small quadratics as far as the hypotheses allow."""
    for start in _starts(theorem, card, rule, kappas):

        def holds(moved: Any, start: ConvexExperiment = start) -> bool:
            return _met(theorem, replace(start, method=moved))

        for name, value, factor in limits_of_parameters(start.method, holds):
            changes: Any = {name: value}
            last = replace(start, method=replace(start.method, **changes))
            rate, worst, refused = np.nan, np.nan, ""
            try:
                with np.errstate(all="ignore"):
                    rate, worst = promised_and_worst(theorem, last)
            except Refusal as refusal:
                refused = str(refusal)
            broken = _next_broken(theorem, last, name, factor)
            yield _Boundary(name, value, rate, worst, broken, refused)


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


@dataclass(frozen=True)
class Promised:
    """A theorem at some parameters, with the verdicts of its checks.

    Attributes
    ----------
    theorem : Theorem or None
        None if there is no theorem; then the Lyapunov function must not grow in expectation.
    conditions : tuple of Condition
        The hypotheses.
    promise : ContractionPromise, DescentPromise or RunPromise
        What is promised; the factor 1 without a theorem.
    verdicts : tuple of Verdict
        Empty where a hypothesis fails.
    runs : RunsCheck, optional
        Whole runs, which need a theorem.
    """

    theorem: Theorem | None
    conditions: tuple[Condition, ...]
    promise: AnyPromise
    verdicts: tuple[Verdict, ...]
    runs: RunsCheck | None = None

    @property
    def met(self) -> bool:
        """Whether all hypotheses hold."""
        return all(condition.holds for condition in self.conditions)

    @property
    def factor(self) -> float | None:
        """The promised factor per step; None for another promise."""
        return self.promise.factor if isinstance(self.promise, ContractionPromise) else None

    def __str__(self) -> str:
        if self.theorem is None:
            return "no theorem: the Lyapunov function must not grow in the mean"
        failing = [condition.statement for condition in self.conditions if not condition.holds]
        if failing:
            return f"{self.theorem.title}: not met, {'; '.join(failing)}"
        return f"{self.theorem.title}: met, {self.promise}"


def check_promise(
    theorem: Theorem,
    card: Card,
    experiment: ConvexExperiment,
    budget: Budget,
    runs: RunsCheck | None,
    rule: str | None,
    by_rule: bool,
    beyond: bool,
) -> Promised:
    """Check a theorem where its hypotheses hold.

    Parameters
    ----------
    theorem, card, experiment
        What is promised, and about what.
    budget : Budget
        Limits of a run that is held against a bound on whole runs.
    runs : RunsCheck, optional
        Whole runs against the theorem; None where its hypotheses fail, or Psi bounds no accuracy.
    rule : str, optional
        The rule of the parameters.
    by_rule : bool
        Whether they come from a rule, so that it can be used on small problems.
    beyond : bool
        Whether the hypotheses are tried at their boundary, too.
    """
    method, setting = experiment.method, Setting.at(experiment)
    conditions, promise = theorem.conditions(method, setting), theorem.promise(method, setting)
    written = written_hypotheses(theorem, method, setting)
    said = [written] if written else []
    if theorem.unmet(method, setting):
        return Promised(theorem, conditions, promise, tuple(said))
    steps = [
        *(
            _promised_steps(theorem, card, experiment, rule, by_rule)
            if theorem.measure == "potential"
            else _promised_descents(theorem, card, experiment, budget, rule, by_rule)
        )
    ]
    verdicts = [*steps, *(runs.verdicts if runs else ()), *said]
    if beyond and by_rule and all(verdict.holds for verdict in steps):
        with suppress(Refusal):
            verdicts.append(at_the_boundary(theorem, card, rule))
    return Promised(theorem, conditions, promise, tuple(verdicts), runs)


def _promised_descents(
    theorem: Theorem,
    card: Card,
    experiment: ConvexExperiment,
    budget: Budget,
    rule: str | None,
    by_rule: bool,
) -> Iterator[Verdict]:
    """Check a theorem about convex functions along a run, and on Huber functions."""
    with suppress(Refusal):
        if isinstance(theorem, RunTheorem):
            yield bounded_run(theorem, experiment, budget)
        else:
            yield steps_along_a_run(theorem, experiment)
    with suppress(Refusal):
        if by_rule:
            yield on_huber_functions(theorem, card, rule)


def check_growth(unmet: Sequence[Promised], experiment: ConvexExperiment) -> Promised:
    """Check that the potential of the first theorem does not grow where no theorem is met."""
    theorem = next(one.theorem for one in unmet if one.theorem)
    steps = tuple(_growing_steps(theorem, experiment, _outside(unmet)))
    return Promised(None, (), ContractionPromise(1.0), steps)


def _promised_steps(
    theorem: Theorem, card: Card, experiment: ConvexExperiment, rule: str | None, by_rule: bool
) -> Iterator[Verdict]:
    """Check one step against a theorem: along a run, at random states, and in the worst case."""
    # What cannot be checked gives no verdict: a line that cannot fail would say nothing.
    with suppress(Refusal):
        yield steps_along_a_run(theorem, experiment)
    if by_rule:
        d = small_dimension(experiment.compressor)
        kappa, shared = experiment.problem.plain.constants.kappa, card.method.needs.shared_minimiser
        small = Quadratic.random(3, d, 1.0, kappa, shared_minimiser=shared)
        given = experiment.compressor if card.method.needs.compressor else None
        try:
            fewer = Experiment.of(card.parameters(small, given, rule), small, given)
        except Refusal:  # such as a cohort larger than 3
            pass
        else:
            if not theorem.unmet(fewer.method, Setting.at(fewer)):
                with suppress(Refusal):
                    yield steps_at_random_states(theorem, fewer)
    with suppress(Refusal):
        if by_rule:
            yield worst_quadratic(theorem, card, rule)
        else:
            yield worst_like(theorem, experiment)


def _growing_steps(
    theorem: Theorem, experiment: ConvexExperiment, outside: str
) -> Iterator[Verdict]:
    """Check that the Lyapunov function does not grow in the mean, outside of every theorem."""
    advice = (
        f"{outside}, and in one step the Lyapunov function may grow: runs may diverge. Choose "
        "parameters that meet a theorem; if these are meant, look for a sign error in the step."
    )
    with suppress(Refusal):
        yield replace(steps_along_a_run(theorem, experiment, limit=1.0), advice=advice)
    with suppress(Refusal):
        yield replace(worst_like(theorem, experiment, limit=1.0), advice=advice)


def _outside(promised: Sequence[Promised]) -> str:
    """Say which hypotheses fail of the theorem that asks for least."""
    failing = [[c for c in one.conditions if not c.holds] for one in promised]
    told = [
        f"{c.statement} fails with {readable(c.left, 3)} against {readable(c.right, 3)}"
        for c in min(failing, key=len)
    ]
    return f"No theorem covers these parameters: {' and '.join(told)}"
