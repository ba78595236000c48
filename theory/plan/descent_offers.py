"""The promised costs of a small gradient: of functions that need not be convex."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.libraries import host
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.simulation.simulated_world import simulated_world
from certibit.theory.card import Card
from certibit.theory.checks.examination import provable_descents
from certibit.theory.checks.method.round_cost import RoundCost, round_cost
from certibit.theory.plan.offers import Costs, Offer
from certibit.theory.potential import value
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentTheorem
from certibit.theory.worlds.fixed_points import AboutModel, fixed_point


def descent_offers(
    problem: Any, cards: Iterable[Card], compressors: Iterable[Compressor], target: float
) -> tuple[Offer, ...]:
    """Return the offers of all methods, rules and compressors with a theorem about descents.

    A theorem E[Psi+] <= Psi - c |grad f(x)|^2 + e sigma^2 promises that the mean of E|grad f|^2
    over T steps is at most Psi_0/(c T) + (e/c) sigma^2, with Psi_0 at the start of a run of seed 0.
    """
    compressors = tuple(compressors)
    found = []
    with quiet_machine():
        for card in cards:
            for sent in compressors if card.method.needs.compressor else (None,):
                for rule in card.rules:
                    with suppress(Refusal):
                        method = card.parameters(problem, sent, rule)
                        experiment = Experiment.of(method, problem, sent)
                        found.append(_offer(card, rule, experiment, target))
    return tuple(offer for offer in found if offer is not None)


def certified_descent(offer: Offer, target: float) -> Offer:
    """Return an offer with the costs that a certificate proves, where these are smaller."""
    experiment = offer.experiment
    theorems = provable_descents(experiment.method, Setting.at(experiment), experiment.problem)
    cost = round_cost(experiment)
    for theorem in theorems:
        costs = _costs(theorem, experiment, cost, target)
        if costs.rounds < offer.promised.rounds:
            return replace(offer, promised=costs, by="certificate")
    return offer


def _offer(card: Card, rule: str, experiment: Any, target: float) -> Offer | None:
    """Return the strongest promise; None if no theorem holds, or noise alone is larger."""
    setting = Setting.at(experiment)
    held = [one for one in card.descents if not one.unmet(experiment.method, setting)]
    if not held:
        return None
    cost = round_cost(experiment)
    costs = {theorem.title: _costs(theorem, experiment, cost, target) for theorem in held}
    by = min(costs, key=lambda title: costs[title].rounds)
    if not np.isfinite(costs[by].rounds):
        return None
    return Offer(card, rule, experiment, costs[by], by, sampled=False)


def _costs(theorem: DescentTheorem, experiment: Any, cost: RoundCost, target: float) -> Costs:
    """Return the costs until the mean of E|grad f|^2 over the steps is at most the target."""
    method, view, setting = experiment.method, experiment.problem, Setting.at(experiment)
    channel, oracle = simulated_world(experiment)
    state = method.start(channel.template, oracle, channel)
    star = fixed_point(method, AboutModel(view, method.model(state)))
    start = float(host(value(theorem.lyapunov(method, state, star, setting, view), view))[0])
    variance = view.noise.largest_variance(view) if view.noise else 0.0
    steps = np.ceil(theorem.promise(method, setting).rounds_to(target, start, variance))
    rounds = float(steps) / cost.iterations
    return Costs(
        rounds * cost.uplink_bits, rounds * cost.downlink_bits, rounds, rounds * cost.gradients
    )
