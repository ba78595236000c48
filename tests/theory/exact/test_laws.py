"""Laws: closed forms of best steps and rates, exact at rational points, and nothing is better."""

import math
from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.solvers.methods import ef, ef21
from certibit.solvers.methods.ef import EF
from certibit.theory.assumptions.client_class import ClientClass
from certibit.theory.cards.ef import Feedback
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.decrease import best_decrease
from certibit.theory.exact.long_run import slowest_decrease
from certibit.theory.formulas.error_feedback import best_feedback_factor, best_feedback_step
from certibit.theory.function_class import FunctionClass
from certibit.theory.laws.class_laws import (
    EF21_LAW_OF_CLASSES,
    EF_LAW_OF_CLASSES,
    ByClass,
    class_moments,
    factor_of_classes,
    polynomial,
)
from certibit.theory.laws.diana_law import DIANA_LAW
from certibit.theory.laws.feedback_laws import (
    EF21_LAW,
    EF_LAW,
    feedback_numbers,
)
from certibit.theory.laws.locodl_law import LOCODL_LAW
from certibit.theory.quadratic_potential import Reweighted

LAWS = [EF_LAW, EF21_LAW, DIANA_LAW, LOCODL_LAW]
LAWS_OF_CLASSES = [EF_LAW_OF_CLASSES, EF21_LAW_OF_CLASSES]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("law", [*LAWS, *LAWS_OF_CLASSES], ids=lambda law: law.name)
def test_a_law_holds_at_all_its_points(law):
    """For one client, for two and for a thousand, without a tolerance."""
    assert {1000, 2} <= {point[0] for point in law.points}
    assert law.witness() is None


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("law", [*LAWS, *LAWS_OF_CLASSES], ids=lambda law: law.name)
def test_a_little_more_is_not_proved(law):
    proof = law.proof(*law.points[0])
    assert proof.verify() < math.inf
    more = proof.exact * (1 + Fraction(1, 10**12))
    assert replace(proof, exact=more).verify() == math.inf
    factor = 1 + Fraction(1, 10**9)
    changed = {name: y * factor for name, y in proof.multipliers.items()}
    assert replace(proof, multipliers=changed).verify() == math.inf
    longer = replace(proof.method, gamma=proof.method.gamma * 1.001)
    assert replace(proof, method=longer).verify() == math.inf
    planted = replace(law, proof=lambda *point: replace(law.proof(*point), exact=more))
    assert planted.witness() == law.points[0]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("law", [EF_LAW, EF21_LAW], ids=lambda law: law.name)
def test_no_potential_that_is_found_is_better(law):
    for n, kappa, s in law.points[2:12:4]:
        proof = law.proof(n, kappa, s)
        found = certify(proof.method, proof.functions, potential="search").decrease
        assert float(proof.decrease) * (1 - 5e-3) <= found <= float(proof.decrease) * (1 + 1e-6)


class TooLong:
    """A client with f(x) = h x^2/2, whose messages are too long by the factor 1 + s."""

    n = 1

    def __init__(self, h, s):
        self.h, self.s = h, s

    def grad(self, x):
        return self.h * x

    def uplink(self, v):
        return (1 + self.s) * v

    def broadcast(self, v):
        return v


def step_matrix(method, h, s):
    """Return what a step of the class that runs does to two unit states, in rational numbers."""
    x, own = (np.array([[[Fraction(k), Fraction(1 - k)]]], dtype=object) for k in (1, 0))
    world = TooLong(h, s)
    state = ef.State(x, own) if isinstance(method, EF) else ef21.State(x, own, own)
    after = method.communicate(state, world, world)
    return [list(getattr(after, field.name)[0, 0]) for field in fields(after)[:2]]


def attained_polynomial(rho, step, h, s):
    """Return what is 0 where rho is the square of an eigenvalue, f = h x^2/2 and C = 1 + s."""
    trace = 1 - s - (1 + s) * step * h
    return (rho - s) ** 2 - trace**2 * rho


@pytest.mark.parametrize("law", [EF_LAW, EF21_LAW], ids=lambda law: law.name)
def test_the_law_is_attained(law):
    """In rational numbers, for all potentials: at mu and at L, and not with another step."""
    for _, kappa, s in law.points:
        step, _, decrease = feedback_numbers(kappa, s)
        method = type(law.proof(1, kappa, s).method)
        for h in (Fraction(1), kappa):
            exact = np.full((1, 1, 1), step, dtype=object)  # a number would become a float
            (a, b), (c, d) = step_matrix(method(exact), h, s)
            trace, determinant = a + d, a * d - b * c
            assert determinant == -s
            assert trace**2 == (1 - s - (1 + s) * step * h) ** 2
            rho = 1 - decrease
            # r^2 - |trace| r - s = 0 for r = sqrt(rho)
            assert rho > s
            assert (rho - s) ** 2 == trace**2 * rho
            assert attained_polynomial(rho, step, h, s) == 0
            assert attained_polynomial(rho * (1 - Fraction(1, 10**12)), step, h, s) < 0
        for factor in (Fraction(999, 1000), Fraction(1001, 1000)):
            ends = (attained_polynomial(rho, factor * step, h, s) for h in (Fraction(1), kappa))
            assert min(ends) < 0  # the factor of one of them is larger


@pytest.mark.parametrize("point", DIANA_LAW.points[::2], ids=str)
def test_dianas_best_step_is_the_best(point):
    """With the best weights of its potential, a step that is 2 % off is slower."""
    proof = DIANA_LAW.proof(*point)

    def best(factor):
        method = replace(proof.method, gamma=factor * proof.method.gamma)
        return best_decrease(method, proof.functions, proof.potential, "free")

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


@pytest.mark.parametrize("law", LAWS_OF_CLASSES, ids=lambda law: law.name)
def test_the_law_of_classes_is_nearly_attained(law):
    for point in law.points:
        proof = law.proof(*point)
        attained = slowest_decrease(proof.method, proof.functions)
        assert float(proof.decrease) < attained < 1.025 * float(proof.decrease)


@pytest.mark.parametrize("law", LAWS_OF_CLASSES, ids=lambda law: law.name)
@pytest.mark.parametrize("place", [0, 4])
def test_the_law_of_classes_is_the_best_of_its_potential(law, place):
    """The solver finds as much; other weights of the classes gain less than a thousandth."""
    proof = law.proof(*law.points[place])
    potential = Reweighted(proof.potential, tuple(map(float, proof.weights)))
    fixed, free = (
        best_decrease(proof.method, proof.functions, potential, weights)
        for weights in ("fixed", "free")
    )
    assert fixed == pytest.approx(float(proof.decrease), rel=1e-7)
    assert fixed < free < 1.001 * fixed


@pytest.mark.parametrize("s", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("constants", [((1, 1, 40), (2, 3, 8), (3, 2, 100)), ((1, 1, 2),) * 2])
def test_the_law_holds_for_any_classes(constants, s):
    """With three of them, and with two that are the same, where it is the law of equal clients."""
    classes = [ClientClass(count, mu, L, alpha=1 - s**2) for count, mu, L in constants]
    functions = FunctionClass.of_classes(classes)
    a, _, v = class_moments(functions)
    middles = [(one.L + one.mu) / 2 for one in classes]
    weights = (s, *(float(a) / middle / functions.n for middle in middles))
    method = EF((1 - s) / (1 + s) / float(a))
    found = best_decrease(method, functions, Reweighted(ByClass(Feedback()), weights))
    assert 1 - factor_of_classes(functions) == pytest.approx(found, rel=1e-6)
    assert bool(v) == (len(classes) == 3)
    if not v:
        equal = best_feedback_factor(1.0, 2.0, 1 - s**2)
        assert factor_of_classes(functions) == pytest.approx(equal, rel=1e-12)


def test_another_root_is_no_law():
    """Between s and 1 the polynomial has one root, and only that one is proved."""
    n, classes, s, rho = EF_LAW_OF_CLASSES.points[0]
    beta, v = class_moments(EF_LAW_OF_CLASSES.proof(n, classes, s, rho).functions)[1:]
    signs = [polynomial(Fraction(k, 1000), s, beta, v) > 0 for k in range(251, 1001)]
    assert signs == sorted(signs)
    with pytest.raises(Refusal, match="not the root of the law"):
        EF_LAW_OF_CLASSES.proof(n, classes, s, rho + Fraction(1, 1000))
