"""A plan: every offer on one problem, by the seconds on a network; the fastest for every uplink."""

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.noise import require_whole_gradients
from certibit.data.problem import Constants, Problem, is_strongly_convex
from certibit.data.problems.selector import problem as problem_named
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.network import Network, network_named
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.trace import MEASURES, require_measure
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS, METHODS, find_card
from certibit.theory.catalogue.covered_run import measure_at_start, usual_measure
from certibit.theory.checks.examination import provable_descents
from certibit.theory.checks.method.promise import promise, round_cost
from certibit.theory.plan.offers import (
    Costs,
    Offer,
    certified,
    gradients_of_a_round,
    measured,
    offers,
    promised_costs,
    usual_compressors,
)
from certibit.theory.setting import Setting


@dataclass(frozen=True, eq=False)
class Reign:
    """The offer with the smallest promised time for uplinks up to a limit.

    Attributes
    ----------
    offer : Offer
        The fastest offer.
    up_to : float
        The largest uplink, in bits per second, at which it is the fastest; infinite for the last.
    """

    offer: Offer
    up_to: float


def reigns(offers: Sequence[Offer], network: Network) -> tuple[Reign, ...]:
    """Return the fastest offer for every uplink, from slow to fast uplinks, exactly.

    The time of an offer is a + b s with s = 1/uplink and b the bits sent. The fastest offers form
    the lower envelope of these lines; at s = infinity the offer with the fewest bits is the
    fastest.
    """
    rest = np.array([offer.promised.seconds(network) for offer in offers])
    bits = np.array([offer.promised.up for offer in offers])
    rest -= bits / network.uplink
    current = int(np.lexsort((rest, bits))[0])
    found: list[Reign] = []
    while True:
        faster = np.flatnonzero(rest < rest[current])
        if not faster.size:
            return (*found, Reign(offers[current], np.inf))
        # the first line below as s falls: the largest crossing; of several, the steepest fall
        crossing = (rest[current] - rest[faster]) / (bits[faster] - bits[current])
        following = int(faster[np.lexsort((rest[faster], -crossing))[0]])
        found.append(Reign(offers[current], float(1 / crossing.max())))
        current = following


BEST = 5
"""Default number of offers that are certified, or measured."""


def _descent_offers(
    problem: Any, cards: Iterable[Card], compressors: Iterable[Compressor], target: float
) -> tuple[Offer, ...]:
    """Return the offers of all methods, rules and compressors with a theorem about descents.

    A theorem E[Psi+] <= Psi - c |grad f(x)|^2 + e sigma^2 promises that the mean of E|grad f|^2
    over T steps is at most Psi_0/(c T) + (e/c) sigma^2, with Psi_0 at the start of runs.
    On (L0, L1)-smooth problems theorems are about the mean of E|grad f|; a rule that takes an
    accuracy epsilon, as EPISODE's for a mean of 3 epsilon, is tried with that of the target, too.
    """
    compressors, found = tuple(compressors), []
    with quiet_machine():
        for card in cards:
            for sent in compressors if card.method.needs.compressor else (None,):
                aims: tuple[dict[str, float], ...] = ({}, {"epsilon": math.sqrt(target) / 3})
                for rule, aim in product(card.rules, aims):
                    if not set(aim) <= set(card.left_open(rule)):
                        continue
                    with suppress(Refusal):
                        method = card.parameters(problem, sent, rule, **aim)
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
    smooth = isinstance(setting.constants, Constants)
    stated = card.about("squared_gradient" if smooth else "gradient_norm")
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


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The promised costs of every method on one problem; returned by :func:`plan`.

    Attributes
    ----------
    problem : Problem
        The problem.
    target : float
        The accuracy.
    measure : str
        Of what: "gap", f - f*, or "squared_gradient", the mean of |grad f|^2 over the steps; for
        (L0, L1)-smooth functions the square of the mean of |grad f|.
    network : Network
        What seconds are modelled on.
    offers : tuple of Offer
        The best rule of every method with every compressor, the fastest first.

    Examples
    --------
    >>> from certibit import plan, problem
    >>> solved = problem("breast-cancer@9", kappa=100)
    >>> made = plan(solved, target=1e-3, network="dsl", methods=["agd", "gd"])
    >>> [offer.name for offer in made.offers]
    ['agd[classical]', 'gd[optimal]']
    """

    problem: Problem
    target: float
    measure: str
    network: Network
    offers: tuple[Offer, ...]

    @property
    def best(self) -> Offer:
        """The offer with the fewest promised seconds."""
        return self.offers[0]

    def on(self, network: Network) -> "Plan":
        """Return the same offers ranked on another network."""
        return replace(self, network=network, offers=_ranked(self.offers, network))

    def crossover(self) -> tuple[Reign, ...]:
        """Return the fastest offer by promise for every uplink, from slow to fast uplinks."""
        return reigns(self.offers, self.network)

    def measured(
        self, best: int = BEST, seeds: int = 3, budget: Budget | None = None
    ) -> dict[str, Costs]:
        """Run the best few offers and return their median costs to the target by name.

        The limits of the budget end a run that does not reach the target.
        """
        few = self.offers[: max(best, 1)]
        return {
            offer.name: measured(offer, self.target, seeds, budget, self.measure) for offer in few
        }

    def certified(self, best: int = BEST) -> "Plan":
        """Return the plan with certified costs for the best few, where these are smaller.

        Raises
        ------
        Refusal
            If the solver is not installed.
        """
        proved = certified if self.measure == "gap" else certified_descent
        few = tuple(proved(offer, self.target) for offer in self.offers[:best])
        return replace(self, offers=_ranked((*few, *self.offers[best:]), self.network))

    def __repr__(self) -> str:
        return f"Plan of {len(self.offers)} offers for {self.problem}\non {self.network}"


def plan(
    problem: Problem | str,
    *,
    target: float = 1e-6,
    measure: str | None = None,
    network: Network | str = "lte",
    methods: Sequence[str] | None = None,
    compressors: Sequence[Compressor | str] | None = None,
) -> Plan:
    """Compute the costs that theorems promise for every method on a problem, without a run.

    Parameters
    ----------
    problem : Problem or str
        Or its name. Where there are no data, ``quadratic:d=<d>@<n>`` with a kappa, or with
        ``:nonconvex``.
    target : float
        The accuracy.
    measure : {"gap", "squared_gradient"}, optional
        f - f*, or the mean of E|grad f|^2 over the steps; by default the former for a strongly
        convex problem, and else the latter.
    network : Network or str
        What seconds are modelled on, or its name: ``lte``, ``dsl``, ``lan``, ``sensor``, or in
        words such as ``lan,gradient=1``.
    methods : sequence of str, optional
        Names of the catalogue, or ``path/to/file.py`` with a card; by default, all methods with
        theorems for such problems.
    compressors : sequence, optional
        By default, natural, l1, and rand-k, rand-k+natural and top-k with a few k.

    Raises
    ------
    Refusal
        If the constants of the problem are not known, f - f* is the target of one that is not
        strongly convex, the target is not below its measure at the start, a name is unknown, or no
        theorem applies to any pair.

    Examples
    --------
    >>> from certibit import plan, problem
    >>> made = plan(problem("quadratic:d=100@10", kappa=1e4), target=1e-3, network="sensor",
    ...             methods=["agd", "locodl"])
    >>> made.crossover()[-1].offer.pair
    'agd'
    """
    problem = problem_named(problem) if isinstance(problem, str) else problem
    measure = usual_measure(problem) if measure is None else measure
    require_measure(measure)
    if measure == "gap" and not is_strongly_convex(problem):
        raise Refusal(
            f"{problem.name} is not strongly convex, and what is promised of f - f* needs mu > 0; "
            "give an accuracy of |grad f|^2"
        )
    require_whole_gradients(problem)
    start = measure_at_start(problem, measure)
    if not 0 < target < start:
        raise Refusal(
            f"the target {MEASURES[measure]} = {target:g}; give one between 0 and {start:.3g}"
        )
    on = network_named(network) if isinstance(network, str) else network
    every = METHODS if measure == "gap" else CARDS
    cards = every.values() if methods is None else [find_card(name) for name in methods]
    sent = (
        usual_compressors(problem.n, problem.d)
        if compressors is None
        else [compressor(each) if isinstance(each, str) else each for each in compressors]
    )
    look: Any = offers if measure == "gap" else _descent_offers
    found: tuple[Offer, ...] = look(problem, cards, sent, target)
    if not found:
        raise Refusal(
            "no theorem promises anything about these methods with these compressors; "
            "name others, or leave them out"
        )
    return Plan(problem, target, measure, on, _ranked(found, on))


def _ranked(found: Sequence[Offer], network: Network) -> tuple[Offer, ...]:
    """Return the best rule of every method with every compressor, the fastest first."""
    best: dict[str, Offer] = {}
    for offer in sorted(found, key=lambda offer: offer.promised.seconds(network)):
        best.setdefault(offer.pair, offer)
    return tuple(best.values())
