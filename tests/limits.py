"""Promises of theorems at the limits of their hypotheses, held against certificates.

There L_f and the mean of the L_i^2 are far below the largest L_i, so that no constant stands for
another one, and expected smoothness is far above it.
"""

import math
from dataclasses import replace
from itertools import product

import numpy as np

from certibit import Constants, FunctionClass, GradientNoise, Refusal, RunTheorem, certify
from certibit.theory.assumptions.assumption import BoundedDissimilarity
from certibit.theory.certificates.summary import class_setting
from certibit.theory.setting import OfSamples

CLOSE = 1e-6
STEEP, FLAT, UNLIKE = 10.0, 0.3, (1.0, 0.2, 0.2, 0.2)
"""Parts of L: expected smoothness, L_f, and the L_i of four clients."""
UNIT = 2.0
"""Of the functions: no constant is 1."""
LEFT_OPEN = {
    "local-sgd": {"I": 3},
    "scaffold": {"K": 3},
    "l-svrg": {"p": 0.5},
    "vr-diana": {"p": 0.5},
}
"""With many new points 1 - gamma mu is the factor, and with several steps clients drift."""


def settings_of(card, theorem, n):
    """Yield settings of n clients in which all constants differ, with and without compression."""
    if not card.method.needs.compressor:
        yield where_clients_differ(card, theorem, n, None)
        return
    yield where_clients_differ(card, theorem, n, 3.0)
    if card.method.needs.samples:  # whose noise alone is left
        yield where_clients_differ(card, theorem, n, 0.0)


def where_clients_differ(card, theorem, n, omega):
    """Return a setting of n clients in which all constants differ."""
    kappa = 100.0 if theorem.measure in {"potential", "gap"} else None
    where = class_setting(card.method, n, kappa, omega, None, 20)
    mu, L = UNIT * where.constants.mu, UNIT * where.L
    mu = 0.0 if theorem.measure == "gap" else mu
    alike = n == 1 or card.name == "gradskip"  # whose clients toss coins of their own
    L_i = L * (np.ones(n) if alike else np.array(UNLIKE))
    where = replace(where, constants=Constants(mu, L_i, L * (1.0 if alike else FLAT)))
    if card.method.needs.samples:
        where = replace(where, of_samples=OfSamples(STEEP * L, STEEP * L))
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
    promise, factor = theorem.promise(method, where), theorem.measure == "potential"
    c = 1 - promise.factor if factor else promise.c
    functions = FunctionClass.of(where)
    if theorem.allows_noise(method, where):
        smooth = factor and theorem.noise_at_solution
        constants = {"expected": where.expected} if smooth else {"difference": where.difference}
        functions = replace(functions, noise=GradientNoise(**constants))
    dissimilarity = 0.0 if factor else promise.dissimilarity
    for zeta in (0.1, 3.0) if dissimilarity else (0.0,):
        unlike = (BoundedDissimilarity(1.0, zeta),) if zeta else ()
        functions = replace(functions, assumptions=unlike or functions.assumptions)
        measure = "potential" if factor else None
        try:
            proof = certify(method, functions, theorem, measure, least=c * (1 - CLOSE))
        except Refusal:  # also of a c below 0, where a hypothesis lets Psi grow
            return False
        spent = proof.e + zeta**2 * proof.dissimilarity
        if not (
            proof.c >= c * proof.scale * (1 - 2 * CLOSE)
            and spent <= (promise.e + zeta**2 * dissimilarity) * (1 + CLOSE)
        ):
            return False
    return True


def broken_promises(card, n, parameters=()):
    """Return what is not certified of a card: theorem, rule and parameter; and how many are tried.

    Without parameters it is the step size, by the first rule that meets a theorem.
    """
    found, tried = [], set()
    theorems = card.about("potential", "squared_gradient", "gap")
    for theorem in (one for one in theorems if not isinstance(one, RunTheorem)):
        for where, rule in product(settings_of(card, theorem, n), card.rules):
            try:
                method = card.at(where, rule, **LEFT_OPEN.get(card.name, {}))
            except Refusal:  # such as a rule for another class of functions
                continue
            if theorem.unmet(method, where) or (not parameters and (theorem, where) in tried):
                continue
            for name in parameters or [card.step_size]:
                limit = at_its_limit(theorem, method, where, name)
                if limit is None or (theorem, where, limit) in tried:
                    continue
                tried |= {(theorem, where), (theorem, where, limit)}
                if not promise_is_certified(theorem, limit, where):
                    found.append((theorem.title, rule, name))
    return found, len(tried)
