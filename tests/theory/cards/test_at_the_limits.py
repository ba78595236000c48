"""Every theorem is certified where its step size ends, with unlike clients and steep samples.

A condition that asks for too little, a potential with a smaller weight and a rate that is too good
are not certified.
"""

from dataclasses import fields, replace
from itertools import product

import pytest
from limits import broken_promises, settings_of

from certibit import CARDS, Card, Condition, RunTheorem
from certibit.theory.cards.gd import CARD as GD_CARD
from certibit.theory.cards.l_svrg import CARD as LSVRG_CARD, ReferencePoint

ONE_STEP = {
    name: card
    for name, card in CARDS.items()
    if any(not isinstance(each, RunTheorem) for each in card.about("potential", "squared_gradient"))
}
"""Those that promise something about a step."""

OTHER_NUMBERS = {("compressed-scaffnew", 1), ("tamuna", 1), ("compressed-gd", 4)}
"""An entry has two owners at least, and one client needs no average."""
CASES = [case for case in product(ONE_STEP, [1, 4]) if case not in OTHER_NUMBERS]


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(("name", "n"), CASES)
def test_promises_are_certified_at_the_largest_step(name, n):
    broken, count = broken_promises(ONE_STEP[name], n)
    assert broken == []
    assert count


@pytest.mark.long
@pytest.mark.parametrize(("name", "n"), CASES)
def test_promises_are_certified_at_every_limit(name, n):
    names = [field.name for field in fields(ONE_STEP[name].method)]
    where = next(settings_of(ONE_STEP[name], ONE_STEP[name].stated[0], n))
    method = ONE_STEP[name].at(where)
    real = [each for each in names if isinstance(getattr(method, each), float)]
    assert broken_promises(ONE_STEP[name], n, real)[0] == []


class LightReference(ReferencePoint):
    """The weight that is right where L_f = L only."""

    def lyapunov(self, m, s, star, setting, problem):
        distance, reference = super().lyapunov(m, s, star, setting, problem)
        return distance, replace(reference, weight=8 * setting.expected * m.gamma**2 / m.p)


class TwiceTheNoise(ReferencePoint):
    """Half of the share of the samples in the bound of the step."""

    def conditions(self, m, setting):
        limit = 1 / (setting.constants.L_f + 3 * setting.expected / setting.n)
        return (*super().conditions(m, setting)[:-1], Condition("gamma", m.gamma, limit))


class TwiceTheStep(type(GD_CARD.theorems[0])):
    """A step of 4/L_f."""

    def conditions(self, m, setting):
        (*others, last) = super().conditions(m, setting)
        return (*others, replace(last, right=2 * last.right))


@pytest.mark.parametrize(
    ("card", "theorem", "n"),
    [
        (LSVRG_CARD, LightReference(), 4),
        (LSVRG_CARD, TwiceTheNoise(), 1),
        (GD_CARD, TwiceTheStep(), 4),
    ],
)
def test_planted_what_holds_for_like_clients_only_is_seen(card, theorem, n):
    wrong = Card(card.method, theorems=(theorem,), rules=card.rules, roles=card.roles)
    assert broken_promises(wrong, n)[0]
