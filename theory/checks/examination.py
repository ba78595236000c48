"""Everything that is checked about one method on one problem: hypotheses and verdicts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from bitbound.data.errors import Refusal
from bitbound.data.problem import StronglyConvexProblem
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.fit import fitting_compressor
from bitbound.solvers.method import Method
from bitbound.theory.checks.compression import compressor_checks
from bitbound.theory.checks.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    unmet,
    worst_like,
    worst_quadratic,
)
from bitbound.theory.checks.soundness import soundness
from bitbound.theory.checks.whole_runs import RunsCheck, whole_runs
from bitbound.theory.theorem import Card, Condition, Setting, Theorem
from bitbound.theory.theorems.coverage import require_theorem
from bitbound.theory.verdict import Verdict

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Promised:
    """A theorem at some parameters, and how the code keeps it.

    Attributes
    ----------
    theorem : Theorem or None
        None stands for "the Lyapunov function does not grow in the mean", which needs no proof to
        be checked.
    conditions : tuple of Condition
        The hypotheses.
    rate : float
        The promised factor; 1 without a theorem.
    verdicts : tuple of Verdict
        Empty where a hypothesis fails.
    runs : RunsCheck, optional
        Whole runs, which need a theorem.
    """

    theorem: Theorem | None
    conditions: tuple[Condition, ...]
    rate: float
    verdicts: tuple[Verdict, ...]
    runs: RunsCheck | None = None

    @property
    def met(self) -> bool:
        """Whether all hypotheses hold."""
        return all(condition.holds for condition in self.conditions)


@dataclass(frozen=True)
class Examination:
    """What was found about a method on a problem.

    Attributes
    ----------
    method : Method
        With its parameters.
    setting : Setting
        The constants that the theorems were evaluated at.
    sound : tuple of Verdict
        What holds for every method and compressor.
    promised : tuple of Promised
        One for each theorem; if none is met, one more without a theorem.
    """

    method: Method
    setting: Setting
    sound: tuple[Verdict, ...]
    promised: tuple[Promised, ...]

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts."""
        return (*self.sound, *(v for promised in self.promised for v in promised.verdicts))

    @property
    def holds(self) -> bool:
        """Whether every verdict holds, and a theorem is met if there is any."""
        theorems = [promised for promised in self.promised if promised.theorem is not None]
        met = not theorems or any(promised.met for promised in theorems)
        return met and all(verdict.holds for verdict in self.verdicts)


def examine(
    entry: Card,
    method: Method,
    problem: StronglyConvexProblem,
    compressor: Compressor | None = None,
    *,
    rule: str | None = None,
    by_rule: bool = True,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    iterations: int = 20_000,
    strict: bool = False,
    tell: Tell = lambda text: None,
) -> Examination:
    """Check everything about a method on a problem.

    Parameters
    ----------
    entry, method, problem, compressor
        The method with its parameters, and where it comes from.
    rule : str, optional
        The rule of its parameters, also used on small problems.
    by_rule : bool
        Whether the parameters are those of the rule, so that it can be used on small problems.
    seeds, accuracy, iterations
        Of the whole runs.
    strict : bool
        Whether parameters that no theorem covers are refused.
    tell : callable
        Told what is being checked.

    Raises
    ------
    Refusal
        If method, problem and compressor do not fit each other, or for what ``strict`` says.
    """
    setting = Setting.of(method, problem, compressor)
    by_rule = by_rule and bool(entry.rules)
    if strict and entry.theorems:
        require_theorem(entry, method, setting)
    tell("soundness")
    fitted = fitting_compressor(method, compressor, problem.d)
    sound = (*soundness(method, problem, compressor), *compressor_checks(fitted, _small(fitted)))
    found: list[Promised] = []
    for theorem in entry.theorems:
        tell(theorem.title)
        conditions = theorem.conditions(method, setting)
        rate = theorem.rate(method, setting)
        if not all(condition.holds for condition in conditions):
            found.append(Promised(theorem, conditions, rate, ()))
            continue
        runs = whole_runs(
            theorem, method, problem, compressor,
            seeds=seeds, accuracy=accuracy, iterations=iterations,
        )  # fmt: skip
        steps = _steps(theorem, entry, method, problem, compressor, rule, by_rule)
        found.append(Promised(theorem, conditions, rate, (*steps, *runs.verdicts), runs))
    if not any(promised.met for promised in found):
        tell("no theorem")
        steps = _steps(None, entry, method, problem, compressor, rule, by_rule)
        found.append(Promised(None, (), 1.0, tuple(steps)))
    return Examination(method, setting, sound, tuple(found))


def _steps(
    theorem: Theorem | None,
    entry: Card,
    method: Method,
    problem: StronglyConvexProblem,
    compressor: Compressor | None,
    rule: str | None,
    by_rule: bool,
) -> Iterator[Verdict]:
    """Check one step: along a run, at random states, and in the worst case."""
    yield steps_along_a_run(theorem, method, problem, compressor)
    if theorem is not None and by_rule:
        fitted = fitting_compressor(method, compressor, problem.d)
        small = Quadratic.random(3, _small(fitted), 1.0, problem.plain.constants.kappa)
        try:
            fewer = entry.parameters(small, compressor, rule)
        except Refusal:  # such as a cohort larger than 3
            pass
        else:
            if not unmet(theorem, fewer, Setting.of(fewer, small, compressor)):
                yield steps_at_random_states(theorem, fewer, small, compressor)
    # What cannot be checked gives no verdict: a line that cannot fail would say nothing.
    with suppress(Refusal):
        if theorem is not None and by_rule:
            yield worst_quadratic(theorem, entry, rule)
        else:
            yield worst_like(method, problem, compressor, theorem=theorem)


def _small(compressor: Compressor) -> int:
    """Return a small number of features that a compressor can serve."""
    d = 5
    while True:
        try:
            compressor.check(d)
        except Refusal:
            d *= 2
        else:
            return d
