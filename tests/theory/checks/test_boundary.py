"""Hypotheses at their boundary: what is kept there, and what is refused."""

import pytest

from certibit.data.errors import Refusal
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.method import boundary
from certibit.theory.checks.method.boundary import at_the_boundary, boundaries
from certibit.theory.theorem import Condition


def of(name, number=0):
    card = METHODS[name]
    return card.about("potential")[number], card


def test_the_boundary_is_where_the_hypothesis_ends():
    theorem, card = of("gd")
    found = list(boundaries(theorem, card, "1/L", kappas=(10.0,)))
    assert {point.parameter for point in found} == {"gamma"}
    for point in found:  # gamma = 2/L_f just holds, with the factor 1
        assert point.rate == pytest.approx(1, abs=1e-7)
        assert point.kept
    verdict = at_the_boundary(theorem, card, "1/L")
    assert verdict.holds
    assert verdict.note.startswith("gamma = ")


def test_a_promise_of_growth_is_none():
    class Lax(GradientDescent):
        def conditions(self, m, setting):
            return (Condition("gamma < 4/L_f", m.gamma, 4 / setting.constants.L_f),)

    grows = list(boundaries(Lax(), METHODS["gd"], "1/L", kappas=(10.0,)))
    assert grows
    for point in grows:  # the rate is true, but it is above 1
        assert point.worst <= point.rate * (1 + 1e-9)
        assert not point.kept


@pytest.mark.parametrize("broken", [False, True])
def test_a_refusal_at_one_point_leaves_the_others(monkeypatch, broken):
    """One undecided rank made the whole check "not tested", broken promises elsewhere or not."""
    theorem, card = of("gd")
    known, calls = boundary.promised_and_worst, []

    def at_first_refused(*where):
        calls.append(where)
        if len(calls) == 1:
            raise Refusal("a rank is undecided")
        rate, worst = known(*where)
        return rate, worst * (1 + broken * (len(calls) == 2))

    monkeypatch.setattr(boundary, "promised_and_worst", at_first_refused)
    verdict = at_the_boundary(theorem, card, "1/L")
    assert verdict.holds != broken
    assert verdict.note.endswith("1 of 4 points are refused")
    monkeypatch.setattr(boundary, "promised_and_worst", always_refused)
    with pytest.raises(Refusal, match="a rank is undecided"):
        at_the_boundary(theorem, card, "1/L")


def always_refused(*where):
    raise Refusal("a rank is undecided")


def test_a_rule_that_never_meets_the_theorem_checks_nothing():
    theorem, card = of("fedcomgate")
    with pytest.raises(Refusal, match="bounds a real parameter of the rule 'published'"):
        at_the_boundary(theorem, card, "published")


def test_a_theorem_without_compression_is_tried_without():
    theorem, card = of("5gcs-cc")
    assert at_the_boundary(theorem, card, "5gcs").holds
