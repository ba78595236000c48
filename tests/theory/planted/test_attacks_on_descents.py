"""No attack on certificates of descents gets one that is not true of its runs."""

from dataclasses import replace
from typing import ClassVar

import pytest
from attacks_on_descents import ATTACKS_ON_DESCENTS, Corrected, attack, smooth

from certibit.solvers.authoring import mean


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("attack", ATTACKS_ON_DESCENTS, ids=lambda attack: attack.name)
def test_an_attack_is_refused_or_gets_a_true_constant(attack):
    answer, fails = attack.answer()
    assert not fails, answer


class NearlyTheGradient(Corrected):
    """Steps along the gradient and 1e-9 of the step before."""

    name: ClassVar[str] = "a relation that nearly holds"

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.gamma * s.g)
        return replace(s, x=x, g=mean(channel.send(problem.grad(x))) + 1e-9 * s.g)


def test_a_relation_that_nearly_holds_proves_nothing():
    """As for gradient descent with gamma = 0.1, no c above 0.0975 is true of long runs."""
    answer, fails = attack(NearlyTheGradient(0.1, 0.4), smooth(2), "", 0.0976).answer()
    assert not fails, answer
