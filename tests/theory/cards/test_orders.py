"""The fewest rounds that a card promises grow at most as its leading orders say.

One of kappa, n and 1 + omega grows by a factor of 100. That runs need no more than is promised is
what the checks of whole runs are about.
"""

import math
from itertools import product

import numpy as np
import pytest

from certibit import METHODS, Every, compressor
from certibit.theory.card import LOWER_BOUND, ORIGINAL_ADIANA, Order
from certibit.theory.certificates.search import setting
from certibit.theory.formulas.leading_orders import CASES, leading_order

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


FORMULAS = sorted(
    {ORIGINAL_ADIANA.formula, LOWER_BOUND.rounds.formula, LOWER_BOUND.reals.formula}
    | {one.formula for card in METHODS.values() if card.orders
       for one in (card.orders.rounds, card.orders.reals)}
)  # fmt: skip
LARGE = np.array([1.0, 1e2, 1e5, 1e9])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("formula", FORMULAS)
def test_an_order_without_what_is_exceeded_is_the_order(formula, case):
    """Within a factor of the number of monomials, over 18 decades and more."""
    short = Order(leading_order(formula, case))
    for n, d, kappa, variance, alpha in product(LARGE, LARGE, LARGE, LARGE / 1e5, 1 / LARGE[:3]):
        fewer = min(n, d) if case == "n = O(d)" else n
        omega = {"omega = O(n)": min(variance, n), "omega = Theta(n)": n}.get(case, variance)
        whole, rest = (one(fewer, d, kappa, omega, alpha) for one in (Order(formula), short))
        assert rest <= 16 * whole
        assert whole <= 16 * rest


PUBLISHED = {
    ("diana", "omega = O(n)"): "kappa + omega",
    ("diana", "n = O(d)"): "d/n*kappa + d",
    ("ef21", "omega = O(n)"): "(1 + omega)*kappa",
    ("ef21", "n = O(d)"): "d*kappa",
    ("5gcs-cc", "omega = O(n)"): "(1 + sqrt(omega))*sqrt(kappa) + omega",
    ("5gcs-cc", "n = O(d)"): "d/sqrt(n)*sqrt(kappa) + d",
    ("adiana", "omega = O(n)"): "(1 + omega/sqrt(n))*sqrt(kappa) + omega",
    ("adiana", "omega = Theta(n)"): "(1 + sqrt(omega))*sqrt(kappa) + omega",
    ("adiana", "n = O(d)"): "d/sqrt(n)*sqrt(kappa) + d",
    ("compressed-scaffnew", "n = O(d)"): "d/sqrt(n)*sqrt(kappa) + d",
    ("fedcomgate", "n = O(d)"): "d*kappa",
    ("locodl", "omega = O(n)"): "(1 + sqrt(omega))*sqrt(kappa) + omega",
    ("locodl", "omega = Theta(n)"): "(1 + sqrt(omega))*sqrt(kappa) + omega",
    ("locodl", "n = O(d)"): "d/sqrt(n)*sqrt(kappa) + d",
}
"""Of Tables 1 and 2 of the LoCoDL paper."""


@pytest.mark.parametrize(("name", "case"), PUBLISHED)
def test_orders_of_the_cases_are_those_of_the_paper(name, case):
    orders = METHODS[name].orders
    own = leading_order((orders.reals if case == "n = O(d)" else orders.rounds).formula, case)
    assert own == leading_order(PUBLISHED[name, case], case)


def test_the_original_analysis_of_adiana_is_worse_for_few_clients():
    few, many = (leading_order(ORIGINAL_ADIANA.formula, case) for case in list(CASES)[1:3])
    assert few == "sqrt(kappa) + omega + sqrt(kappa)*omega**(3/4)/n**(1/4)"
    assert many == leading_order(METHODS["adiana"].orders.rounds.formula, "omega = Theta(n)")
