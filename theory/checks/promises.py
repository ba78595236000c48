"""Checks of the theorems of a method at its parameters."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from certibit.data.errors import Refusal
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.theory.card import Card
from certibit.theory.checks.compressor.compression import small_dimension
from certibit.theory.checks.method.boundary import at_the_boundary
from certibit.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_like,
    worst_quadratic,
)
from certibit.theory.checks.method.whole_runs import RunsCheck, bounded_run, on_huber_functions
from certibit.theory.checks.method.written_formulas import written_hypotheses
from certibit.theory.setting import Setting
from certibit.theory.theorem import AnyPromise, Condition, ContractionPromise, RunTheorem, Theorem
from certibit.theory.verdict import Verdict, readable


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
