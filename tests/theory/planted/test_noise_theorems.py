"""Planted faults of theorems about stochastic gradients, and of what is assumed of noise.

A fault of a theorem is caught where less is certified with its Psi than it promises; one of an
assumption where the certificate of SGD has not the e that quadratics attain.
"""

import numpy as np
import pytest
from limits import broken_promises
from planting import fault, planted

from certibit.solvers.methods.sgd import SGD
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.function_class import FunctionClass
from certibit.theory.worlds.symbolic import symbols

CLOSE = 1e-7

FAULTS = [
    fault(f"{name}: {what}", f"theory.cards.{name.replace('-', '_')}", (right, wrong), on=name)
    for name, what, right, wrong in [
        (
            "l-svrg",
            "A/n for 6 A/n",
            "6 * setting.expected / setting.n)",
            "setting.expected / setting.n)",
        ),
        ("l-svrg", "an eighth of the weight", "most) / m.p", "most) / (8 * m.p)"),
        ("l-svrg", "twice mu", "1 - m.gamma * setting.mu, 1", "1 - 2 * m.gamma * setting.mu, 1"),
        ("vr-diana", "q without omega", "1 / setting.n + 5 *", "1 / setting.n + 0 *"),
        ("vr-diana", "no weight of shifts", "4 * setting.omega_av / m", "0 * setting.omega_av / m"),
        ("vr-diana", "twice mu", "1 - m.gamma * setting.mu, 1", "1 - 2 * m.gamma * setting.mu, 1"),
        (
            "sgd",
            "half of e",
            "return 2 * m.gamma**2 / setting.n",
            "return 1 * m.gamma**2 / setting.n",
        ),
        ("sgd", "1 - 4 gamma mu", "1 - m.gamma * setting.mu\n", "1 - 4 * m.gamma * setting.mu\n"),
        ("local-sgd", "c = gamma I", "m.gamma * m.I / 2 -", "m.gamma * m.I -"),
        (
            "local-sgd",
            "a tenth of e",
            "m.I / setting.n + drift",
            "m.I / setting.n / 10 + drift / 10",
        ),
        ("local-sgd", "no zeta", "return 2 / 3 * m.gamma**3", "return 0 / 3 * m.gamma**3"),
        ("dasha-page", "c = gamma", "return m.gamma / 2", "return m.gamma"),
        ("dasha-page", "no noise of samples", "2 * changed / (p", "0 * changed / (p"),
        ("dasha-page", "a weight of 1/10", "Squares(m.gamma / m.p,", "Squares(m.gamma / 10,"),
        ("dasha-mvr", "a tenth of e", "return m.gamma * (2", "return 0.1 * m.gamma * (2"),
        ("dasha-mvr", "no noise of samples", "(4 * (squares + kept", "(4 * (squares + 0 * kept"),
        ("dasha-mvr", "c = gamma", "return m.gamma / 2", "return m.gamma"),
        ("ef", "nothing lost of c", "setting.L) - lost", "setting.L)"),
        ("ef", "no noise of errors", "(2 * setting.n) + kept)", "(2 * setting.n))"),
        ("ef", "half of the weight", "(2 * (1 - error_root", "(4 * (1 - error_root"),
        ("ef", "a tenth of zeta^2", "* s) ** 2 / (1 -", "* s) ** 2 / 10 / (1 -"),
        ("scaffold", "c = s", "* m.eta_g / 2 - _weight", "* m.eta_g - _weight"),
        (
            "scaffold",
            "a third of e",
            "return step * (shared + 2 / 3 * drift) + _weight_of_drift(m, setting)",
            "return step * (shared + 2 / 3 * drift) / 3 + _weight_of_drift(m, setting) / 3",
        ),
        ("scaffold", "a weight of 1/40", "* p / (2 * (1 - 4 * p))", "* p / (80 * (1 - 4 * p))"),
        ("diana", "c = 2 gamma", "m.gamma - self._moved", "2 * m.gamma - self._moved"),
        ("diana", "no noise of shifts", "m.alpha**2 * (1 + setting", "0 * (1 + setting"),
        (
            "diana",
            "an eighth of the weight",
            "return 2 * setting.L * m",
            "return setting.L / 4 * m",
        ),
    ]
]


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
    found = certify_descent(SGD(gamma), functions, psi, "potential", least=c * (1 - CLOSE))
    return abs(found.e - attained) <= 1e-6 * attained


def test_the_attained_noise_is_certified():
    assert has_attained_noise()


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


def test_noises_of_one_sample_are_not_orthogonal(monkeypatch):
    unknown = symbols.MessageErrors.unknown
    monkeypatch.setattr(
        symbols.MessageErrors,
        "unknown",
        lambda self, sent, law, beside=None: unknown(self, sent, law),
    )
    assert not has_attained_noise()
