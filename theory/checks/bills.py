"""What a round costs by the published accounting, against what the code spends on the channel."""

from bitbound.solvers.world.experiment import ConvexExperiment
from bitbound.theory.card import Card
from bitbound.theory.checks.promise import round_cost
from bitbound.theory.checks.walk import EXACT
from bitbound.theory.verdict import Verdict


def bill_check(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that a round costs what it should; None for a method whose card has no bill."""
    n, d = experiment.n, experiment.d
    if card.bill is None:
        return None
    spent = round_cost(experiment)
    up, down = card.bill(experiment.method, n, 32 * d, experiment.compressor.bits(d))
    off = max(abs(spent.uplink_bits - up), abs(spent.downlink_bits - down))
    note = f"{up:,.6g} up, {down:,.6g} down"
    return Verdict("bits of a round as published", off / (1 + max(up, down)), EXACT, note)
