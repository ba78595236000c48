"""Everything that is checked about one method on one problem: hypotheses and verdicts."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.data.problem import Problem
from bitbound.data.problems.quadratic import Quadratic
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.compressors.two_way import TwoWay
from bitbound.solvers.method import Method
from bitbound.solvers.total_bits import require_weight
from bitbound.solvers.world.experiment import ConvexExperiment, Experiment, is_convex
from bitbound.theory.card import Card
from bitbound.theory.cards.catalogue import card_of
from bitbound.theory.cards.coverage import require_theorem
from bitbound.theory.certificates.certified_theorem import searched_theorem
from bitbound.theory.checks.channel.choices import channel_checks
from bitbound.theory.checks.channel.sizes import PATIENCE
from bitbound.theory.checks.compressor.compression import compressor_checks
from bitbound.theory.checks.method.boundary import at_the_boundary, loose_hypotheses
from bitbound.theory.checks.method.conduct import comes_back, does_not_grow
from bitbound.theory.checks.method.growth import why_it_grows
from bitbound.theory.checks.method.identities import identities
from bitbound.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_like,
    worst_quadratic,
)
from bitbound.theory.checks.method.whole_runs import RunsCheck, whole_runs
from bitbound.theory.checks.problem.problems import problem_checks
from bitbound.theory.checks.soundness import conduct, soundness
from bitbound.theory.checks.tool import tool_checks
from bitbound.theory.setting import Setting
from bitbound.theory.theorem import Condition, Theorem
from bitbound.theory.verdict import FAILS, Verdict, readable, readable_factor

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
    loose : tuple of str
        The hypotheses that could ask for half as much, as far as a search sees.
    diagnosis : str
        Where one step breaks the promise: the smallest counterexample, the line to look at, and
        what a certificate says.
    """

    theorem: Theorem | None
    conditions: tuple[Condition, ...]
    rate: float
    verdicts: tuple[Verdict, ...]
    runs: RunsCheck | None = None
    loose: tuple[str, ...] = ()
    diagnosis: str = ""

    @property
    def met(self) -> bool:
        """Whether all hypotheses hold."""
        return all(condition.holds for condition in self.conditions)

    def __str__(self) -> str:
        if self.theorem is None:
            return "no theorem: the Lyapunov function must not grow in the mean"
        failing = [condition.statement for condition in self.conditions if not condition.holds]
        if failing:
            return f"{self.theorem.title}: not met, {'; '.join(failing)}"
        return f"{self.theorem.title}: met, factor {readable_factor(1 - self.rate, 6)}"


@dataclass(frozen=True, repr=False)
class Examination:
    """What was found about a method on a problem; its text says what holds in a few lines.

    Attributes
    ----------
    method : Method
        With its parameters.
    setting : Setting
        The constants that the theorems were evaluated at.
    sound : tuple of Verdict
        What holds for every method and compressor.
    promised : tuple of Promised
        One for each theorem; if none is met, one more without a theorem. A method that has no
        theorem gets the one that a certificate with a searched potential proves.
    unpromised : str
        Why nothing is promised of a method without a theorem.

    Examples
    --------
    >>> from bitbound import GD, Quadratic, check
    >>> found = check(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0), seeds=2)
    >>> found.holds, len(found.promised), len(found.verdicts) > 10
    (True, 1, True)
    """

    method: Method
    setting: Setting
    sound: tuple[Verdict, ...]
    promised: tuple[Promised, ...]
    unpromised: str = ""

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

    def __repr__(self) -> str:
        failing = [verdict for verdict in self.verdicts if not verdict.holds]
        lines = [
            f"Examination of {self.method}, {self.setting.compressor.name}",
            *map(str, self.promised),
            *([f"nothing is promised: {self.unpromised}"] if self.unpromised else []),
            f"{len(failing)} of {len(self.verdicts)} checks fail",
            *(f"{FAILS}: {verdict.check}. {verdict.advice}" for verdict in failing),
            *(promised.diagnosis for promised in self.promised if promised.diagnosis),
        ]
        return "\n".join(lines)


def check(
    method: Method,
    problem: Problem,
    compressor: Compressor | None = None,
    *,
    card: Card | None = None,
    rule: str | None = None,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    iterations: int = 20_000,
    downlink: float = 0.0,
    strict: bool = False,
) -> Examination:
    """Hold a method against everything that is promised about it, on a problem.

    Parameters
    ----------
    method : Method
        With its parameters.
    problem : Problem
        Strongly convex, unless the method does without; then it is checked how the method conducts
        itself, and no theorem.
    compressor : Compressor, optional
        Of every client; without one, messages are not compressed.
    card : Card, optional
        What is promised; by default, the method's card in the catalogue if it is there.
    rule : str, optional
        The rule that the parameters come from, which is then tried on small problems as well.
    seeds : int or sequence of int
        The run seeds of whole runs, or how many.
    accuracy : float
        f - f* of the whole runs.
    iterations : int
        A bound on the whole runs.
    downlink : float
        The weight of a bit received in the bits of the whole runs.
    strict : bool
        Whether parameters outside every theorem are refused.

    Returns
    -------
    Examination
        The hypotheses of every theorem, and what the code does beside what is promised.

    Raises
    ------
    Refusal
        If method, problem and compressor do not fit each other, or for what ``strict`` says.

    Examples
    --------
    >>> from bitbound import GD, Quadratic, check
    >>> check(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0), seeds=2)
    Examination of GD(gamma=0.1), identity
    gradient descent, classical: met, factor 1 - 0.19
    0 of 39 checks fail
    """
    require_weight(downlink)
    experiment = Experiment.of(method, problem, compressor)
    card = card_of(method) if card is None else card
    if not is_convex(experiment):
        return _conducted(card, experiment)
    return examine(
        card,
        experiment,
        rule=rule,
        by_rule=rule is not None,
        seeds=seeds,
        accuracy=accuracy,
        iterations=iterations,
        downlink=downlink,
        beyond=True,
        strict=strict,
    )


def examine(
    card: Card,
    experiment: ConvexExperiment,
    *,
    rule: str | None = None,
    by_rule: bool = True,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    iterations: int = 20_000,
    downlink: float = 0.0,
    beyond: bool = False,
    strict: bool = False,
    tell: Tell = lambda text: None,
) -> Examination:
    """Check everything about a method on a problem.

    Parameters
    ----------
    card, experiment
        The method with its parameters, problem and compressor, and where it comes from.
    rule : str, optional
        The rule of its parameters, also used on small problems.
    by_rule : bool
        Whether the parameters are those of the rule, so that it can be used on small problems.
    seeds, accuracy, iterations, downlink
        Of the whole runs; the last is the weight of a bit received.
    beyond : bool
        Whether the hypotheses are tried at their boundary and beyond, where the parameters follow
        a rule, the wire at large sizes, and the tool itself.
    strict : bool
        Whether parameters that no theorem covers are refused.
    tell : callable
        Told what is being checked.

    Raises
    ------
    Refusal
        If method, problem and compressor do not fit each other, or for what ``strict`` says.
    """
    method, setting = experiment.method, Setting.at(experiment)
    by_rule = by_rule and bool(card.rules)
    if strict and card.theorems:
        require_theorem(card, method, setting)
    tell("soundness")
    fitted = experiment.compressor
    sound = (*soundness(card, experiment), *_compressors_checked(fitted))
    tell("the channel")
    sound += channel_checks(
        fitted, d=_small(fitted), draws=2000, patience=PATIENCE if beyond else 0.0
    )
    tell("the problem")
    sound += problem_checks(experiment.problem)
    if beyond:
        tell("the tool")
        sound += tool_checks(card, experiment)
    if card.identities:
        sound += (identities(card, Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0])),)
    found: list[Promised] = []
    theorems, unpromised = card.theorems, ""
    if not theorems:
        tell("a potential")
        theorems, unpromised = _searched(method, setting)
        if unpromised:
            conduct = (does_not_grow(experiment), comes_back(experiment))
            sound += tuple(verdict for verdict in conduct if verdict)
        by_rule = False
    for theorem in theorems:
        tell(theorem.title)
        conditions = theorem.conditions(method, setting)
        rate = theorem.rate(method, setting)
        if not all(condition.holds for condition in conditions):
            found.append(Promised(theorem, conditions, rate, ()))
            continue
        runs = whole_runs(
            theorem,
            experiment,
            seeds=seeds,
            accuracy=accuracy,
            iterations=iterations,
            downlink=downlink,
        )
        steps = [*_promised_steps(theorem, card, experiment, rule, by_rule)]
        verdicts, loose, diagnosis = [*steps, *runs.verdicts], tuple[str, ...](), ""
        if not all(verdict.holds for verdict in steps):
            own = card if by_rule else None
            diagnosis = why_it_grows(theorem, experiment, own, rule)
        elif beyond and by_rule:
            with suppress(Refusal):
                verdicts.append(at_the_boundary(theorem, card, rule))
                loose = loose_hypotheses(theorem, card, rule)
        found.append(Promised(theorem, conditions, rate, tuple(verdicts), runs, loose, diagnosis))
    if found and not any(promised.met for promised in found):
        tell("no theorem")
        steps = [*_growing_steps(theorems[0], experiment, _outside(found))]
        grows = not all(verdict.holds for verdict in steps)
        diagnosis = why_it_grows(theorems[0], experiment, limit=1.0) if grows else ""
        found.append(Promised(None, (), 1.0, tuple(steps), diagnosis=diagnosis))
    return Examination(method, setting, sound, tuple(found), unpromised)


def _conducted(card: Card, experiment: Experiment[Any]) -> Examination:
    """Check a method on a problem about which no theorem says what one step does."""
    sent = experiment.compressor
    sound = (
        *conduct(card, experiment),
        *_compressors_checked(sent),
        *channel_checks(sent, d=_small(sent), draws=2000),
        *problem_checks(experiment.problem),
        *tool_checks(card, experiment),
    )
    name = experiment.problem.name
    return Examination(
        experiment.method, Setting.at(experiment), sound, (), f"{name} is not strongly convex"
    )


def _searched(method: Method, setting: Setting) -> tuple[tuple[Theorem, ...], str]:
    """Return what a certificate proves about a method without a theorem, or why it does not."""
    try:
        theorem = searched_theorem(method, setting)
    except Refusal as refusal:
        return (), str(refusal)
    if theorem.certificate.decrease <= 0:
        return (), f"the best potential found may grow by a factor {theorem.certificate.factor:.6g}"
    return (theorem,), ""


def _promised_steps(
    theorem: Theorem, card: Card, experiment: ConvexExperiment, rule: str | None, by_rule: bool
) -> Iterator[Verdict]:
    """Check one step against a theorem: along a run, at random states, and in the worst case."""
    # What cannot be checked gives no verdict: a line that cannot fail would say nothing.
    with suppress(Refusal):
        yield steps_along_a_run(theorem, experiment)
    if by_rule:
        d = _small(experiment.compressor)
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


def _compressors_checked(fitted: Compressor) -> tuple[Verdict, ...]:
    """Check the compressor of the clients, and that of the server where it has one."""
    both = (fitted.up, fitted.down) if isinstance(fitted, TwoWay) else (fitted,)
    return tuple(verdict for one in both for verdict in compressor_checks(one, _small(one)))


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
