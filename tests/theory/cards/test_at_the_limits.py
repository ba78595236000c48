"""Every theorem is certified where its step size ends, with unlike clients and steep samples.

There L_f and the mean of the L_i^2 are far below the largest L_i, so that no constant stands for
another one, and expected smoothness is far above it. A condition that asks for too little, a
potential with a smaller weight and a rate that is too good are not certified.
"""

import math
from dataclasses import fields, replace
from itertools import product

import numpy as np
import pytest

from certibit.data.errors import Refusal
from certibit.data.problem import Constants
from certibit.theory.assumptions.bounded_dissimilarity import BoundedDissimilarity
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.cards.gd import CARD as GD_CARD
from certibit.theory.cards.l_svrg import CARD as LSVRG_CARD
from certibit.theory.cards.l_svrg import ReferencePoint
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.certificates.summary import class_setting
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import OfSamples
from certibit.theory.theorem import Condition, ConvexDescentTheorem, RunTheorem, Theorem

CLOSE = 1e-6
STEEP, FLAT, UNLIKE = 10.0, 0.3, (1.0, 0.2, 0.2, 0.2)
"""Parts of L: expected smoothness, L_f, and the L_i of four clients."""
ONE_STEP = {
    name: card
    for name, card in CARDS.items()
    if any(not isinstance(each, RunTheorem) for each in (*card.theorems, *card.descents))
}
"""Those that promise something about a step."""

OTHER_NUMBERS = {("compressed-scaffnew", 1), ("tamuna", 1), ("compressed-gd", 4)}
"""An entry has two owners at least, and one client needs no average."""
CASES = [case for case in product(ONE_STEP, [1, 4]) if case not in OTHER_NUMBERS]


def where_clients_differ(card, theorem, n):
    """Return a setting of n clients in which all constants differ."""
    kappa = 100.0 if isinstance(theorem, Theorem | ConvexDescentTheorem) else None
    omega = 3.0 if card.method.needs.compressor else None
    where = class_setting(card.method, n, kappa, omega, None, 20)
    mu = 0.0 if isinstance(theorem, ConvexDescentTheorem) else where.constants.mu
    alike = n == 1 or card.name == "gradskip"  # whose clients toss coins of their own
    L_i = where.L * (np.ones(n) if alike else np.array(UNLIKE))
    where = replace(where, constants=Constants(mu, L_i, where.L * (1.0 if alike else FLAT)))
    if card.method.needs.samples:
        where = replace(where, of_samples=OfSamples(STEEP * where.L, STEEP * where.L))
    return where


def at_its_limit(theorem, method, where, name):
    """Return a method with a parameter just below the point where a hypothesis fails, if any."""
    inside, outside = 1.0, 2.0

    def at(scale):
        try:
            moved = replace(method, **{name: getattr(method, name) * scale})
        except (ValueError, ArithmeticError):  # such as a probability above 1
            return None
        return None if theorem.unmet(moved, where) else moved

    while at(outside) and outside < 1e4:
        inside, outside = outside, 2 * outside
    for _ in range(40):
        middle = math.sqrt(inside * outside)
        inside, outside = (middle, outside) if at(middle) else (inside, middle)
    return at(inside * 0.999 if inside > 1.001 else inside)


def promise_is_certified(theorem, method, where):
    """Whether a certificate with the Psi of a theorem proves what it promises."""
    promise, factor = theorem.promise(method, where), isinstance(theorem, Theorem)
    c = 1 - promise.factor if factor else promise.c
    functions = FunctionClass.of(where)
    if theorem.allows_noise(method, where):
        smooth = factor and theorem.noise_at_solution
        constants = {"expected": where.expected} if smooth else {"difference": where.difference}
        functions = replace(functions, noise=GradientNoise(**constants))
    e = promise.e
    if not factor and promise.dissimilarity:
        functions = replace(functions, assumptions=(BoundedDissimilarity(1.0, 1.0),))
        e += promise.dissimilarity
    if c <= 0:  # a hypothesis that lets Psi grow
        return False
    try:
        measure = "potential" if factor else None
        proof = certify_descent(method, functions, theorem, measure, least=c * (1 - CLOSE))
    except Refusal:
        return False
    spent = proof.e + proof.dissimilarity
    return proof.c >= c * proof.scale * (1 - 2 * CLOSE) and spent <= e * (1 + CLOSE)


def broken_promises(card, n, parameters=()):
    """Return what is not certified of a card: theorem, rule and parameter; and how many are tried.

    Without parameters it is the step size, by the first rule that meets a theorem.
    """
    found, tried = [], set()
    for theorem in (*card.theorems, *card.descents, *card.convex):
        if isinstance(theorem, RunTheorem):
            continue
        where = where_clients_differ(card, theorem, n)
        for rule in card.rules:
            try:
                method = card.at(where, rule)
            except Refusal:  # such as a rule for another class of functions
                continue
            if theorem.unmet(method, where):
                continue
            for name in parameters or [card.step_size]:
                limit = at_its_limit(theorem, method, where, name)
                if limit is None or (theorem, limit) in tried:
                    continue
                tried.add((theorem, limit))
                if not promise_is_certified(theorem, limit, where):
                    found.append((theorem.title, rule, name))
            if not parameters:
                break
    return found, len(tried)


@pytest.mark.parametrize(("name", "n"), CASES)
def test_promises_are_certified_at_the_largest_step(name, n):
    broken, count = broken_promises(ONE_STEP[name], n)
    assert broken == []
    assert count


@pytest.mark.long
@pytest.mark.parametrize(("name", "n"), CASES)
def test_promises_are_certified_at_every_limit(name, n):
    names = [field.name for field in fields(ONE_STEP[name].method)]
    where = where_clients_differ(ONE_STEP[name], ONE_STEP[name].stated[0], n)
    method = ONE_STEP[name].at(where)
    real = [each for each in names if isinstance(getattr(method, each), float)]
    assert broken_promises(ONE_STEP[name], n, real)[0] == []


class LightReference(ReferencePoint):
    """The weight that is right where L_f = L only."""

    def lyapunov(self, m, s, star, setting, problem):
        distance, reference = super().lyapunov(m, s, star, setting, problem)
        return distance, replace(reference, weight=8 * setting.expected * m.gamma**2 / m.p)


class TwiceTheNoise(ReferencePoint):
    """Half of the share of the samples in the bound of the step."""

    def conditions(self, m, setting):
        limit = 1 / (setting.constants.L_f + 3 * setting.expected / setting.n)
        return (*super().conditions(m, setting)[:-1], Condition("gamma", m.gamma, limit))


class TwiceTheStep(type(GD_CARD.theorems[0])):
    """A step of 4/L_f."""

    def conditions(self, m, setting):
        (*others, last) = super().conditions(m, setting)
        return (*others, replace(last, right=2 * last.right))


@pytest.mark.parametrize(
    ("card", "theorem", "n"),
    [
        (LSVRG_CARD, LightReference(), 4),
        (LSVRG_CARD, TwiceTheNoise(), 1),
        (GD_CARD, TwiceTheStep(), 4),
    ],
)
def test_planted_what_holds_for_like_clients_only_is_seen(card, theorem, n):
    wrong = Card(card.method, theorems=(theorem,), rules=card.rules, roles=card.roles)
    assert broken_promises(wrong, n)[0]
