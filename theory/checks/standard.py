"""All theorems on a standard set of problems, one row each, with verdict, margin and looseness."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import StronglyConvexProblem
from certibit.data.problems.quadratic import Quadratic
from certibit.data.problems.selector import strongly_convex_problem
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.examination import Examination, examine
from certibit.theory.checks.promises import Promised
from certibit.theory.theorem import Condition
from certibit.theory.verdict import Verdict, outcome

N, D, KAPPA = 5, 20, 100.0
STANDARD_ITERATIONS = 5000
"""The limit of whole runs."""
ACCURACY = 1e-6
"""Where whole runs end."""

COMPRESSORS = {"unbiased": ("rand-k:4", "natural"), "contractive": ("top-k:4",), None: (None,)}
"""The compressors that a method is examined with, by the class that it needs."""


def standard_problems() -> dict[str, StronglyConvexProblem]:
    """Return three families: worst-case-like, heterogeneous, and logistic regression."""
    return {
        "worst-case-like": Quadratic.random(N, D, 1.0, KAPPA, shared_eigenvectors=True),
        "heterogeneous": Quadratic.random(N, D, 1.0, np.geomspace(8, KAPPA, N)),
        "logistic": strongly_convex_problem(
            f"breast-cancer@{N}", kappa=KAPPA, split="similarity:0", storage="dense"
        ),
    }


@dataclass(frozen=True)
class TheoremRow:
    """A theorem on a family of problems.

    Attributes
    ----------
    theorem, family, rule, compressor : str
        What was examined.
    verdicts : tuple of Verdict
        Those of the theorem, and those that hold for every method.
    tightest : Condition
        The hypothesis with the least room.
    step, worst : float
        Largest (exact factor - promised one) as (1 - factor)/(1 - tau) of one step, and the same
        for the worst case on quadratics: 1 is tight, below 1 would break the promise.
    rate, bits : float
        Measured over promised: log of the factor, and bits to the accuracy as promised/measured.
    seeds : int
        The number of whole runs.
    downlink : float
        The weight of a bit received in the bits.
    """

    theorem: str
    family: str
    rule: str
    compressor: str
    verdicts: tuple[Verdict, ...]
    tightest: Condition
    step: float
    worst: float
    rate: float
    bits: float
    seeds: int
    downlink: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether all verdicts hold."""
        return all(verdict.holds for verdict in self.verdicts)

    @property
    def outcome(self) -> str:
        """The words for a table."""
        return outcome(self.verdicts)


def tasks() -> list[tuple[Card, str, str | None, str]]:
    """Return what is examined: method, rule, compressor, family."""
    families = tuple(standard_problems())
    return [
        (card, rule, selector, family)
        for card in METHODS.values()
        for rule in card.rules
        for selector in COMPRESSORS[card.method.needs.compressor]
        for family in families
    ]


def rows(
    place: int,
    seeds: int = 5,
    accuracy: float = ACCURACY,
    downlink: float = 0.0,
    limits: Budget | None = None,
) -> list[TheoremRow]:
    """Examine one of the tasks and give its rows, one for each theorem that its parameters meet.

    A rule that does not serve a compressor, or follows no theorem, has no rows. With a weight of
    the downlink, the bits are total bits. Limits may end whole runs before the accuracy.
    """
    budget = Budget(gap=accuracy, iterations=STANDARD_ITERATIONS).within(limits)
    card, rule, selector, family = tasks()[place]
    chosen = compressor(selector) if selector else None
    problem = standard_problems()[family]
    found = _examined(card, rule, chosen, problem, budget, seeds=seeds, downlink=downlink)
    if found is None:
        return []
    return [
        _row(promised, found, family, rule, selector or "-", seeds)
        for promised in found.promised
        if promised.theorem and promised.factor is not None and promised.met
    ]


def _examined(
    card: Card,
    rule: str,
    chosen: Compressor | None,
    problem: Any,
    budget: Budget,
    **asked: Any,
) -> Examination | None:
    try:
        method = card.parameters(problem, chosen, rule)
    except Refusal:
        return None
    return examine(
        card,
        Experiment.of(method, problem, chosen),
        budget,
        rule=rule,
        **asked,
    )


def _row(
    promised: Promised, found: Examination, family: str, rule: str, selector: str, seeds: int
) -> TheoremRow:
    assert promised.theorem is not None
    assert promised.runs is not None
    assert promised.factor is not None
    named = {verdict.check: verdict for verdict in promised.verdicts}
    step = named["one step along a run"]
    worst = named.get("worst case on quadratics / tau")
    runs = promised.runs
    room = [c for c in promised.conditions if c.left > 0 and c.right > 0]
    return TheoremRow(
        promised.theorem.title,
        family,
        rule,
        selector,
        (*promised.verdicts, *found.sound),
        max(room, key=lambda condition: condition.used),
        (1 - step.value) / (1 - promised.factor),
        worst.value if worst else math.nan,
        runs.measured / runs.promised if runs.promised else math.nan,
        runs.promised_bits / runs.bits.value if runs.bits.value else math.nan,
        seeds,
        runs.downlink,
    )
