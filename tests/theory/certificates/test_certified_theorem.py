"""A certificate as a theorem holds where it was computed, and for no wider class."""

from dataclasses import replace

import pytest

from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.certificates.certified_theorem import searched_theorem
from certibit.theory.certificates.summary import class_setting

CASES = {"gd": None, "diana": 3.0, "ef21": 3.0}


@pytest.mark.parametrize("name", CASES)
def test_it_holds_in_its_own_setting_and_in_no_wider_one(name):
    card = CARDS[name]

    def where(n=3, kappa=10.0, more=0.0):
        omega = None if CASES[name] is None else CASES[name] + more
        return class_setting(card.method, n, kappa, omega, None, 1)

    method = card.at(where())
    theorem = searched_theorem(method, where())
    assert theorem.unmet(method, where()) == ()
    assert 0 < theorem.rate(method, where()) < 1
    assert theorem.unmet(method, where(kappa=5.0)) == ()
    wider = {"n <=": where(n=4), "<= n": where(n=2), "L <=": where(kappa=11.0)}
    if CASES[name]:
        wider[{"diana": "omega", "ef21": "alpha"}[name]] = where(more=1.0)
    for said, setting in wider.items():
        (unmet,) = theorem.unmet(method, setting)
        assert said in unmet.statement
    (unmet,) = theorem.unmet(replace(method, gamma=method.gamma / 2), where())
    assert "parameters" in unmet.statement
