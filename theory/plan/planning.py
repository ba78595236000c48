"""A plan: promised costs of every method on one problem; the fastest method for every uplink."""

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
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.network import Network, network_named
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.trace import MEASURES, require_measure
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import total_bits
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import CARDS, METHODS, find_card
from certibit.theory.catalogue.covered_run import measure_at_start, usual_measure
from certibit.theory.certificates.certified_theorem import searched_descents, searched_theorem
from certibit.theory.checks.method.promise import Promise, RoundCost, promise, round_cost
from certibit.theory.setting import Setting

SAMPLED_ROUNDS, SAMPLED_GRADIENTS = 30, 5000
"""If the gradients of a round depend on the state, they are counted over this many rounds, or until
this many gradients are evaluated."""
SAMPLED_WORK = 500_000_000
"""Numbers of the data that are read for it at most; where the local steps of one round may read
more, nothing is run, and the most steps stand for the mean."""


@dataclass(frozen=True)
class Costs:
    """The cost of an accuracy, per client.

    Attributes
    ----------
    up, down : float
        Bits sent and received.
    rounds, gradients : float
        Communication rounds, and gradients of the client's own function.
    """

    up: float
    down: float
    rounds: float
    gradients: float

    def total(self, downlink: float) -> float:
        """Return the bits sent plus ``downlink`` times the bits received."""
        return total_bits(self.up, self.down, downlink)

    def seconds(self, network: Network) -> float:
        """Return the seconds on a network, by its model."""
        return float(network.seconds(self.up, self.down, self.rounds, self.gradients))


@dataclass(frozen=True, eq=False)
class Offer:
    """A method with its parameters and compressor, and its promised costs.

    Attributes
    ----------
    card : Card
        Of the method.
    rule : str
        By which its parameters are made.
    experiment : Experiment
        What would be run.
    promised : Costs
        To the target: by a theorem, in the mean. The gradients are the promised rounds times the
        mean gradients of a round.
    by : str
        What promises: the title of a theorem, or "certificate".
    sampled : bool
        Whether the gradients of a round are those of the first rounds of a run, since they depend
        on the state, and not their mean; where one round may take too many local steps to be run
        (``SAMPLED_WORK``), they are its most.
    """

    card: Card
    rule: str
    experiment: Experiment[Any]
    promised: Costs
    by: str
    sampled: bool

    @property
    def pair(self) -> str:
        """Method and compressor, such as ``locodl+rand-k:2``."""
        sent = self.experiment.compressor
        return self.card.name if isinstance(sent, Identity) else f"{self.card.name}+{sent.name}"

    @property
    def name(self) -> str:
        """The same with the rule, as ``compare`` takes it: ``locodl[ours]+rand-k:2``."""
        method, plus, sent = self.pair.partition("+")
        return f"{method}[{self.rule}]{plus}{sent}"


def usual_compressors(n: int, d: int) -> tuple[Compressor, ...]:
    """Return the usual compressors for n clients and d features: natural, l1, top-k, rand-k.

    The k are 1, d/n and d/10, rounded up. For methods whose server compresses each is also combined
    with natural compression of the broadcast.
    """
    sizes = sorted({1, -(-d // n), -(-d // 10)})
    forms = ["rand-k:{}", "rand-k:{}+natural", "top-k:{}"]
    names = ["natural", "l1", *(form.format(k) for form in forms for k in sizes)]
    pairs = [f"two-way({name};natural)" for name in names]
    return tuple(compressor(name) for name in (*names, *pairs))


BEST = 5
"""Default number of offers that are certified, or measured."""


def offers(
    problem: Problem,
    cards: Iterable[Card],
    compressors: Iterable[Compressor],
    target: float,
    measure: str = "gap",
) -> tuple[Offer, ...]:
    """Return the offers of all methods, rules and compressors that fit and have a theorem.

    A theorem E[Psi+] <= Psi - c |grad f(x)|^2 + e sigma^2 promises that the mean of E|grad f|^2
    over T steps is at most Psi_0/(c T) + (e/c) sigma^2, with Psi_0 at the start of runs.
    On (L0, L1)-smooth problems theorems are about the mean of E|grad f|; a rule that takes an
    accuracy epsilon, as EPISODE's for a mean of 3 epsilon, is tried with that of the target, too.
    """
    compressors = tuple(compressors)
    aims: tuple[dict[str, float], ...] = ({}, {"epsilon": math.sqrt(target) / 3})
    with quiet_machine():  # threads of BLAS only wait for each other here
        found = [
            _offer(problem, card, rule, aim, sent, target, measure)
            for card in cards
            for sent in (compressors if card.method.needs.compressor else (None,))
            for rule, aim in product(card.rules, aims)
            if set(aim) <= set(card.left_open(rule))
        ]
    return tuple(offer for offer in found if offer is not None)


def _offer(
    problem: Any,
    card: Card,
    rule: str,
    aim: dict[str, float],
    sent: Compressor | None,
    target: float,
    measure: str,
) -> Offer | None:
    """Return the strongest promise; None if parts do not fit, or no theorem holds."""
    with suppress(Refusal):
        about = ["gradient_norm"]
        if isinstance(problem.constants, Constants):
            about = ["potential", "gap"] if measure == "gap" else [measure]
        method = card.parameters(problem, sent, rule, **aim)
        experiment = Experiment.of(method, problem, sent)
        setting = Setting.at(experiment)
        held = [one for one in card.about(*about) if not one.unmet(method, setting)]
        if not held:
            return None
        cost = round_cost(experiment)
        promises = {one.title: promise(one, experiment, cost) for one in held}
        by = min(promises, key=lambda title: promises[title].rounds_to(target))
        if np.isfinite(promises[by].rounds_to(target)):  # else noise alone is larger
            gradients, sampled = gradients_of_a_round(card, experiment, cost)
            costs = promised_costs(promises[by], target, gradients)
            return Offer(card, rule, experiment, costs, by, sampled)
    return None


def certified(offer: Offer, target: float, measure: str = "gap") -> Offer:
    """Return an offer with the costs that a certificate proves, where these are smaller."""
    experiment, rounds = offer.experiment, offer.promised.rounds
    try:
        theorems = (
            [searched_theorem(experiment.method, Setting.at(experiment))]
            if measure == "gap"
            else searched_descents(experiment)
        )
        promises = [promise(theorem, experiment) for theorem in theorems]
    except (Refusal, ArithmeticError):
        return offer
    for promised in promises:
        gradients = offer.promised.gradients - promised.cost.begin[2]
        costs = promised_costs(promised, target, gradients / rounds)
        if costs.rounds < rounds:
            return replace(offer, promised=costs, by="certificate")
    return offer


def measured(
    offer: Offer, target: float, seeds: int, budget: Budget | None = None, measure: str = "gap"
) -> Costs:
    """Run an offer and return its median costs to the target; NaN if it is not reached.

    A run ends at four times the promised rounds, and at the limits of the budget.
    """
    limits = budget or Budget()
    rounds = min(int(min(4 * offer.promised.rounds + 100, 1e9)), limits.rounds or 10**9)
    until = replace(limits, rounds=rounds).aimed(target, measure)
    trace = simulate(offer.experiment, seeds=seeds, budget=until)
    columns = ("uplink_bits", "downlink_bits", "rounds", "gradients")
    return Costs(*(float(np.median(trace.cost_to(target, column, measure))) for column in columns))


def promised_costs(promised: Promise, target: float, gradients: float | None = None) -> Costs:
    """Return the costs to a target that follow from a promise, with the gradients of a round.

    What the start of a run costs is among them.
    """
    rounds, cost = promised.rounds_to(target), promised.cost
    each = cost.uplink_bits, cost.downlink_bits, cost.gradients if gradients is None else gradients
    up, down, own = (a + rounds * b for a, b in zip(cost.begin, each, strict=True))
    return Costs(up, down, rounds, own)


def gradients_of_a_round(
    card: Card, experiment: Experiment[Any], cost: RoundCost
) -> tuple[float, bool]:
    """Return the mean gradients of a round, and whether they are those of the first rounds."""
    stated = card.gradients(experiment.method) if card.gradients else cost.gradients
    return (_sampled(experiment), True) if np.isnan(stated) else (stated, False)


def _sampled(experiment: Experiment[Any]) -> float:
    """Count the gradients of a round over the first rounds of one run, or bound them.

    Those of the start are left out.
    """
    method = experiment.method
    most = getattr(method, method.steps_of_a_round) if method.steps_of_a_round else 0
    problem = experiment.problem
    affordable = SAMPLED_WORK / (problem.n * getattr(problem, "m", problem.d) * problem.d)
    if most > affordable:
        return float(most)
    few = max(1.0, min(SAMPLED_GRADIENTS, affordable))
    budget = Budget(rounds=SAMPLED_ROUNDS, gradients=few)
    with use_extensions("never"):  # compiling takes longer
        trace = simulate(experiment, seeds=1, budget=budget)
    spent, rounds = (trace.columns[name] for name in ("gradients", "rounds"))
    return float((spent[-1] - spent[0]) / rounds[-1])


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
        few = tuple(certified(offer, self.target, self.measure) for offer in self.offers[:best])
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
    found = offers(problem, cards, sent, target, measure)
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
