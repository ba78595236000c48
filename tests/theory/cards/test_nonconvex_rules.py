"""Rules for nonconvex f: the published formulas, the default where f is not strongly convex."""

import math

import pytest

from certibit import EF21, GD, Budget, Constants, Quartics, Refusal, Setting, problem, run
from certibit.solvers.compressors.selector import compressor
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.verdict import OutsideTheoremWarning

NONCONVEX = problem("breast-cancer@9:nonconvex")
CONVEX = problem("breast-cancer@9", kappa=100)


def unit(n, sent, d):
    """Return a setting with L = L_f = L_tilde = 1 and mu = -1."""
    return Setting(Constants(-1.0, 0.0 * CONVEX.constants.L_i[:1] + 1.0, 1.0), n, d, sent)


def test_the_steps_are_the_published_ones():
    """The two points that were computed beforehand: alpha = 1/2, and n = 10, p = 0.2, omega = 4."""
    half = unit(1, compressor("top-k:1"), 2)
    assert half.alpha == 0.5
    assert METHODS["ef21"].at(half, "nonconvex").gamma == pytest.approx(0.2928932, abs=1e-7)
    fifth = unit(10, compressor("rand-k:1"), 5)
    found = METHODS["marina"].at(fifth, "nonconvex")
    assert (found.p, found.gamma) == (pytest.approx(0.2), pytest.approx(0.441518, abs=1e-6))
    dasha = METHODS["dasha"].at(fifth, "nonconvex")
    assert dasha.a == pytest.approx(1 / 9)
    assert dasha.gamma == pytest.approx(1 / (1 + math.sqrt(16 * 4 * 9 / 10)))


@pytest.mark.parametrize("name", ["ef21", "marina", "dasha"])
def test_the_nonconvex_rule_is_the_default_where_f_is_not_convex(name):
    card, sent = CARDS[name], compressor("rand-k:3" if name != "ef21" else "top-k:3")
    assert card.parameters(NONCONVEX, sent) == card.parameters(NONCONVEX, sent, "nonconvex")
    assert card.parameters(CONVEX, sent) == card.parameters(CONVEX, sent, "published")
    assert card.parameters(CONVEX, sent, "nonconvex").gamma > 0  # it holds for convex f, too
    with pytest.raises(Refusal, match=r"mu = -0\.05 and the formula is for mu > 0"):
        card.parameters(NONCONVEX, sent, "published")


def test_rules_that_read_mu_or_kappa_are_refused():
    setting = Setting.of(EF21, NONCONVEX, compressor("top-k:3"))
    assert (setting.strongly_convex, setting.constants.mu) == (False, -0.05)
    for name in ("mu", "kappa"):
        with pytest.raises(Refusal, match="choose a rule for nonconvex f, or give each parameter"):
            getattr(setting, name)
    with pytest.raises(Refusal, match="the formula is for mu > 0"):
        CARDS["gd"].parameters(NONCONVEX, rule="optimal")
    assert CARDS["gd"].parameters(NONCONVEX).gamma == 1 / NONCONVEX.constants.L_f


def test_problems_without_smoothness_of_clients_have_no_rules():
    with pytest.raises(Refusal, match="take the L_i of the clients, which this problem does not"):
        CARDS["marina"].parameters(Quartics.of(H=8), compressor("rand-k:1"))


def test_a_step_outside_the_descents_is_warned_of():
    largest = 2 / NONCONVEX.constants.L_f
    budget = Budget(rounds=2)
    run(GD(0.99 * largest), NONCONVEX, seeds=1, budget=budget, strict=True)
    with pytest.warns(OutsideTheoremWarning, match=r"gd are outside every theorem.*gamma L_f < 2"):
        run(GD(1.01 * largest), NONCONVEX, seeds=1, budget=budget)
    with pytest.raises(Refusal, match=r"gamma L_f < 2 fails with"):
        run(GD(1.01 * largest), NONCONVEX, seeds=1, budget=budget, strict=True)


@pytest.mark.parametrize("name", ["gd", "ef21", "marina", "dasha"])
def test_the_default_rule_is_inside_the_published_descent(name):
    sent = {"gd": None, "ef21": "top-k:3"}.get(name, "rand-k:3")
    run(name, NONCONVEX, sent, seeds=1, budget=Budget(rounds=2), strict=True)
