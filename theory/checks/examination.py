"""The examination of one method on one problem: all hypotheses and verdicts.

Checks that need no theorem apply to methods without one, too. A method that does not need strong
convexity must be stationary where all gradients vanish.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants, Problem, smoothness_is_known
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.composition import TwoWay
from certibit.solvers.method import Method
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment, is_convex
from certibit.solvers.total_bits import require_weight
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import card_of, made
from certibit.theory.catalogue.covered_run import measure_at_start, require_theorem
from certibit.theory.certificates.certified_theorem import (
    CertifiedTheorem,
    certified_promise,
    searched_descents,
    searched_theorem,
)
from certibit.theory.checks.channel.accounts import accounts
from certibit.theory.checks.channel.knowledge import unsent, untold
from certibit.theory.checks.compressor.compression import compressor_checks, small_dimension
from certibit.theory.checks.method.conduct import (
    begins_as_written,
    bill_check,
    comes_back,
    does_not_grow,
    identities,
    independence,
    keeps_invariants,
    names_samples,
    potential_at_solution,
    purity,
    quadratic_twin,
    rests_at_the_solution_only,
    rests_without_gradients,
    schedule,
    solves_in_time,
    stays_at_solution,
)
from certibit.theory.checks.method.one_step import (
    noise_at_the_solution,
    noise_of,
    steps_along_a_run,
    worst_like,
)
from certibit.theory.checks.method.promise import accuracy_constant
from certibit.theory.checks.method.whole_runs import ITERATIONS, RunsCheck, runs_of_theorems
from certibit.theory.checks.method.written_formulas import written_hypotheses, written_rules
from certibit.theory.checks.problem.problems import problem_checks
from certibit.theory.checks.promises import Promised, check_growth, check_promise
from certibit.theory.setting import Setting
from certibit.theory.theorem import RunTheorem, Theorem
from certibit.theory.verdict import FAILS, Verdict

Check = Callable[[Any, int], Verdict | None]
"""Of an experiment and a seed."""

_CONDUCT: tuple[Check, ...] = (
    purity, independence, names_samples, begins_as_written, accounts, unsent, schedule
)  # fmt: skip
"""These need no solution."""


def soundness(card: Card, experiment: Experiment[Any], seed: int = 0) -> tuple[Verdict, ...]:
    """Run the checks that need no theorem, as far as they apply.

    Where a method rests and what it keeps is looked at with exact gradients of strongly convex
    functions; see :func:`quiet`. A method that does not need strong convexity may have other fixed
    points than the solution. Of a method on one machine, no messages are asked for.
    """
    is_exact = is_convex(experiment) and experiment.problem.noise is None
    convex = experiment.method.needs.strongly_convex
    unneeded = (begins_as_written, accounts, unsent) if card.on_one_machine else ()
    checks = [c for c in _CONDUCT if c not in unneeded]
    if is_exact and convex:
        checks += [
            untold,
            lambda experiment, _: bill_check(card, experiment),
            lambda experiment, seed: solves_in_time(card, experiment, seed),
        ]
    else:
        checks.insert(0, rests_without_gradients)
    of_rest: tuple[Check, ...] = (
        *((stays_at_solution,) if convex else ()),
        keeps_invariants,
        rests_at_the_solution_only,
        lambda experiment, _: potential_at_solution(card, experiment),
    )
    still: Any = experiment if is_exact else quiet(experiment)
    with np.errstate(all="ignore"):
        verdicts = [check(still, seed) for check in of_rest] if still else []
        verdicts += [check(experiment, seed) for check in checks]
    return tuple(verdict for verdict in verdicts if verdict)


def quiet(experiment: Experiment[Any]) -> ConvexExperiment | None:
    """Return an experiment without the noise of its gradients, on a strongly convex problem.

    In the place of functions that are not strongly convex, or have other minimisers than a method
    needs, are quadratics; None if the constants are not known.
    """
    if is_convex(experiment) and not experiment.method.needs.shared_minimiser:
        if experiment.problem.noise is None:
            return experiment
        problem: Any = experiment.problem
        return replace(experiment, problem=replace(problem, noise=None))
    return quadratic_twin(experiment, experiment.n, small_dimension(experiment.compressor))


Tell = Callable[[str], None]


@dataclass(frozen=True, repr=False)
class Examination:
    """The verdicts of all checks of a method on a problem; printed in a few lines.

    Attributes
    ----------
    method : Method
        With its parameters.
    setting : Setting
        The constants that the theorems were evaluated at.
    sound : tuple of Verdict
        The checks of the method, its compressor and the problem that need no theorem.
    promised : tuple of Promised
        One for each theorem; if none is met, one more without a theorem. A method that has no
        theorem gets the one that a certificate with a searched potential proves.
    unpromised : str
        Why nothing is promised of a method without a theorem; or which promises are checked where
        gradients are stochastic.
    with_noise : bool
        Whether a factor with stochastic gradients is promised, and checked.

    Examples
    --------
    >>> from certibit import GD, Quadratic, check
    >>> found = check(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0), seeds=2)
    >>> found.holds, len(found.promised), len(found.verdicts) > 10
    (True, 3, True)
    """

    method: Method
    setting: Setting
    sound: tuple[Verdict, ...]
    promised: tuple[Promised, ...]
    unpromised: str = ""
    with_noise: bool = False

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """All verdicts."""
        of_theorems = (v for promised in self.promised for v in promised.verdicts)
        return (*self.sound, *of_theorems)

    @property
    def holds(self) -> bool:
        """Whether every verdict holds, and a theorem is met if there is any."""
        theorems = [promised for promised in self.promised if promised.theorem is not None]
        met = not theorems or any(promised.met for promised in theorems)
        return met and all(verdict.holds for verdict in self.verdicts)

    def __repr__(self) -> str:
        failing = [verdict for verdict in self.verdicts if not verdict.holds]
        untold = "" if self.with_noise else "nothing is promised: "
        lines = [
            f"Examination of {self.method}, {self.setting.compressor.name}",
            *map(str, self.promised),
            *([f"{untold}{self.unpromised}"] if self.unpromised else []),
            f"{len(failing)} of {len(self.verdicts)} checks fail",
            *(f"{FAILS}: {verdict.check}. {verdict.advice}" for verdict in failing),
        ]
        return "\n".join(lines)


def check(
    method: Method | str,
    problem: Problem | str,
    compressor: Compressor | str | None = None,
    *,
    card: Card | None = None,
    rule: str | None = None,
    seeds: int | Sequence[int] = 5,
    accuracy: float = 1e-6,
    rounds: int | None = None,
    iterations: int = ITERATIONS,
    gradients: float | None = None,
    seconds: float | None = None,
    downlink: float = 0.0,
    strict: bool = False,
) -> Examination:
    """Check a method, its compressor and a problem against theorems, bills and exact identities.

    Parameters
    ----------
    method : Method or str
        With its parameters; or its name, with those of the rule.
    problem : Problem or str
        Or its name; strongly convex, unless the method does not need that; then only checks of the
        method that need no theorem are made, and descents are checked.
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
    rounds, iterations, gradients, seconds : number, optional
        Limits at which every whole run ends before the accuracy: communication rounds, iterations,
        gradients per client, and time on the clock for all seeds. Runs that they cut off count as
        not tested.
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
    >>> from certibit import GD, Quadratic, check
    >>> check(GD(gamma=0.1), Quadratic.random(3, 4, mu=1.0, L=10.0), seeds=2)
    Examination of GD(gamma=0.1), identity
    gradient descent, classical: met, factor 1 - 0.19
    gradient descent, convex, last iterate: met, E[f(x_T)] - f* <= Psi_0/(0.295279 + 0.4 T)
    gradient descent, convex: met, E[Psi+] <= Psi - 0.2 (f - f*)
    0 of 35 checks fail
    """
    require_weight(downlink)
    budget = Budget(
        gap=accuracy, rounds=rounds, iterations=iterations, gradients=gradients, seconds=seconds
    )
    method, given, compressor = made(method, problem, compressor, card=card, rule=rule)
    experiment = Experiment.of(method, given, compressor)
    return examine(
        card_of(method) if card is None else card,
        experiment,
        budget,
        rule=rule,
        by_rule=rule is not None,
        seeds=seeds,
        downlink=downlink,
        beyond=True,
        strict=strict,
    )


def examine(
    card: Card,
    experiment: Experiment[Any],
    budget: Budget,
    *,
    rule: str | None = None,
    by_rule: bool = True,
    seeds: int | Sequence[int] = 5,
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
    budget : Budget
        The accuracy of the whole runs, and the limits at which they end before.
    rule : str, optional
        The rule of its parameters, also used on small problems.
    by_rule : bool
        Whether the parameters are those of the rule, so that it can be used on small problems.
    seeds, downlink
        Of the whole runs: how many, or which; the weight of a bit received.
    beyond : bool
        Whether the hypotheses are tried at their boundary and beyond, where the parameters follow
        a rule.
    strict : bool
        Whether parameters that no theorem covers are refused.
    tell : callable
        Told what is being checked.

    Raises
    ------
    Refusal
        If method, problem and compressor do not fit each other, runs start at the solution, or for
        what ``strict`` says.
    """
    method, setting = experiment.method, Setting.at(experiment)
    convex = is_convex(experiment)
    if strict and (card.about("potential") or not convex):
        require_theorem(card, experiment)
    is_exact = convex and experiment.problem.noise is None
    if is_exact:  # a run that starts at the solution shows nothing
        measure_at_start(experiment.problem, "gap")
    tell("soundness")
    sound = soundness(card, experiment)
    tell("the problem")
    unlike = Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0])
    sound += (
        *_compressors_checked(experiment.compressor, experiment.d),
        *problem_checks(experiment.problem),
        *([identities(card, unlike)] if card.identities else []),
        *filter(None, [written_rules(card, setting)]),
    )
    if not is_exact:
        verdicts, unpromised, with_noise = _along_a_run(card, experiment)
        return Examination(method, setting, (*verdicts, *sound), (), unpromised, with_noise)
    stated = card.about("potential")
    factors, unpromised = (stated, "") if stated else _searched(method, setting)
    held = [
        theorem
        for theorem in factors
        if not theorem.unmet(method, setting) and _bounds_accuracy(theorem, experiment)
    ]
    if not (stated or held):
        more = (does_not_grow(experiment), comes_back(experiment))
        sound += tuple(verdict for verdict in more if verdict)
    runs: dict[int, RunsCheck] = {}
    if held:
        tell("whole runs")
        ran = runs_of_theorems(held, experiment, budget, seeds=seeds, downlink=downlink)
        runs = dict(zip(map(id, held), ran, strict=True))
    found: list[Promised] = []
    for theorem in (*factors, *card.about("gap")):
        ruled = by_rule and bool(card.rules) and (theorem.measure == "gap" or bool(stated))
        if theorem.measure == "gap" and stated and theorem.unmet(method, setting):
            unmet = written_hypotheses(theorem, method, setting)
            sound += (unmet,) if unmet else ()
            continue
        tell(theorem.title)
        of_it = runs.get(id(theorem))
        found.append(check_promise(theorem, card, experiment, budget, of_it, rule, ruled, beyond))
    factor = found[: len(factors)]
    if factor and not any(promised.met for promised in factor):
        tell("no theorem")
        found.insert(len(factor), check_growth(factor, experiment))
    return Examination(method, setting, sound, tuple(found), unpromised)


def _along_a_run(card: Card, experiment: Experiment[Any]) -> tuple[tuple[Verdict, ...], str, bool]:
    """Check theorems where f is not strongly convex, or gradients are stochastic.

    A method without theorems about descents has that of a certificate, if one is found; so has one
    whose theorems do not apply to stochastic gradients. Returned are the verdicts, what is checked
    in words, and whether a factor is.
    """
    method, setting = experiment.method, Setting.at(experiment)
    smooth = isinstance(setting.constants, Constants)
    bounded, convex = math.isfinite(setting.sigma), is_convex(experiment)
    measures = ("potential", "gap") if convex else ("squared_gradient",)
    stated = card.about(*(measures if smooth else ("gradient_norm",)))
    one_step = [one for one in stated if not isinstance(one, RunTheorem)]
    some = any(not one.unmet(method, setting) for one in one_step)
    descents = any(one.measure != "potential" for one in one_step)
    if not some and smooth and (setting.sigma or not descents):
        one_step += searched_descents(experiment)
    inapplicable = [
        one.title
        for one in (*one_step, *(one for one in stated if isinstance(one, RunTheorem)))
        if one.unmet(method, setting) and not one.unmet(method, replace(setting, sigma=0.0))
    ]
    held = [one for one in one_step if not one.unmet(method, setting)]
    factors = [
        one
        for one in held
        if one.measure == "potential" and math.isfinite(noise_of(one, experiment))
    ]
    held = [
        one
        for one in held
        if one.measure != "potential" and (bounded or not one.noise(method, setting))
    ]
    verdicts = (
        *(steps_along_a_run(theorem, experiment) for theorem in (*factors, *held)),
        *(noise_at_the_solution(theorem, experiment) for theorem in factors),
        *_worst_descents(held, experiment),
        *_one_step_promises(one_step, [*factors, *held], card, experiment),
    )
    unknown = (
        "" if bounded else "; the variance of its gradients has no bound: no descent is checked"
    )
    titles = ", ".join(one.title for one in (*factors, *held))
    what = "promise" if factors and held else "factor" if factors else "descent"
    checked = f"; the {what} of {titles} is checked" if titles else unknown
    if inapplicable:
        checked += f"; what is about exact gradients does not apply: {', '.join(inapplicable)}"
    if not smoothness_is_known(experiment.problem):
        checked += "; its constants are not known, and no check of constants is made"
    if card.unstated and not titles:
        checked += f"; {card.unstated}"
    kind = "has stochastic gradients" if convex else "is not strongly convex"
    return verdicts, f"{experiment.problem.name} {kind}{checked}", bool(factors)


def _worst_descents(theorems: Sequence[Theorem], experiment: Experiment[Any]) -> Iterator[Verdict]:
    """Check descents of |grad f|^2 in the worst case, where small quadratics can be made."""
    for theorem in theorems:
        if theorem.measure == "squared_gradient":
            with suppress(Refusal):
                yield worst_like(theorem, experiment)


def _one_step_promises(
    stated: Sequence[Theorem],
    held: Sequence[Theorem],
    card: Card,
    experiment: Experiment[Any],
) -> Iterator[Verdict]:
    """Hold promises against their formulas and, if their hypotheses hold, against certificates."""
    method, setting = experiment.method, Setting.at(experiment)
    for theorem in stated:
        if theorem.measure == "gradient_norm":  # it may speak of another method's parameters
            continue
        found = [written_hypotheses(theorem, method, setting)]
        if theorem in card.theorems and theorem in held:
            found.append(certified_promise(theorem, card, method, setting))
        yield from (verdict for verdict in found if verdict)


def _searched(method: Method, setting: Setting) -> tuple[tuple[Theorem, ...], str]:
    """Return what a certificate proves about a method without a theorem, or why it does not."""
    try:
        theorem = searched_theorem(method, setting)
    except Refusal as refusal:
        return (), str(refusal)
    if theorem.certificate.decrease <= 0:
        return (), f"the best potential found may grow by a factor {theorem.certificate.factor:.6g}"
    return (theorem,), ""


def _bounds_accuracy(theorem: Theorem, experiment: ConvexExperiment) -> bool:
    """Whether f - f* is at most a multiple of Psi; of a Psi that was searched for it may not be."""
    if isinstance(theorem, CertifiedTheorem):
        try:
            accuracy_constant(theorem, experiment)
        except Refusal:
            return False
    return True


def _compressors_checked(fitted: Compressor, d: int) -> tuple[Verdict, ...]:
    """Check the compressor of the clients, and that of the server if there is one, for d too."""
    both = (fitted.up, fitted.down) if isinstance(fitted, TwoWay) else (fitted,)
    return tuple(
        verdict for one in both for verdict in compressor_checks(one, small_dimension(one), own=d)
    )
