"""Rules for nonconvex f: the default where f is not strongly convex."""

import pytest

from certibit import EF21, GD, Budget, Quartics, Refusal, Setting, problem, run
from certibit.solvers.compressors.selector import compressor
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.verdict import OutsideTheoremWarning

NONCONVEX = problem("breast-cancer@9:nonconvex")
CONVEX = problem("breast-cancer@9", kappa=100)


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
