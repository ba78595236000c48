"""Checks of one step and of the worst quadratic: right numbers, and each can fail."""

import inspect
import math
from dataclasses import replace

import numpy as np
import pytest

from certibit import GD, METHODS, Condition, Experiment, Quadratic, Refusal, Scaffnew, Setting
from certibit.solvers.compressors.selection import RandK
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.cards.locodl import (
    Corollary32,
    Section31,
    Theorem31,
    iterations,
    probability,
    probability_for_rand_k,
    reals,
    relaxation,
    without_g,
)
from certibit.theory.checks import promises as boundary
from certibit.theory.checks.examination import check as examine_method
from certibit.theory.checks.method.one_step import (
    steps_along_a_run,
    steps_at_random_states,
    worst_like,
    worst_quadratic,
)
from certibit.theory.checks.promises import at_the_boundary, boundaries
from certibit.theory.verdict import Verdict
from certibit.theory.worlds.linear_maps import worst_case

SCALAR = Quadratic.from_arrays(
    np.array([[[1.0, 0.0], [0.0, 4.0]]]), np.array([[1.0, 1.0]]), name="diagonal", seed=0
)


@pytest.mark.parametrize(
    ("value", "limit", "holds"),
    [(1.0, 1.0, True), (1 + 1e-12, 1.0, True), (1.001, 1.0, False), (math.nan, 1.0, False),
     (math.inf, 1.0, False), (-1.0, 0.0, True), (1e-300, 0.0, False)],
)  # fmt: skip
def test_verdict(value, limit, holds):
    assert Verdict("", value, limit).holds is holds


def test_steps_of_gradient_descent_by_hand():
    """Of diag(1, 4) with gamma = 1/4: from (1, 1) the distance falls by 9/16 of 1 in the first."""
    experiment, theorem = Experiment.of(GD(0.25), SCALAR), GradientDescent()
    first = steps_along_a_run(theorem, experiment, steps=(0,))
    assert first.value == pytest.approx(9 / 32)
    later = steps_along_a_run(theorem, experiment, steps=(0, 1, 5))
    assert later.value == pytest.approx(9 / 16)
    assert (later.limit, later.note, later.holds) == (pytest.approx(9 / 16), "exact", True)
    assert worst_case(experiment, theorem) == pytest.approx(9 / 16)
    assert 0 in inspect.signature(steps_along_a_run).parameters["steps"].default
    random = steps_at_random_states(theorem, experiment)
    assert 0.01 < random.value <= 9 / 16 + 1e-12


class TooGood(GradientDescent):
    def rate(self, m, setting):
        return super().rate(m, setting) * 0.98


@pytest.mark.parametrize("check", [steps_along_a_run, steps_at_random_states])
def test_a_promise_that_is_too_good_is_seen(check):
    experiment = Experiment.of(GD(0.25), SCALAR)
    assert not check(TooGood(), experiment).holds
    assert check(GradientDescent(), experiment).holds


def test_worst_quadratic_is_tight_for_gd_and_sees_too_good_a_promise():
    card = METHODS["gd"]
    verdict = worst_quadratic(GradientDescent(), card)
    assert verdict.holds
    assert verdict.note == "tight"
    assert verdict.value == pytest.approx(1)
    wrong = worst_quadratic(TooGood(), card)
    assert wrong.value == pytest.approx(1 / 0.98)
    assert not wrong.holds
    assert wrong.note == ""


def test_worst_quadratic_says_where_there_is_nothing_to_check():
    with pytest.raises(Refusal, match="'published' meets FedCOMGATE"):
        worst_quadratic(METHODS["fedcomgate"].theorems[0], METHODS["fedcomgate"], "published")


def test_worst_like_sees_an_unstable_step():
    problem = Quadratic.random(6, 4, 1.0, 10.0, seed=0)

    def verdict(method):
        theorem = METHODS[method.name].theorems[0]
        return worst_like(theorem, Experiment.of(method, problem), limit=1.0)

    assert verdict(GD(0.1)).holds
    assert not verdict(GD(0.3)).holds
    assert not verdict(Scaffnew(0.3, 0.5)).holds
    with pytest.raises(Refusal, match="fit no problem of 3 clients"):
        verdict(METHODS["gradskip"].parameters(problem))


class TestLoCoDL:
    """Theorem 3.1, equations (6) to (10), Corollary 3.2 and section 3.1."""

    @pytest.mark.parametrize("omega_av", [0.0, 0.3, 5.0])
    def test_relaxation_has_the_largest_chi(self, omega_av):
        rho = relaxation(omega_av)
        chi = lambda r: 2 * r - r**2 * (1 + omega_av)  # noqa: E731
        assert chi(rho) == pytest.approx(rho)
        assert max(chi(rho * (1 + e)) for e in (-0.01, 0.01)) < rho

    @pytest.mark.parametrize(("n", "d", "k"), [(5, 20, 4), (87, 122, 2), (288, 122, 1)])
    @pytest.mark.parametrize("kappa", [2.0, 1e4])
    def test_equation_9_is_8_for_rand_k(self, n, d, k, kappa):
        omega = d / k - 1
        nine = probability_for_rand_k(n, d, k, kappa)
        assert nine == pytest.approx(probability(omega, omega / n, kappa))

    def test_iterations_and_reals(self):
        assert iterations(100.0, 3.0, 1.0, 0.5) == 100 + 2 * 4 * 4
        assert reals(4, 100, 25.0) == pytest.approx(50 + 250 + 100)
        assert METHODS["locodl"].orders.reals(4, 100, 25.0) == pytest.approx(reals(4, 100, 25.0))

    def test_corollary_holds_for_its_parameters_only(self):
        problem = Quadratic.random(5, 20, 1.0, 100.0, seed=0)
        for k, holds in ((4, True), (3, False), (5, False)):
            setting = Setting.of(METHODS["locodl"].method, problem, RandK(k))
            method = METHODS["locodl"].at(setting, "published")
            assert not Theorem31().unmet(method, setting)
            assert (not Corollary32().unmet(method, setting)) is holds
        shared = Setting.of(METHODS["locodl"].method, problem, RandK(4, shared=True))
        assert Corollary32().unmet(METHODS["locodl"].at(shared, "published"), shared)

    def test_section_31_is_the_composite_view(self):
        problem = Quadratic.random(5, 20, 1.0, 100.0, seed=0)
        setting = Setting.of(METHODS["locodl"].method, problem, RandK(4))
        assert without_g(100.0, 1.0) == pytest.approx((setting.L, setting.mu))
        method = METHODS["locodl"].at(setting, "published")
        assert Section31().rate(method, setting) == pytest.approx(Theorem31().rate(method, setting))
        large = replace(method, gamma=2.01 / setting.L)
        for theorem in (Section31(), Theorem31()):
            assert theorem.unmet(large, setting)


def test_every_method_has_its_leading_orders():
    """They are the formulas that are written in the tables."""
    numbers = {"n": 7.0, "d": 90.0, "kappa": 1234.0, "omega": 11.0, "alpha_down": 0.3}
    for orders in [card.orders for card in METHODS.values() if card.about("potential")]:
        for order in (orders.rounds, orders.reals):
            if order is not None:
                expected = eval(order.formula, numbers | {"sqrt": math.sqrt})
                assert order(*numbers.values()) == pytest.approx(expected)


@pytest.mark.long
def test_every_check_has_its_sentence():
    card, problem = METHODS["diana"], Quadratic.random(3, 4, mu=1.0, L=10.0)
    method = card.parameters(problem, RandK(2), "b")
    found = examine_method(method, problem, RandK(2), rule="b", seeds=2, accuracy=1e-3)
    assert [verdict.check for verdict in found.verdicts if not verdict.advice] == []


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
