"""Proofs in rational numbers: how close they are to the best, and what cannot be proved."""

from fractions import Fraction

import numpy as np
import pytest
from by_rule import by_rule
from closed_forms import DIANA_FORM, EF21_FORM, EF_FORM
from flint import ctx
from proofs_by_rule import QUICK

from certibit import DIANA, GD, FunctionClass, Refusal, certify
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER
from certibit.theory.certificates.search import setting
from certibit.theory.cones.central_path import Surroundings
from certibit.theory.cones.cone_programme import BITS
from certibit.theory.proofs.rational_algebra import ldl
from certibit.theory.proofs.symbolic_step import symbolic_step
from certibit.theory.worlds.opaque.exact_numbers import (
    Exact,
    congruent,
    exact_parameters,
    fraction,
    rational,
    rationals,
)

LINEAR = {
    name: card
    for name, card in (METHODS | SHARED_MINIMISER).items()
    if card.about("potential") and name != "5gcs-cc"
}


EVERY = [(name, rule) for name in LINEAR for rule in LINEAR[name].rules]


@pytest.mark.long(keep=4)
@pytest.mark.parametrize(
    ("name", "rule", "kappa"),
    [(*one, kappa) for one in EVERY for kappa in (10.0, 1e3, 1e6)],
)
def test_what_is_proved_for_every_rule_is_next_to_its_bound(name, rule, kappa):
    proof = certify(*by_rule(name, 10, kappa, 3.0, rule))
    assert proof.decrease <= proof.bound <= proof.decrease + 1e-8 * abs(proof.decrease)


@pytest.mark.long(keep=5)
@pytest.mark.parametrize("kappa", [10.0, 1e3, 1e4, 1e5, 1e6])
@pytest.mark.parametrize(
    ("name", "rule"), [("ef21", "published"), ("ef21", "best"), ("ef", "best")]
)
def test_the_tight_theorem_of_error_feedback_is_proved(name, rule, kappa):
    """Two directions vanish together, so that floats lose up to all of the decrease."""
    method, where = by_rule(name, 10, kappa, 3.0, rule)
    theorem = LINEAR[name].best_theorem(method, where)
    proof = certify(method, where, potential=theorem)
    promised = 1 - theorem.rate(method, where)
    rounding = 1e-15 / promised
    assert float(proof.decrease) >= promised * (1 - 1e-9 - rounding)
    assert proof.bound - float(proof.decrease) <= 1e-9 * proof.bound
    if rule == "best":  # the theorem is tight there
        assert proof.bound == pytest.approx(promised, rel=1e-9 + rounding)


@pytest.mark.parametrize("form", [EF21_FORM, EF_FORM, DIANA_FORM], ids=["ef21", "ef", "diana"])
def test_the_best_decrease_lies_between_the_proof_and_its_bound(form):
    """Where the best decrease is known in closed form."""
    best = form.proof(*form.points[1])
    proof = certify(best.method, best.functions, potential=best.potential)
    assert proof.exact < best.exact < Fraction(proof.bound)
    assert proof.bound - proof.decrease <= 1e-8 * proof.decrease


@pytest.mark.parametrize("kappa", [10.0, 1e6])
@pytest.mark.parametrize("gamma", [1e-6, 1e-12, 1e-14])
def test_the_decrease_of_a_tiny_step_has_all_its_digits(gamma, kappa):
    proof = certify(GD(gamma), FunctionClass(10, 1.0, kappa))
    exact = 1 - (1 - Fraction(proof.method.gamma)) ** 2
    assert 0 <= exact - proof.exact <= Fraction(1, 10**8) * exact


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("unit", [1e-6, 1e6])
@pytest.mark.parametrize("name", ["ef21", "econtrol", "fedcomgate", "dasha"])
def test_no_digits_are_lost_in_another_unit(name, unit):
    """Each of these was left where the solver stopped, some at a part in a million."""
    card, (method, plain) = METHODS[name], by_rule(name, 10, 1e6, 3.0)
    where = setting(10, 1e-6 * unit, unit, plain.d, plain.compressor)
    proof = certify(card.at(where), FunctionClass.of(where))
    assert abs(proof.bound - float(proof.decrease)) <= 1e-7 * float(proof.decrease)
    other = certify(method, plain)
    assert float(proof.decrease) == pytest.approx(float(other.decrease), rel=1e-7)


def test_a_term_of_weight_0_proves_nothing_and_is_in_no_way():
    """Without compression DIANA's shifts are outside of its Lyapunov function."""
    method, functions = DIANA(0.05, 1.0), FunctionClass(4, 1.0, 20.0)
    proof = certify(method, functions)
    assert min(proof.weights) == 0
    assert float(proof.decrease) == pytest.approx(1 - 0.95**2, rel=1e-9)


@pytest.mark.parametrize("name", QUICK)
def test_exact_and_rounded_steps_agree(name):
    method, where = by_rule(name, 4, 10.0, 3.0)
    functions = FunctionClass.of(where)
    potential = METHODS[name].theorems[0]
    rounded, exact = (
        symbolic_step(method, functions, potential, exact=exact) for exact in (False, True)
    )
    assert list(rounded.inequalities) == list(exact.inequalities)
    size, natural = exact.basis.size, rounded.method
    unit_of = {"gradient": lambda *_: natural.gradient, "state": lambda i: natural.sizes[i]}
    units = np.array(
        [unit_of.get(name[0], lambda *_: 1.0)(*name[1:]) for name in exact.basis.names]
    )
    for one, other in zip(rounded.after, exact.after, strict=True):
        for block, right in zip(one.blocks, other.blocks, strict=True):
            values = np.array([[float(fraction(x)) for x in row] for row in right])
            expected = values * np.outer(units, units)
            np.testing.assert_allclose(block[:size, :size], expected, atol=1e-12, rtol=1e-9)


@pytest.mark.parametrize(
    ("number", "simple"),
    [(0.1, Fraction(1, 10)), (1 / 3, Fraction(1, 3)), (0.005, Fraction(1, 200)), (7, Fraction(7))],
)
def test_floats_stand_for_simple_fractions(number, simple):
    assert fraction(rational(number)) == simple
    assert Exact(number) * 2 - number == simple
    with pytest.raises(Refusal, match="no exact proof"):
        float(Exact(number))
    assert exact_parameters(GD(number + 0.0)).gamma == Exact(simple)


@pytest.mark.parametrize("seed", range(5))
def test_factors_of_rational_matrices(seed):
    rng = np.random.default_rng(seed)
    root = rationals(rng.integers(-5, 6, (4, 4)))
    positive = root @ root.T
    lower, pivots = ldl(positive)
    diagonal = rationals(np.zeros((4, 4)))
    diagonal[np.arange(4), np.arange(4)] = pivots
    assert np.all(lower @ diagonal @ lower.T == positive)
    floats = np.array([[float(fraction(x)) for x in row] for row in positive])
    shift = rational(float(np.linalg.eigvalsh(floats)[0]) + 1e-3)
    assert ldl(positive - rationals(np.eye(4, dtype=int)) * shift) is None


def test_a_congruence_of_mostly_zeros():
    rng = np.random.default_rng(0)
    half, outer = rng.integers(-3, 4, (5, 5)), rng.integers(-2, 3, (5, 7))
    outer[rng.random(outer.shape) < 0.5] = 0
    found = congruent(rationals(half + half.T) / 7, rationals(outer) / 3)
    assert (63 * found == outer.T @ (half + half.T) @ outer).all()


@pytest.mark.parametrize("bits", [BITS // 2, BITS])
def test_a_bound_takes_all_bits_where_half_of_them_give_none(bits, monkeypatch):
    """Where no number of bits tells, there is none."""
    bound = Surroundings._bound

    def none_below(here, *given):
        return None if ctx.prec <= bits else bound(here, *given)

    monkeypatch.setattr(Surroundings, "_bound", none_below)
    proof = certify(DIANA(gamma=0.02, alpha=0.1), FunctionClass(n=10, mu=1, L=10, omega=9))
    assert (proof.bound < np.inf) is (bits < BITS)
