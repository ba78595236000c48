"""No attack on certificates of descents gets one that is not true of its runs."""

import pytest
from attacks_on_descents import ATTACKS_ON_DESCENTS


@pytest.mark.parametrize("attack", ATTACKS_ON_DESCENTS, ids=lambda attack: attack.name)
def test_an_attack_is_refused_or_gets_a_true_constant(attack):
    answer, fails = attack.answer()
    assert not fails, answer
