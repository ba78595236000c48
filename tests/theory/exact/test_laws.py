"""Laws: closed forms of best steps and rates, exact at rational points, and nothing is better."""

from dataclasses import replace
from fractions import Fraction

import pytest

from bitbound.data.errors import Refusal
from bitbound.theory.certificates.certify import certify
from bitbound.theory.certificates.decrease import solver_decrease
from bitbound.theory.formulas.error_feedback import best_feedback_factor, best_feedback_step
from bitbound.theory.laws.diana_law import DIANA_LAW
from bitbound.theory.laws.feedback_laws import EF21_LAW, EF_LAW, feedback_numbers

LAWS = [EF_LAW, EF21_LAW, DIANA_LAW]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_law_holds_at_all_its_points(law):
    """For one client, for two and for a thousand, without a tolerance."""
    assert {1000, 2} <= {point[0] for point in law.points}
    assert law.witness() is None


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_little_more_is_not_proved(law):
    proof = law.proof(*law.points[0])
    assert proof.verify()
    more = proof.decrease * (1 + Fraction(1, 10**12))
    assert not replace(proof, decrease=more).verify()
    factor = 1 + Fraction(1, 10**9)
    changed = {name: y * factor for name, y in proof.multipliers.items()}
    assert not replace(proof, multipliers=changed).verify()
    longer = replace(proof.method, gamma=proof.method.gamma * 1.001)
    assert not replace(proof, method=longer).verify()
    planted = replace(law, proof=lambda *point: replace(law.proof(*point), decrease=more))
    assert planted.witness() == law.points[0]


@pytest.mark.parametrize("law", [EF_LAW, EF21_LAW], ids=lambda law: law.name)
def test_no_potential_that_is_found_is_better(law):
    for n, kappa, s in law.points[2:12:4]:
        proof = law.proof(n, kappa, s)
        found = certify(proof.method, proof.functions, potential="search").decrease
        assert float(proof.decrease) * (1 - 5e-3) <= found <= float(proof.decrease) * (1 + 1e-6)


@pytest.mark.parametrize("point", DIANA_LAW.points[::2], ids=str)
def test_dianas_best_step_is_the_best(point):
    """With the best weights of its potential, a step that is 2 % off is slower."""
    proof = DIANA_LAW.proof(*point)

    def best(factor):
        method = replace(proof.method, gamma=factor * proof.method.gamma)
        return solver_decrease(method, proof.functions, proof.potential, "free")

    assert best(1.0) == pytest.approx(float(proof.decrease), rel=1e-5)
    assert max(best(0.98), best(1.02)) < 0.995 * best(1.0)


def test_the_formulas_are_those_of_the_theorems():
    for _, kappa, s in EF_LAW.points:
        step, _, decrease = feedback_numbers(kappa, s)
        constants = 1.0, float(kappa), float(1 - s**2)
        assert best_feedback_step(*constants) == pytest.approx(float(step), rel=1e-12)
        assert 1 - best_feedback_factor(*constants) == pytest.approx(float(decrease), rel=1e-9)
    with pytest.raises(Refusal, match="irrational at kappa = 10"):
        feedback_numbers(Fraction(10), Fraction(1, 2))
