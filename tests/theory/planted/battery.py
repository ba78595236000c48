"""All checks of the library about one subject: a method with its rule and compressor."""

import math
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse

sys.path.append(str(Path(__file__).parents[1]))  # of `tool`, also for who runs a file alone

from tool.independence import independent_choices
from tool.own_cards import best_rule, made_by_its_name
from tool.replay import recorded
from tool.sizes import wire_at_every_size

from certibit.data.errors import Refusal
from certibit.data.files.own_data import Dataset
from certibit.data.losses.base import Loss
from certibit.data.losses.losses import Logistic, Tukey, Welsch
from certibit.data.mini_batch import MiniBatch
from certibit.data.problem import Problem
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.nonconvex_model import NonconvexModel
from certibit.data.problems.nonconvex_quadratic import NonconvexQuadratic
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import problem as make_problem
from certibit.data.relaxed.families import Cosh, Multiples, Steep, Tilted
from certibit.data.relaxed.polynomials import PhaseRetrieval, Quartics
from certibit.solvers.compressors.selector import compressor as make_compressor
from certibit.solvers.methods.celgc import CELGC
from certibit.solvers.methods.clipped_sgd import ClippedSGD
from certibit.solvers.methods.episode import EPISODE
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.search import setting
from certibit.theory.certificates.summary import class_setting
from certibit.theory.certificates.worst_instance import worst_instance
from certibit.theory.checks.compressor.compression import compressor_checks
from certibit.theory.checks.examination import examine, soundness
from certibit.theory.checks.method.conduct import identities
from certibit.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_quadratic,
)
from certibit.theory.checks.method.whole_runs import bounded_run, on_huber_functions, whole_runs
from certibit.theory.checks.method.written_formulas import written_hypotheses, written_rules
from certibit.theory.checks.problem.problems import problem_checks
from certibit.theory.checks.promises import at_the_boundary
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.function_class import FunctionClass
from certibit.theory.proofs.rational_step import RationalForm, RationalStep
from certibit.theory.relaxed.certify_clipped import certify_clipped
from certibit.theory.relaxed.clipped_account import attained_decrease
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions
from certibit.theory.setting import Setting
from certibit.theory.theorem import RunTheorem, Theorem
from certibit.theory.verdict import Verdict, largest, worst_of
from certibit.theory.worlds.fixed_points import resting_state
from certibit.theory.worlds.invariants import relations
from certibit.theory.worlds.opaque.exact_numbers import rational, rationals

SELECTORS = {"unbiased": "rand-k:2", "contractive": "top-k:2", None: None}
ACCURACY = 1e-4
Part = Callable[[], Iterable[Verdict]]
CLIPPED = [
    (ClippedSGD(0.25, 0.25), "any-direction"),
    (ClippedSGD(0.8, 0.8), "best"),
    (CELGC(0.1, 0.1), "best"),
    (EPISODE(0.01, 0.01, 4), "best"),
]
"""Steps on (L0, L1)-smooth functions, and the bound of their growth."""

NOISY = ("local-sgd", "ef21-sgdm", "sgd")
"""Methods that are run with added noise, and not with mini-batches, where f is not convex."""

CLIENTS = {"compressed-gd": 1}
"""Those of a method whose theorem is not about 3."""


def parts(
    name: str,
    rule: str | None = None,
    selector: str | None = None,
    options: dict | None = None,
    *,
    seed: int = 0,
    sampling: bool = True,
) -> Iterator[tuple[str, Part]]:
    """Return the checks of a subject by name, the cheap ones first.

    What raises an error is a verdict that does not hold. Moments and frequencies are drawn only
    with ``sampling``.
    """
    card, options = CARDS[name], options or {}
    need = card.method.needs.compressor
    chosen = make_compressor(selector or SELECTORS[need]) if need else None
    n, shared = CLIENTS.get(name, 3), card.method.needs.shared_minimiser
    L = [20.0, 12.0, 5.0][:n]
    problem = Quadratic.random(n, 4, 1.0, L, shared_minimiser=shared, seed=seed)
    used = chosen or make_compressor("identity")
    try:
        method = card.parameters(problem, chosen, rule, **options)
        experiment = Experiment.of(method, problem, chosen)
        where = Setting.at(experiment)
        held = card.holding(method, where)
        convex = [one for one in card.about("gap") if not one.unmet(method, where)]
    except Exception as error:
        wrong = Verdict("parameters", math.inf, 0.0, repr(error))
        yield "parameters", lambda: (wrong,)
    else:
        yield "hypotheses", lambda: (Verdict("hypotheses", float(not (held or convex)), 0.0),)
        yield "formulas", lambda: _as_written(card, rule, experiment)
        of_theorems = (
            partial(_of_theorem, theorem, card, experiment, rule, seed, options, bool(held))
            for theorem in held or card.about("potential")
        )
        for number, of_it in enumerate(of_theorems):
            for kind in ("one step", "worst case", "boundary", "whole runs"):
                yield f"{kind} {number + 1}", partial(of_it, kind)
        for number, one in enumerate(card.about("gap")):
            yield f"convex {number + 1}", partial(_of_convex, one, card, experiment, rule, seed)
        yield "best", lambda: filter(None, [best_rule(card, where)])
        yield "soundness", lambda: soundness(card, experiment, seed)
        yield "traces", lambda: [recorded(experiment, seed)]
    yield "identities", lambda: (identities(card, problem, seed),)
    if sampling:
        yield "compressor", lambda: (*compressor_checks(used, 5, seed), made_by_its_name(used))
        yield "channel", lambda: (independent_choices(seed), wire_at_every_size(used, seed))


def sampled(name: str, rule: str | None) -> tuple[Verdict, ...]:
    """Return what `certibit check` says of a method on a problem with stochastic gradients."""
    resting_state.cache_clear()
    relations.cache_clear()
    card, convex = CARDS[name], bool(CARDS[name].about("potential")) and rule != "nonconvex"
    batches = card.method.needs.samples and name not in NOISY
    words = "breast-cancer@3:batch=8" if convex else "breast-cancer@3:nonconvex:batch=8"
    words = words if batches or convex else "quadratic:d=4@3:nonconvex:noise=0.1"
    problem = make_problem(words, kappa=100 if convex else None)
    selector = SELECTORS[card.method.needs.compressor]
    sent = make_compressor(selector) if selector else None
    setting = Setting.of(card.method, problem, sent)
    method = card.at(setting, rule or card.default_rule(setting))
    return examine(card, Experiment.of(method, problem, sent), Budget()).verdicts


def _as_written(card: Card, rule: str | None, experiment: Experiment) -> Iterator[Verdict]:
    """Hold formulas that are printed against their numbers."""
    method, where = experiment.method, Setting.at(experiment)
    found = [written_hypotheses(theorem, method, where) for theorem in card.about("potential")]
    yield from (verdict for verdict in (written_rules(card, where), *found) if verdict)


def _of_theorem(
    theorem: Theorem,
    card: Card,
    experiment: Experiment,
    rule: str | None,
    seed: int,
    options: dict,
    held: bool,
    kind: str,
) -> Iterator[Verdict]:
    """Check one kind of promise of a theorem."""
    if kind == "one step":
        yield steps_along_a_run(theorem, experiment, seed=seed)
        yield steps_at_random_states(theorem, experiment, seed=seed)
    with suppress(Refusal):  # nothing is checked where the rule meets the theorem nowhere
        if kind == "worst case":
            yield worst_quadratic(theorem, card, rule, seed=seed, options=options)
        if kind == "boundary" and not seed:  # nothing is drawn
            yield at_the_boundary(theorem, card, rule)
    if kind == "whole runs" and held:
        seeds = range(seed, seed + 3)
        limits = {"accuracy": ACCURACY, "iterations": 800}
        yield from whole_runs(theorem, experiment, seeds=seeds, **limits).verdicts


def _of_convex(
    theorem: Theorem,
    card: Card,
    experiment: Experiment,
    rule: str | None,
    seed: int,
) -> Iterator[Verdict]:
    """Check a theorem about convex functions, on a run and where its rule meets it."""
    if not theorem.unmet(experiment.method, Setting.at(experiment)):
        if isinstance(theorem, RunTheorem):
            yield bounded_run(theorem, experiment, Budget(iterations=100))
        else:
            yield steps_along_a_run(theorem, experiment, seed=seed)
    for check in (on_huber_functions, at_the_boundary) if not seed else ():  # nothing is drawn
        with suppress(Refusal):
            yield check(theorem, card, rule)


def problem_parts(seed: int = 0) -> Iterator[tuple[str, Part]]:
    """Return the checks of problems of every kind, small and of more than 50 clients."""
    for number, make in enumerate(PROBLEMS):
        yield f"problem {number + 1}", lambda make=make: problem_checks(make(seed), seed)


def verdicts(name: str, part: Part) -> Iterator[Verdict]:
    """Return the verdicts of a part; what raises an error is one that does not hold."""
    try:
        with np.errstate(all="ignore"):
            yield from part()
    except Refusal as error:
        yield Verdict(name, math.inf, 0.0, str(error))
    except (ValueError, TypeError, IndexError, np.linalg.LinAlgError, ArithmeticError) as error:
        yield Verdict(name, math.inf, 0.0, repr(error))


def proof_findings() -> Iterator[Verdict]:
    """Return whether verdicts and certificates see what is wrong: 1 where they do not."""
    for place in (0, 1):
        numbers = np.insert(np.zeros(1), place, np.nan).tolist()
        yield Verdict("largest of NaN", float(not math.isinf(largest(numbers))), 0.0)
        pairs = [(number, "") for number in numbers]
        yield Verdict("worst of NaN", float(not math.isinf(worst_of(pairs)[0])), 0.0)
    yield Verdict("NaN does not hold", float(bool(Verdict("", math.nan, 1.0).holds)), 0.0)
    for name in ("gd", "agd"):
        card, where = METHODS[name], setting(3, 1.0, 20.0, 2, make_compressor("identity"))
        method = card.at(where)
        proved = certify(method, where)
        greedy = [
            replace(proved, exact=more * proved.exact)
            for more in (Fraction(100001, 100000), Fraction(11, 10))
        ]
        claimed = sum(certificate.verify() for certificate in greedy)
        yield Verdict("a greater decrease verifies", float(claimed), 0.0)
        yield Verdict("a right one does not", float(not proved.verify()), 0.0)
        step = RationalStep.of(method, FunctionClass.of(where), proved.potential)
        blocks = tuple(rationals(np.eye(len(x), dtype=int)) for x in step.now[0].blocks)
        square = RationalForm(blocks, (rational(0),) * len(step.now[0].values))
        told = replace(step, inequalities=step.inequalities | {"squares": square})
        wrong = replace(proved, exact=Fraction(0), multipliers={"squares": Fraction(-(10**6))})
        believed = wrong.holds_for(told)
        yield Verdict("a square is taken to be negative", float(believed), 0.0)
    for name, n in (("diana", 3), ("locodl", 3), ("locodl-both-ways", 1)):
        card = METHODS[name]
        where = class_setting(card.method, n, 30.0, 3.0, None, 4)
        functions, theorem = FunctionClass.of(where), card.theorems[0]
        functions = replace(functions, omega_down=3.0 if card.method.needs.downlink else 0.0)
        method = card.at(where)
        proved = certify(method, functions, potential=theorem).decrease
        attained = 1 - worst_instance(method, functions, theorem).step().factor
        yield Verdict("a step of a run decreases by less than is proved", proved - attained, 1e-9)
    for name, sent in (("diana", "rand-k:1"), ("ef21", "scaled(rand-k:1)")):
        card, where = METHODS[name], setting(10, 1.0, 20.0, 2, make_compressor(sent))
        proved = certify(card.at(where), where, potential="search").decrease
        attained = slowest_decrease(card.at(where), FunctionClass.of(where))
        yield Verdict("the long run is not what is proved", abs(attained / proved - 1), 1e-4)
    for method, growth in CLIPPED:
        functions = RelaxedFunctions(1.0, 1.0, 2, kappa=0.3)
        proof = certify_clipped(method, functions, growth)
        attained = attained_decrease(method, functions, proof.measure).c
        yield Verdict("a clipped step decreases by less than is proved", proof.c - attained, 1e-9)


def _logistic(n: int, storage: str) -> Callable[[int], LogisticRegression]:
    def make(seed: int) -> LogisticRegression:
        generator = np.random.default_rng(seed)
        rows = scipy.sparse.csr_array(generator.standard_normal((2 * max(n, 10), 4)))
        labels = generator.choice([-1.0, 1.0], size=rows.shape[0])
        data = Dataset("random", rows, labels, (-1.0, 1.0), "random")
        return LogisticRegression.from_data(data, n, kappa=30.0, storage=storage)

    return make


def _nonconvex(loss: Loss, lam: float) -> Callable[[int], NonconvexModel]:
    """Return a model whose targets are fitted at the start: there all curvatures are largest."""

    def make(seed: int) -> NonconvexModel:
        rows = np.random.default_rng(seed).standard_normal((30, 4))
        signs = loss.targets == "two classes"
        b = np.resize([-1.0, 1.0], 30) if signs else np.zeros(30)
        data = Dataset("random", scipy.sparse.csr_array(rows), b, (), "random")
        shares = tuple(np.split(np.arange(30), [8, 20]))
        return NonconvexModel.from_shares(data, shares, loss, lam=lam)

    return make


PROBLEMS: list[Callable[[int], Problem]] = [
    lambda seed: Quadratic.random(3, 4, 1.0, [20.0, 12.0, 5.0], seed=seed),
    lambda seed: Quadratic.random(60, 3, 1.0, 9.0, seed=seed).composite,
    *(_logistic(n, storage) for n in (3, 60) for storage in ("dense", "sparse")),
    lambda seed: Tilted.of(Cosh(), [[3, 0], [-1, 0], [-2, 0]], [1.0, 2.0]),
    lambda seed: Multiples.of(Steep(1.0, 1.0), (3.0, -1.0, 1.0), 2.0),
    lambda seed: Quartics.of(H=2.0 + seed),
    lambda seed: PhaseRetrieval.random(3, 10, 4, seed=seed),
    lambda seed: NonconvexQuadratic.random(4, 4, spread=5.0, seed=seed),
    *(_nonconvex(loss, lam) for loss, lam in ((Logistic(), 0.3), (Welsch(2.0), 0.0))),
    _nonconvex(Tukey(3.0), 0.1),
    lambda seed: replace(_nonconvex(Logistic(), 0.3)(seed), noise=MiniBatch(2)),
]  # fmt: skip
