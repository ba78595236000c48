"""A card: which of its theorems hold, the method it makes, and what it refuses."""

from dataclasses import dataclass, replace

import pytest

from certibit import CARDS, GD, METHODS, SCAFFOLD, Condition, Quadratic, Refusal, Setting, Theorem
from certibit.theory.card import Card, Role

SETTING = Setting.of(GD, Quadratic.random(3, 4, mu=1.0, L=10.0))


@dataclass(frozen=True)
class Contraction(Theorem):
    """Some factor for gamma up to some limit."""

    limit: float
    factor: float

    def conditions(self, m, setting):
        return (Condition("gamma <= limit", m.gamma, self.limit),)

    def lyapunov(self, m, s, star, setting, problem):
        return ()

    def rate(self, m, setting):
        return self.factor


FIRST, SECOND, THIRD = Contraction(0.1, 0.9), Contraction(0.2, 0.8), Contraction(0.05, 0.5)
CARD = Card(GD, theorems=(FIRST, SECOND, THIRD), rules={"simple": lambda setting: GD(0.1)})


@pytest.mark.parametrize(
    ("gamma", "holding", "best", "potential"),
    [
        (0.04, (FIRST, SECOND, THIRD), THIRD, FIRST),
        (0.08, (FIRST, SECOND), SECOND, FIRST),
        (0.15, (SECOND,), SECOND, SECOND),
        (0.3, (), None, FIRST),
    ],
)
def test_theorems_that_hold(gamma, holding, best, potential):
    method = GD(gamma)
    assert CARD.holding(method, SETTING) == holding
    assert CARD.best_theorem(method, SETTING) == best
    assert CARD.potential(method, SETTING) == potential


def test_a_card_without_theorems():
    card, method = Card(GD), GD(0.1)
    assert (card.name, card.label, card.shares_masks) == ("gd", "gd", False)
    assert card.holding(method, SETTING) == ()
    assert card.best_theorem(method, SETTING) is card.potential(method, SETTING) is None


def test_values_take_the_place_of_a_rule_s():
    assert CARD.with_values(SETTING) == CARD.with_values(SETTING, "simple") == GD(0.1)
    assert CARD.with_values(SETTING, values={"gamma": 0.3}) == GD(0.3)
    assert Card(GD).with_values(SETTING, values={"gamma": 0.3}) == GD(0.3)
    scaffold = METHODS["scaffold"]
    ruled = scaffold.at(SETTING, "best")
    other = scaffold.with_values(SETTING, "best", {"traffic": "published"})
    assert other == replace(ruled, traffic="published")


@pytest.mark.parametrize(
    ("name", "rule", "told"),
    [
        ("5gcs-cc", "ours", {"cohort": 2}),
        ("scaffold", "best", {"K": 3, "m": 2}),
        ("tamuna", "best", {"s": 2, "m": 3}),
        ("fedcomgate", "damped", {"K": 2}),
        ("adiana", "published", {"variant": "II"}),
    ],
)
def test_a_rule_is_told_the_values_that_it_leaves_open(name, rule, told):
    card = METHODS[name]
    where = Setting.of(card.method, Quadratic.random(4, 6, mu=1.0, L=10.0))
    assert card.with_values(where, rule, told) == card.at(where, rule, **told)
    method = card.with_values(where, rule, told)
    assert card.holding(method, where)


@pytest.mark.parametrize(
    ("card", "rule", "values", "sentence"),
    [
        (CARD, "best", {}, "gd has no parameter rule 'best'; choose one of simple"),
        (Card(GD), None, {}, "gd has no rules .* no theorem of it .* give gamma with --set"),
        (Card(GD), "best", {"gamma": 0.1}, "gd has no rules .* give each"),
        (Card(SCAFFOLD), None, {"K": 3, "eta_g": 1.0}, "give eta_l, m with --set"),
    ],
)
def test_what_cannot_be_made_is_refused(card, rule, values, sentence):
    with pytest.raises(Refusal, match=sentence):
        card.with_values(SETTING, rule, values)


def test_a_role_of_no_parameter_is_refused():
    with pytest.raises(Refusal, match="card of gd gives 'eta' a role; its parameters are gamma"):
        Card(GD, roles={"eta": Role.STEP_SIZE})


def test_the_step_size_is_the_one_with_the_role_or_a_usual_name():
    assert Card(GD).step_size == "gamma"
    assert Card(SCAFFOLD).step_size == "eta_l"
    assert Card(SCAFFOLD, roles={"eta_g": Role.STEP_SIZE}).step_size == "eta_g"

    @dataclass(frozen=True)
    class Unusual(GD):
        pace: float = 1.0

    assert Card(Unusual, roles={"pace": Role.STEP_SIZE}).step_size == "pace"
    assert METHODS["adiana"].step_size == "eta"
    assert all(card.step_size is not None for card in CARDS.values())


def test_owners_share_masks():
    sharing = {name for name, card in METHODS.items() if card.shares_masks}
    assert sharing == {"compressed-scaffnew", "tamuna"}


@pytest.mark.parametrize(
    ("measure", "defined", "match"),
    [
        ("gaps", "descent", "has the measure 'gaps'; take potential or gap"),
        ("potential", "descent", "has the measure 'potential' and no rate; define rate"),
        ("gap", "rate", "has the measure 'gap' and no descent; define descent"),
        ("gap", "descent", None),
    ],
)
def test_a_theorem_promises_what_its_measure_asks_for(measure, defined, match):
    """No check looked at one with a measure that is none."""
    parts = {name: getattr(Contraction, name) for name in ("conditions", "lyapunov")}
    own = type("Own", (Theorem,), {
        **parts, "title": "own", "measure": measure, defined: lambda self, m, setting: 0.5,
    })()  # fmt: skip
    if match is None:
        assert Card(GD, theorems=(own,)).about(measure) == (own,)
        return
    with pytest.raises(Refusal, match=match):
        Card(GD, theorems=(own,))
