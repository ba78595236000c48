"""No attack on certificates gets a certificate that is not true of its runs."""

from dataclasses import replace

import pytest
from attacks import ATTACKS, POTENTIALS, Attack, TwiceEF21
from attacks_on_descents import ATTACKS_ON_DESCENTS, Corrected, smooth
from small_methods import Psi

from certibit import EF21, GD, METHODS, Refusal, Setting, Squares, certify, check, mean, one_step
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.function_class import FunctionClass

ALL = [*ATTACKS, *ATTACKS_ON_DESCENTS]
BY_NAME = {attack.method.name: attack for attack in ALL}
FIVE = ["parallel", "client 150", "a step of 1/d", "a diagonal preconditioner", "far threshold"]
"""Five of the six methods that were certified before; the sixth contracts one vector twice."""


def test_attacks_have_names_of_their_own():
    assert len(BY_NAME) == len(ALL)


@pytest.mark.long(keep=24)
@pytest.mark.parametrize("attack", ALL, ids=lambda attack: attack.method.name)
def test_an_attack_is_refused_or_gets_true_numbers(attack):
    answer, fails = attack.answer()
    assert not fails, answer


@pytest.mark.parametrize(("vectors", "sentence"), POTENTIALS.values(), ids=list(POTENTIALS))
def test_a_potential_that_is_no_form_of_the_state_is_refused(vectors, sentence):
    psi = Psi(lambda m, s, star, f, n: (Squares(1.0, vectors(s.x - star.x, f)),))
    with pytest.raises(Refusal, match=sentence):
        certify(GD(0.05), FunctionClass(3, 1.0, 10.0), potential=psi)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("name", FIVE)
def test_a_check_promises_nothing_of_it(name):
    attack = BY_NAME[name]
    found = check(attack.method, Quadratic.random(3, 4, mu=1.0, L=10.0), seeds=1, iterations=50)
    assert "has no certificate" in found.unpromised
    assert all(promised.theorem is None for promised in found.promised)


TOP, DRAWN = compressor("top-k:1"), compressor("scaled(rand-k:1)")


@pytest.mark.long(keep=1)
def test_two_contractions_are_equal_only_of_compressors_that_draw_nothing():
    """The certificate says so where it says something, and is then that of EF21 itself."""
    method, settings = TwiceEF21(0.0025), []
    for sent in (TOP, DRAWN):
        problem = Quadratic.random(10, 2, mu=1.0, L=50.0, seed=0)
        settings.append(Setting.of(method, problem, sent))
    classes = [replace(FunctionClass.of(where), L_f=None) for where in settings]
    assert [one.deterministic for one in classes] == [True, False]
    equal, drawn = (certify(method, one) for one in classes)
    assert "deterministic contractions" in repr(equal)
    assert equal.decrease > 0
    assert equal.verify()
    assert drawn.decrease < 0
    once = certify(EF21(0.0025), classes[0], potential=equal.potential)
    assert not once.functions.deterministic
    assert once.decrease == pytest.approx(equal.decrease, rel=1e-6)


@pytest.mark.parametrize(("sent", "apart"), [(TOP, False), (DRAWN, True)], ids=["top", "drawn"])
def test_the_exact_step_and_runs_agree(sent, apart):
    """Where messages are drawn, their difference has a variance, and runs diverge."""
    problem = Quadratic.random(10, 2, mu=1.0, L=50.0, seed=0)
    experiments = [Experiment.of(m(0.0025), problem, sent) for m in (EF21, TwiceEF21)]
    potential = METHODS["ef21"].theorems[0]
    state = experiments[0].method.fixed_point(problem)
    state = replace(state, x=state.x + 1.0)
    once, twice = (one_step(one, potential, state).expected for one in experiments)
    assert (twice > 2 * once) == apart
    if not apart:
        assert twice == pytest.approx(once, rel=1e-9)


class NearlyTheGradient(Corrected):
    """Steps along the gradient and 1e-9 of the step before."""

    name = "a relation that nearly holds"

    def communicate(self, s, problem, channel):
        x = channel.broadcast(s.x - self.gamma * s.g)
        return replace(s, x=x, g=mean(channel.send(problem.grad(x))) + 1e-9 * s.g)


def test_a_relation_that_nearly_holds_proves_nothing():
    """As for gradient descent with gamma = 0.1, no c above 0.0975 is true of long runs."""
    answer, fails = Attack(NearlyTheGradient(0.1, 0.4), smooth(2), "", 0.0976).answer()
    assert not fails, answer
