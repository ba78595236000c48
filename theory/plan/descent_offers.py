"""The promised costs of a small gradient: of functions that need not be convex."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.checks.examination import provable_descents
from certibit.theory.checks.method.promise import promise
from certibit.theory.checks.method.round_cost import round_cost
from certibit.theory.plan.offers import Offer, gradients_of_a_round, promised_costs
from certibit.theory.setting import Setting

BY_THEOREM = "theorem"
"""The rule of an offer whose method has the largest step of its theorem."""


def descent_offers(
    problem: Any, cards: Iterable[Card], compressors: Iterable[Compressor], target: float
) -> tuple[Offer, ...]:
    """Return the offers of all methods, rules and compressors with a theorem about descents.

    A theorem E[Psi+] <= Psi - c |grad f(x)|^2 + e sigma^2 promises that the mean of E|grad f|^2
    over T steps is at most Psi_0/(c T) + (e/c) sigma^2, with Psi_0 at the start of runs.
    On (L0, L1)-smooth problems theorems are about the mean of E|grad f|, and methods take the
    largest step of their theorem, with one local step.
    """
    compressors, smooth = tuple(compressors), isinstance(problem.constants, Constants)
    found = []
    with quiet_machine():
        for card in cards:
            for sent in compressors if card.method.needs.compressor else (None,):
                for rule in card.rules if smooth else (BY_THEOREM,):
                    with suppress(Refusal):
                        method = (
                            card.parameters(problem, sent, rule)
                            if smooth
                            else card.by_theorem(Setting.of(card.method, problem))
                        )
                        experiment = Experiment.of(method, problem, sent)
                        found.append(_offer(card, rule, experiment, target))
    return tuple(offer for offer in found if offer is not None)


def certified_descent(offer: Offer, target: float) -> Offer:
    """Return an offer with the costs that a certificate proves, where these are smaller."""
    experiment = offer.experiment
    for theorem in provable_descents(experiment):
        promised = promise(theorem, experiment)
        gradients = offer.promised.gradients - promised.cost.begin[2]
        costs = promised_costs(promised, target, gradients / offer.promised.rounds)
        if costs.rounds < offer.promised.rounds:
            return replace(offer, promised=costs, by="certificate")
    return offer


def _offer(card: Card, rule: str, experiment: Any, target: float) -> Offer | None:
    """Return the strongest promise; None if no theorem holds, or noise alone is larger."""
    setting = Setting.at(experiment)
    stated = card.descents if isinstance(setting.constants, Constants) else card.relaxed
    held = [one for one in stated if not one.unmet(experiment.method, setting)]
    if not held:
        return None
    cost = round_cost(experiment)
    gradients, sampled = gradients_of_a_round(card, experiment, cost)
    costs = {
        one.title: promised_costs(promise(one, experiment, cost), target, gradients) for one in held
    }
    by = min(costs, key=lambda title: costs[title].rounds)
    if not np.isfinite(costs[by].rounds):
        return None
    return Offer(card, rule, experiment, costs[by], by, sampled)
