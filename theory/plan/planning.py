"""A plan: every offer on one problem, ranked by the seconds on a network."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from certibit.data.errors import Refusal
from certibit.data.problem import Problem, is_strongly_convex
from certibit.solvers.clock.network import Network, network_named
from certibit.solvers.compressors.base import Compressor
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.libraries import host
from certibit.solvers.runs.budget import Budget
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.catalogue.from_file import find_card
from certibit.theory.plan.crossover import Reign, reigns
from certibit.theory.plan.offers import Costs, Offer, certified, measured, offers, usual_compressors

BEST = 5
"""Default number of offers that are certified, or measured."""


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The promised costs of every method on one problem; returned by :func:`plan`.

    Attributes
    ----------
    problem : Problem
        The problem.
    target : float
        The accuracy f - f*.
    network : Network
        What seconds are modelled on: the link and the speed of the slowest client.
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
    network: Network
    offers: tuple[Offer, ...]

    @property
    def best(self) -> Offer:
        """The offer with the fewest promised seconds."""
        return self.offers[0]

    def on(self, network: Network) -> "Plan":
        """Return the same offers ranked on another network."""
        on = network.slowest(self.problem.n)
        return replace(self, network=on, offers=_ranked(self.offers, on))

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
        return {offer.name: measured(offer, self.target, seeds, budget) for offer in few}

    def certified(self, best: int = BEST) -> "Plan":
        """Return the plan with certified costs for the best few, where these are smaller.

        Raises
        ------
        Refusal
            If the solver is not installed.
        """
        few = tuple(certified(offer, self.target) for offer in self.offers[:best])
        return replace(self, offers=_ranked((*few, *self.offers[best:]), self.network))

    def __repr__(self) -> str:
        return f"Plan of {len(self.offers)} offers for {self.problem}\non {self.network}"


def plan(
    problem: Problem,
    *,
    target: float = 1e-6,
    network: Network | str = "lte",
    methods: Sequence[str] | None = None,
    compressors: Sequence[Compressor | str] | None = None,
) -> Plan:
    """Compute the costs that theorems promise for every method on a problem, without a run.

    Parameters
    ----------
    problem : Problem
        Strongly convex. Where there are no data, ``quadratic:d=<d>@<n>`` with a kappa.
    target : float
        The accuracy f - f*.
    network : Network or str
        What seconds are modelled on, or its name: ``lte``, ``dsl``, ``lan``, ``sensor``, or in
        words such as ``lan,spread=lognormal:1``. The slowest client counts, as in the plan.
    methods : sequence of str, optional
        Names of the catalogue, or ``path/to/file.py`` with a card; by default, all methods with
        theorems for strongly convex problems.
    compressors : sequence, optional
        By default, natural, l1, and rand-k, rand-k+natural and top-k with a few k.

    Raises
    ------
    Refusal
        If the problem is not strongly convex, the target is not below f - f* at the start, a name
        is unknown, or no theorem applies to any pair.

    Examples
    --------
    >>> from certibit import plan, problem
    >>> made = plan(problem("quadratic:d=100@10", kappa=1e4), target=1e-3, network="sensor",
    ...             methods=["agd", "locodl"])
    >>> made.crossover()[-1].offer.pair
    'agd'
    """
    if not is_strongly_convex(problem):
        raise Refusal(
            f"{problem.name} is not strongly convex, and what is promised needs mu > 0; leave "
            "nonconvex out, or compare methods by certibit compare"
        )
    start = float(host(problem.gap(problem.x_0)).max())
    if not 0 < target < start:
        raise Refusal(f"the target f - f* = {target:g}; give one between 0 and {start:.3g}")
    on = network_named(network) if isinstance(network, str) else network
    on = on.slowest(problem.n)
    cards = METHODS.values() if methods is None else [find_card(name) for name in methods]
    sent = (
        usual_compressors(problem.n, problem.d)
        if compressors is None
        else [compressor(each) if isinstance(each, str) else each for each in compressors]
    )
    found = offers(problem, cards, sent, target)
    if not found:
        raise Refusal(
            "no theorem promises anything about these methods with these compressors; "
            "name others, or leave them out"
        )
    return Plan(problem, target, on, _ranked(found, on))


def _ranked(found: Sequence[Offer], network: Network) -> tuple[Offer, ...]:
    """Return the best rule of every method with every compressor, the fastest first."""
    best: dict[str, Offer] = {}
    for offer in sorted(found, key=lambda offer: offer.promised.seconds(network)):
        best.setdefault(offer.pair, offer)
    return tuple(best.values())
