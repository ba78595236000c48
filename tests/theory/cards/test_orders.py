"""The fewest rounds that a card promises grow at most as its leading orders say.

One of kappa, n and 1 + omega grows by a factor of 100. That runs need no more than is promised is
what the checks of whole runs are about.
"""

import math

import pytest

from certibit import METHODS, Every, compressor
from certibit.theory.certificates.search import setting

TOLERANCE = 0.06
"""How far an exponent may be above that of the orders: smaller terms vary a little."""
SENT = {"unbiased": "rand-k:10", "contractive": "scaled(rand-k:10)", None: None}
DOWN = {"unbiased": "natural", "contractive": SENT["contractive"]}
GROWING = {
    "kappa": lambda x: {"kappa": 1e4 * x},
    "n": lambda x: {"n": x},
    "1 + omega": lambda x: {"d": 10 * x},
}
EXCEPTIONS = {("econtrol", "1 + omega")}
"""The step of the rule is shorter than the published one."""
CARDS = [name for name, card in METHODS.items() if card.about("potential")]


def promised_and_ordered(card, n=10, kappa=1e8, d=100):
    needs, sent = card.method.needs, SENT[card.method.needs.compressor]
    if needs.downlink:
        sent = f"two-way({sent};{DOWN[needs.downlink]})"
    where, rounds = setting(n, 1.0, kappa, d, sent and compressor(sent)), []
    for rule in card.rules:
        try:
            method = card.at(where, rule)
        except ValueError:  # a rule for uncompressed messages
            continue
        theorem, schedule = card.best_theorem(method, where), method.schedule
        p = 1 / schedule.iterations if isinstance(schedule, Every) else schedule.p
        rounds.append(p / (1 - theorem.rate(method, where)) if theorem else math.inf)
    omega = n / 2 - 1 if card.shares_masks else d / 10 - 1 if sent else 0.0
    return min(rounds), card.orders.rounds(n, d, kappa, omega, where.alpha_down)


@pytest.mark.parametrize("quantity", GROWING)
@pytest.mark.parametrize("name", CARDS)
def test_promised_rounds_grow_as_the_orders_say(name, quantity):
    few, many = (promised_and_ordered(METHODS[name], **GROWING[quantity](x)) for x in (100, 10_000))
    promised, ordered = (math.log(b / a, 100) for a, b in zip(few, many, strict=True))
    assert promised <= ordered + TOLERANCE or (name, quantity) in EXCEPTIONS
