"""Constants of theorems, said again: what promises too little breaks no promise, and is seen here.

The checks of a promise have one side. So the formulas of the docstrings are evaluated a second
time; and where a proof gives all that a certificate does, it is held to that.
"""

import math
from collections.abc import Callable

import numpy as np
import pytest
from planting import Fault, fault, planted

from certibit.solvers.compressors.selector import compressor
from certibit.solvers.methods.dasha import DASHA
from certibit.solvers.methods.econtrol import EControl, State
from certibit.theory.cards.catalogue import METHODS
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.search import setting
from certibit.theory.certificates.summary import class_setting
from certibit.theory.formulas.coupling import best_coupling
from certibit.theory.theorems import locodl, scaffnew
from certibit.theory.theorems.dasha import CorrectedDifferences
from certibit.theory.theorems.econtrol import ErrorControl


def right_sides(theorem, method, where):
    return {condition.statement: condition.right for condition in theorem.conditions(method, where)}


def econtrol_is_as_its_theorem_says():
    where, theorem = setting(3, 1.0, 20.0, 4, compressor("top-k:1")), ErrorControl()
    L_f, L_tilde, s = where.constants.L_f, where.constants.L_tilde, math.sqrt(1 - 1 / 4)
    v, b = (1 - s) / 2, (1 - s) / 12
    N = (1 + b) ** 3 + v
    q_p, q_e = s * N, 1 - b + (1 + b) * b**2 / v
    a = (1 + b) * max(1 / (1 - q_p), 1 / (v * (1 - q_e)))
    smooth, slow = 1 / (L_f + L_tilde * math.sqrt(2 * a * s**2 * N / (1 - s))), 1 - max(q_p, q_e)
    method = METHODS["econtrol"].at(where, "largest")
    assert (method.b, method.gamma) == pytest.approx((b, min(smooth, slow / 2)))
    said = right_sides(theorem, method, where)
    assert said["gamma <= 1/(L_f + L_tilde sqrt(2 a s^2 N/(1 - s)))"] == pytest.approx(smooth)
    assert said["gamma <= (1 - max{q_p, q_e})/(2 mu)"] == pytest.approx(slow / 2)
    assert [c.left for c in theorem.conditions(method, where)][2:4] == pytest.approx([q_p, q_e])
    assert 1 - theorem.rate(method, where) == pytest.approx(method.gamma)
    ones = np.ones((3, 4, 1))
    terms = theorem.lyapunov(method, State(ones[:1], ones, ones, ones[:1]), None, where, Zero())
    assert [term.weight for term in terms] == pytest.approx(
        [1.0, a * method.gamma / 3, v * b * a * method.gamma / 3]
    )
    assert EControl is type(method)


class Zero:
    def grad(self, x):
        return np.zeros((3, 4, 1))


def dasha_is_as_its_theorem_says():
    where, theorem = setting(3, 1.0, 20.0, 4, compressor("rand-k:1")), CorrectedDifferences()
    omega, a = 3.0, 1 / 7
    noise = math.sqrt(4 * omega / 3 * (1 + 6 * omega))
    gamma = min(1 / (where.constants.L_f + where.constants.L_tilde * noise), a / 2)
    method = METHODS["dasha"].at(where, "paper")
    assert (method.a, method.gamma) == pytest.approx((a, gamma))
    said = right_sides(theorem, DASHA(gamma, a / 2), where)
    less = math.sqrt(4 * omega / 3 * (2 / a + 4 * omega))
    steps = 1 / (where.constants.L_f + where.constants.L_tilde * less)
    assert list(said.values())[1:] == pytest.approx([a, gamma, steps, a / 4])
    assert 1 - theorem.rate(method, where) == pytest.approx(gamma)


def coupled_theorems_promise_what_their_potential_proves():
    best_coupling.cache_clear()
    try:
        for name, theorem in (
            ("locodl", locodl.CoupledLoCoDL()),
            ("scaffnew", scaffnew.CoupledScaffnew()),
        ):
            card = METHODS[name]
            omega = 4.0 if card.method.needs.compressor else None
            where = class_setting(card.method, 3, 100.0, omega, None, 1)
            method = card.at(where, "paper")
            proved = certify(method, where, potential=theorem).decrease
            promised = 1 - theorem.rate(method, where)
            assert proved * (1 - 2e-3) <= promised <= proved * (1 + 1e-4)
            best = certify(method, where, potential="search").decrease
            assert promised >= 0.9 * best
    finally:
        best_coupling.cache_clear()


def missed(name: str, module: str, right: str, wrong: str) -> Fault:
    return fault(name, f"theory.{module}", (right, wrong), on="gd")


CASES: list[tuple[Callable[[], None], Fault]] = [
    *(
        (econtrol_is_as_its_theorem_says, missed(name, "theorems.econtrol", right, wrong))
        for name, right, wrong in (
            ("EControl: q_p with a fourth power", "((1 + self.b) ** 3 +", "((1 + self.b) ** 4 +"),
            ("EControl: a pays twice", "return (1 + self.b) * max(",
             "return 2 * (1 + self.b) * max("),
            ("EControl: v half as large", "return (1 - self.s) / 2", "return (1 - self.s) / 4"),
            ("EControl: half the step", "return smooth, (1 - slowest)",
             "return smooth / 2, (1 - slowest)"),
        )
    ),
    *(
        (dasha_is_as_its_theorem_says, missed(name, "theorems.dasha", right, wrong))
        for name, right, wrong in (
            ("DASHA: a half as large", "    a = 1 / (1 + 2 * setting.omega)",
             "    a = 0.5 / (1 + 2 * setting.omega)"),
            ("DASHA: a hypothesis of a twice as strict", "m.a, 1 / (1 + 2 * setting.omega)",
             "m.a, 1 / (1 + 4 * setting.omega)"),
            ("DASHA: more noise than there is", "(1 / a + 4 * setting.omega)",
             "(1 / a + 8 * setting.omega)"),
        )
    ),
    *(
        (
            coupled_theorems_promise_what_their_potential_proves,
            missed(name, "formulas.coupling", right, wrong),
        )
        for name, right, wrong in (
            ("coupled: noise counted twice", "excess + noise)", "excess + 2 * noise)"),
            ("coupled: nine tenths of the decrease", "return Coupling(beta, C, min(ends))",
             "return Coupling(beta, C, 0.9 * min(ends))"),
            ("coupled: never coupled", "best.decrease <= uncoupled.decrease +",
             "uncoupled.decrease <= best.decrease +"),
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize("test", dict.fromkeys(test for test, _ in CASES))
def test_right_code(test):
    test()


@pytest.mark.parametrize(("test", "missed"), CASES, ids=[f.name for _, f in CASES])
def test_a_weaker_promise_is_seen(test, missed):
    with planted(missed), pytest.raises(AssertionError):
        test()
