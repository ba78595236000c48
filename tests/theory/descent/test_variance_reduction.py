"""One sample at two points: published constants, attacks, and what is not certified."""

from dataclasses import dataclass, replace

import pytest
from attack import largest_excess
from small_methods import ThreePoints

from certibit import CARDS, PAGE, SGD, FunctionClass, GradientNoise, Refusal, certify
from certibit.solvers.authoring import mean
from certibit.theory.certificates.summary import class_setting
from certibit.theory.quadratic_potential import AtModel
from certibit.theory.worlds.symbolic import symbols

CLOSE = 1e-8


def sampled(n, change, relative=0.0, **constants):
    noise = GradientNoise(relative, difference=change)
    return FunctionClass.nonconvex(n, L=1.0, noise=noise, **constants)


POINTS = [
    *(("page", {"p": p}, n, None) for p, n in ((0.1, 1), (0.1, 10), (0.5, 1000))),
    *(("vr-marina", {}, n, omega) for n, omega in ((1, 9.0), (10, 1.0), (1000, 9.0))),
]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("name", "options", "n", "omega"), POINTS)
def test_published_constants_are_those_of_their_potential(name, options, n, omega):
    """With the Psi of the theorem at its largest step c is gamma/2 and no more; e = 0."""
    card = CARDS[name]
    where = class_setting(card.method, n, None, omega, None, 20)
    method, theorem = card.at(where, "nonconvex", **options), card.about("squared_gradient")[0]
    promise = theorem.promise(method, where)
    functions = replace(FunctionClass.of(where), noise=GradientNoise(difference=where.difference))
    own = certify(method, functions, theorem)
    assert (own.c, own.e) == (pytest.approx(promise.c, rel=CLOSE), 0.0)
    best = certify(method, functions)
    assert best.c > 1.05 * promise.c
    assert best.reduces_variance
    assert best.verify()
    assert best.e == 0.0


@pytest.mark.long
@pytest.mark.parametrize("p", [0.1, 0.4])
def test_more_smoothness_of_samples_is_worse(p):
    found = [certify(PAGE(0.1, p), sampled(3, change)).c for change in (0.0, 0.5, 1.0)]
    assert found == sorted(found, reverse=True)
    exact = certify(PAGE(0.1, p), FunctionClass.nonconvex(3, L=1.0))
    assert found[0] == pytest.approx(exact.c, rel=1e-6)


@dataclass(frozen=True)
class NoiseOfTwoPoints(SGD):
    """Gradient descent with the noise of one sample at two points: 2 xi and its change."""

    name = "noise-of-two-points"

    def communicate(self, s, problem, channel):
        slope, xi = problem.grad(s.x), problem.sample(0)
        there = s.x + mean(channel.send(slope))
        noise = problem.grad(s.x, sample=xi) + problem.grad(there, sample=xi)
        noise = noise - slope - problem.grad(there)
        return type(s)(s.x - self.gamma * mean(channel.send(slope + noise)))


def test_noises_of_one_sample_are_not_independent(monkeypatch):
    """On x^2/2 with the noise r f' the two are alike; taken as orthogonal, c is too large."""
    method, functions = NoiseOfTwoPoints(0.3), sampled(1, 0.4, 0.16)
    right = certify(method, functions, AtModel("gap"), least=0.19)
    attack = max(largest_excess(right, (h,), ratio=0.4) for h in (0.3, 1.0))
    assert right.c == pytest.approx(0.255 - 4.5 * 0.09 * 0.16, abs=1e-3)
    assert attack <= 1e-9
    unknown = symbols.MessageErrors.unknown
    monkeypatch.setattr(
        symbols.MessageErrors,
        "unknown",
        lambda self, sent, law, beside=None: unknown(self, sent, law),
    )
    wrong = certify(method, functions, AtModel("gap"), least=0.21)
    assert max(largest_excess(wrong, (h,), ratio=0.4) for h in (0.3, 1.0)) > 1e-3


def test_what_is_not_certified_is_refused():
    with pytest.raises(Refusal, match="more than two points"):
        certify(ThreePoints(0.1), sampled(2, 1.0))
    with pytest.raises(Refusal, match="nothing is assumed of the change"):
        certify(PAGE(0.1, 0.1), sampled(2, None))
    for change in (-1.0, float("nan"), "1", True):
        with pytest.raises(Refusal, match="no bound of the change of a noise"):
            GradientNoise(difference=change)


def test_without_noise_page_is_gradient_descent():
    exact = FunctionClass.nonconvex(2, L=1.0)
    proof = certify(PAGE(0.5, 1.0), sampled(2, 1.0))
    assert proof.c == pytest.approx(certify(PAGE(0.5, 1.0), exact).c, rel=1e-6)
