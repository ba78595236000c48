"""Closed forms of best steps and rates, exact at rational points, and nothing is better."""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from closed_forms import DIANA_FORM, EF21_FORM, EF_FORM, LOCODL_FORM, feedback_numbers

from certibit.solvers.methods import ef, ef21
from certibit.solvers.methods.ef import EF
from certibit.theory.certificates.certify import best_decrease, certify
from certibit.theory.formulas.error_feedback import best_feedback_factor, best_feedback_step

FORMS = [EF_FORM, EF21_FORM, DIANA_FORM, LOCODL_FORM]


@pytest.mark.long
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_form_holds_at_all_its_points(form):
    """For one client, for two and for a thousand, without a tolerance."""
    assert {1000, 2} <= {point[0] for point in form.points}
    assert all(form.proof(*point).verify() for point in form.points)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_a_little_more_is_not_proved(form):
    proof = form.proof(*form.points[0])
    assert proof.verify()
    more = proof.exact * (1 + Fraction(1, 10**12))
    assert not replace(proof, exact=more).verify()
    factor = 1 + Fraction(1, 10**9)
    changed = {name: y * factor for name, y in proof.multipliers.items()}
    assert not replace(proof, multipliers=changed).verify()
    longer = replace(proof.method, gamma=proof.method.gamma * 1.001)
    assert not replace(proof, method=longer).verify()


@pytest.mark.long
@pytest.mark.parametrize("form", [EF_FORM, EF21_FORM], ids=lambda form: form.name)
def test_no_potential_that_is_found_is_better(form):
    for n, kappa, s in form.points[2:12:4]:
        proof = form.proof(n, kappa, s)
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


@pytest.mark.long
@pytest.mark.parametrize("form", [EF_FORM, EF21_FORM], ids=lambda form: form.name)
def test_the_form_is_attained(form):
    """In rational numbers, for all potentials: at mu and at L, and not with another step."""
    for _, kappa, s in form.points:
        step, _, decrease = feedback_numbers(kappa, s)
        method = type(form.proof(1, kappa, s).method)
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


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("point", DIANA_FORM.points[::2], ids=str)
def test_dianas_best_step_is_the_best(point):
    """With the best weights of its potential, a step that is 2 % off is slower."""
    proof = DIANA_FORM.proof(*point)

    def best(factor):
        method = replace(proof.method, gamma=factor * proof.method.gamma)
        return best_decrease(method, proof.functions, proof.potential, "free")

    assert best(1.0) == pytest.approx(float(proof.decrease), rel=1e-5)
    assert max(best(0.98), best(1.02)) < 0.995 * best(1.0)


def test_the_formulas_are_those_of_the_theorems():
    for _, kappa, s in EF_FORM.points:
        step, _, decrease = feedback_numbers(kappa, s)
        constants = 1.0, float(kappa), float(1 - s**2)
        assert best_feedback_step(*constants) == pytest.approx(float(step), rel=1e-12)
        assert 1 - best_feedback_factor(*constants) == pytest.approx(float(decrease), rel=1e-9)
