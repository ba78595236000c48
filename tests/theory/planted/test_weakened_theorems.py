"""Theorems that promise too little break no promise: their own text, and certificates, see it.

Their hypotheses, docstrings and rules are formulas that are read and evaluated again; a theorem
that is called tight is held against certificates, and a best rule against others."""

import math
from collections.abc import Iterator
from contextlib import suppress

import numpy as np
import pytest
from faults import BY_PART
from limits import broken_promises
from planting import fault, planted
from tool.own_cards import best_rule, tight_promise
from tool.small_experiment import small_experiment

from certibit import CARDS, GD, METHODS, SGD, Condition, Quadratic, Refusal, Setting, certify, check
from certibit.solvers.compressors.selector import compressor
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.cards.gd import GradientDescent
from certibit.theory.checks.method import written_formulas
from certibit.theory.checks.method.written_formulas import written_hypotheses, written_rules
from certibit.theory.function_class import FunctionClass
from certibit.theory.verdict import Verdict

FORMULAS, PARAMETERS = "formulas as written", "parameters as written"
CASES = [
    (one, row)
    for row in (FORMULAS, PARAMETERS, "tight, as it says")
    for one in BY_PART[f"weakened theorems, seen by: {row}"]
]


def rows(name: str) -> Iterator[Verdict]:
    """Yield what is held against the theorems and rules of a card beside their promises."""
    card, experiment = small_experiment(name)
    where = Setting.at(experiment)
    for rule in card.rules:
        with suppress(Refusal):  # such as a rule for uncompressed messages
            method = card.at(where, rule)
            found = [
                written_hypotheses(theorem, method, where) for theorem in card.about("potential")
            ]
            yield from filter(None, found)
    yield from filter(None, [written_rules(card, where), best_rule(card, where)])
    yield from filter(None, (tight_promise(theorem, card) for theorem in card.about("potential")))


@pytest.mark.long(keep=6)
@pytest.mark.parametrize("name", [name for name, card in CARDS.items() if card.rules])
def test_every_card_is_as_it_is_written(name):
    found = list(rows(name))
    assert [verdict.advice for verdict in found if not verdict.holds] == []
    if CARDS[name].about("potential"):
        assert sum(verdict.points for verdict in found) >= 4


@pytest.mark.long
@pytest.mark.parametrize(("missed", "row"), CASES, ids=[fault.name for fault, _ in CASES])
def test_a_weakened_theorem_is_seen(missed, row):
    with planted(missed):
        failing = {verdict.check for verdict in rows(missed.subject[0]) if not verdict.holds}
    assert row in failing


@pytest.mark.long
def test_a_check_has_these_rows():
    problem, sent = Quadratic.random(3, 4, 1.0, 10.0), compressor("rand-k:2")
    where = Setting.of(METHODS["locodl"].method, problem, sent)
    method = METHODS["locodl"].at(where, "published")
    found = check(method, problem, sent, rule="published", seeds=1, iterations=50)
    assert {FORMULAS, PARAMETERS} <= {verdict.check for verdict in found.verdicts}


class Strict(GradientDescent):
    """Gradient descent with a step four times smaller than its boundary: rho = 2 mu/(4 L_f).

    tau = 1 - rho, which is not what is promised.
    """

    def conditions(self, m, setting):
        return (Condition("gamma <= 1/(2 L_f)", m.gamma, 1 / (2 * setting.constants.L_f)),)


def test_a_docstring_that_says_another_factor_is_told():
    problem = Quadratic.random(3, 4, 1.0, 10.0)
    where = Setting.of(GD, problem)
    found = written_hypotheses(Strict(), GD(0.01), where)
    assert "1 - tau of the docstring is 0.0" in found.advice
    assert not found.holds


class Claimed(GradientDescent):
    """Gradient descent. Proved by us."""


def test_what_is_proved_by_us_is_not_called_published():
    found = written_hypotheses(
        Claimed(), GD(0.01), Setting.of(GD, Quadratic.random(3, 4, 1.0, 9.0))
    )
    assert "called published that is proved by us" in found.advice
    assert not found.holds


NAMES = {"gamma": 0.5, "mu": 2.0, "L_f": 4.0, "s": 3.0, "n": 5.0, "omega_av": 0.25}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2 gamma mu L_f/(mu + L_f)", 2 * 0.5 * 2 * 4 / 6),
        ("min{1, sqrt(n/(s mu))}", math.sqrt(5 / 6)),
        ("(1 + s)^2 (1 - s)/mu", 16 * -2 / 2),
        ("n (s - 1)/(s (n - 1))", 5 * 2 / (3 * 4)),
        ("1/(1 + 6 omega_av)(2)", 2 / 2.5),
        ("max{gamma, -mu}", 0.5),
        ("3/5 + 3 s", 9.6),
        ("unknown mu", None),
        ("mu of every f_i", None),
        ("", None),
        ("1/(n - 5)", None),
        ("(mu", None),
    ],
)
def test_formulas_are_read_as_in_a_paper(text, value):
    assert written_formulas._value(text, NAMES) == (None if value is None else pytest.approx(value))


def test_definitions_are_read_in_their_order_and_cases_are_left_out():
    text = """With a = 2 mu, b = a/s and c = unknown: tau = 1 - gamma a. If n = 1, d = 3.
    Where s is large, e = 1, f(x) = 7 and 1 - g = 2; h = i = 3.
    """
    found = written_formulas._definitions(text, NAMES)
    assert found == pytest.approx({"a": 4.0, "b": 4 / 3, "tau": -1.0, "e": 1.0})
    assert written_formulas._definitions("x = 1 and then x = 2", NAMES) == {}


CLOSE = 1e-7

FAULTS = BY_PART["theorems about stochastic gradients"]


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("one", FAULTS, ids=lambda one: one.name)
def test_a_fault_of_a_theorem_is_caught(one):
    card = CARDS[one.subject[0]]
    with planted(one):
        assert any(broken_promises(card, n)[0] for n in (1, 4))


def has_attained_noise(n=1):
    """Whether SGD has the e that (h/2) x^2 with the noise +-(sigma + sqrt(A h) x) attains."""
    gamma, A, c, h = 0.2, 1.0, 0.02, np.linspace(0.1, 1.0, 10001)
    left = 1 - c - (1 - gamma * h) ** 2 - gamma**2 * A * h
    attained = np.max(gamma**2 + gamma**4 * A * h / left)
    functions = FunctionClass(n, mu=0.1, L=1.0, noise=GradientNoise(expected=A))
    psi = CARDS["sgd"].theorems[0]
    found = certify(SGD(gamma), functions, psi, "potential", least=c * (1 - CLOSE))
    return abs(found.e - attained) <= 1e-6 * attained


OF_NOISE = {
    "growth is half": ("value * (growth * (2 *", "value * (growth * (1 *"),
    "sigma^2 is half": (
        "values[-1] += functions.kinds[kind].count",
        "values[-1] += functions.kinds[kind].count / (2 + values[-1])",
    ),
}


@pytest.mark.parametrize("what", OF_NOISE)
def test_a_fault_of_the_noise_is_caught(what):
    right, wrong = OF_NOISE[what]
    with planted(fault(what, "theory.worlds.symbolic.interpolation", (right, wrong), on="sgd")):
        assert not has_attained_noise()
