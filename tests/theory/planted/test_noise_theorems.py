"""Planted faults of theorems about stochastic gradients, and of what is assumed of noise.

A fault of a theorem is caught where less is certified with its Psi than it promises; one of an
assumption where the certificate of SGD has not the e that quadratics attain.
"""

import numpy as np
import pytest
from faults import BY_PART
from limits import broken_promises
from planting import fault, planted

from certibit.solvers.methods.sgd import SGD
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.certificates.certify import certify
from certibit.theory.function_class import FunctionClass

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
