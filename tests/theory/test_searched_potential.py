"""Certificates of a method without a theorem: its potential is searched for, or given by hand."""

from dataclasses import dataclass

import pytest

from bitbound.data.errors import Refusal
from bitbound.solvers.methods.diana import DIANA
from bitbound.solvers.methods.gd import GD
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.potentials import SquaresOfState, best_start
from bitbound.theory.certificates.summary import account, class_setting
from bitbound.theory.function_class import FunctionClass
from bitbound.theory.potential import Squares
from bitbound.theory.theorems.catalogue import METHODS, card_of


@dataclass(frozen=True)
class MyDIANA(DIANA):
    name = "my-diana"


def without_theorem(n, kappa):
    """Return DIANA, the same as a user's own without a card, and the setting."""
    card = METHODS["diana"]
    where = class_setting(card.method, n, kappa, 3.0, None, 1)
    method = card.at(where)
    own = MyDIANA(**vars(method))
    assert not card_of(own).theorems
    return method, own, where


@pytest.mark.parametrize(("n", "kappa"), [(1, 10.0), (5, 100.0)])
def test_the_search_is_as_good_as_the_published_potential(n, kappa):
    method, own, where = without_theorem(n, kappa)
    published, found = certify(method, where, weights="free"), certify(own, where)
    assert found.decrease >= 0.99 * published.decrease > 0
    assert found.verify() == found.factor


def test_a_search_starts_from_the_best_of_those_that_can_be_certified():
    _, own, where = without_theorem(3, 10.0)
    functions = FunctionClass.of(where)

    def judge(method, functions, potential):
        if not potential.values:
            raise Refusal("no")
        return -sum(potential.weights)

    found = best_start(own, functions, judge)
    assert found == SquaresOfState((0.01, 0.01, 0.01), values=True)


class DistanceAndShifts:
    """|x - x*|^2 + sum_i |h_i - grad f_i(x*)|^2, with weights to be found."""

    def lyapunov(self, m, s, star, setting, problem):
        return Squares(1.0, s.x - star.x), Squares(1.0, s.h - star.h)


def test_a_potential_by_hand():
    method, own, where = without_theorem(5, 10.0)
    published = METHODS["diana"].theorems[0]
    assert certify(own, where, potential=published).decrease == certify(method, where).decrease
    free = certify(own, where, weights="free", potential=DistanceAndShifts())
    fixed = certify(own, where, potential=DistanceAndShifts())
    assert fixed.decrease < 0.9 * free.decrease
    assert free.decrease == pytest.approx(certify(method, where, weights="free").decrease, rel=1e-3)


def test_an_account_without_a_theorem():
    _, own, where = without_theorem(3, 10.0)
    found = account(card_of(own), own, where)
    assert (found.title, found.verdict) == (None, "no theorem applies")
    assert found.certificate.factor < 1
    assert found.largest_step > own.gamma
    assert found.attained.factor <= found.certificate.factor + 1e-9


def test_the_reason_of_the_first_start_is_told():
    @dataclass(frozen=True)
    class Sloped(GD):
        name = "sloped"

        def communicate(self, s, problem, channel):
            after = super().communicate(s, problem, channel)
            return type(s)(after.x + 0.01 * abs(s.x - after.x))

    with pytest.raises(Refusal, match="the step of sloped is not linear"):
        certify(Sloped(0.1), class_setting(GD, 2, 10.0, None, None, 1))
