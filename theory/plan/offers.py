"""The promised costs of every method with every compressor on one problem."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.problem import StronglyConvexProblem
from certibit.data.quiet_machine import quiet_machine
from certibit.solvers.compressors.base import Compressor, Identity
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.network import Network
from certibit.solvers.registry import use_extensions
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import simulate
from certibit.solvers.simulation.experiment import ConvexExperiment, Experiment
from certibit.solvers.total_bits import total_bits
from certibit.theory.card import Card
from certibit.theory.certificates.certified_theorem import CertifiedTheorem
from certibit.theory.certificates.certify import certify
from certibit.theory.checks.method.promise import Promise, RoundCost, promise, round_cost
from certibit.theory.function_class import FunctionClass
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
    experiment: ConvexExperiment
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


def offers(
    problem: StronglyConvexProblem,
    cards: Iterable[Card],
    compressors: Iterable[Compressor],
    target: float,
) -> tuple[Offer, ...]:
    """Return the offers of all methods, rules and compressors that fit and have a theorem."""
    compressors = tuple(compressors)
    with quiet_machine():  # threads of BLAS only wait for each other here
        found = [
            _offer(problem, card, rule, sent, target)
            for card in cards
            for sent in (compressors if card.method.needs.compressor else (None,))
            for rule in card.rules
        ]
    return tuple(offer for offer in found if offer is not None)


def certified(offer: Offer, target: float) -> Offer:
    """Return an offer with the costs that its certificate proves, where these are smaller."""
    setting = Setting.at(offer.experiment)
    method = offer.experiment.method
    try:
        proved = certify(method, FunctionClass.of(setting), weights="free")
        promised = promise(CertifiedTheorem(proved), offer.experiment)
    except (Refusal, ArithmeticError):
        return offer
    gradients = offer.promised.gradients - promised.cost.begin[2]
    costs = promised_costs(promised, target, gradients / offer.promised.rounds)
    if not costs.rounds < offer.promised.rounds:
        return offer
    return replace(offer, promised=costs, by="certificate")


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


def _offer(
    problem: StronglyConvexProblem, card: Card, rule: str, sent: Compressor | None, target: float
) -> Offer | None:
    """Return the strongest promise; None if parts do not fit, or no theorem holds."""
    try:
        method = card.parameters(problem, sent, rule)
    except Refusal:
        return None
    experiment = Experiment.of(method, problem, sent)
    setting = Setting.at(experiment)
    held = [one for one in card.about("potential", "gap") if not one.unmet(method, setting)]
    if not held:
        return None
    cost = round_cost(experiment)
    promises = {theorem.title: promise(theorem, experiment, cost) for theorem in held}
    by = min(promises, key=lambda title: promises[title].rounds_to(target))
    if not np.isfinite(promises[by].rounds_to(target)):
        return None
    gradients, sampled = gradients_of_a_round(card, experiment, cost)
    costs = promised_costs(promises[by], target, gradients)
    return Offer(card, rule, experiment, costs, by, sampled)


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
