"""Certified decreases of methods that clip: formulas, both sides, and what is refused."""

from dataclasses import dataclass
from fractions import Fraction
from math import e, exp, expm1, factorial

import numpy as np
import pytest

from certibit import (
    CARDS,
    CELGC,
    EPISODE,
    GD,
    ClippedMinibatchSGD,
    ClippedSCAFFOLD,
    ClippedSGD,
    EpisodePlusPlus,
    MomentumClipping,
    NaiveParallelClip,
    NormalisedEF21,
    NormalisedGD,
    RelaxedFunctions,
    certify_clipped,
)
from certibit.data.problem import RelaxedConstants
from certibit.solvers.authoring import Refusal
from certibit.theory.cards.clipped_sgd import ClippedGD
from certibit.theory.cards.episode import MAIN
from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.relaxed.clipped_account import (
    attained_decrease,
    clipped_account,
    parameters_of,
    published_step,
    scaled,
)
from certibit.theory.relaxed.growth_bounds import against_gradient, exponential_above
from certibit.theory.worlds.opaque.exact_numbers import rational

B = e - 1
FUNCTIONS = RelaxedFunctions(1.0, 1.0, n=4)
SAME = (ClippedSGD, NaiveParallelClip, ClippedMinibatchSGD, EPISODE)
POINTS = [(1.0, 1.0), (2.0, 0.5), (0.0, 2.0), (3.0, 0.0), (1e-3, 1e3)]


@pytest.mark.parametrize(("L0", "L1"), POINTS)
@pytest.mark.parametrize("part", [0.1, 0.6, 0.95])
def test_the_formula_of_lemma_5(L0, L1, part):
    """c = 1 - (A L0 eta + B L1 gamma)/2."""
    eta = part / 2 if not L0 else part / (2 * L0)
    gamma = part / 2 if not L1 else part / (2 * L1)
    proof = certify_clipped(ClippedSGD(eta, gamma), RelaxedFunctions(L0, L1), "lemma-5")
    assert proof.c == pytest.approx(1 - (2 * L0 * eta + B * L1 * gamma) / 2, rel=1e-11)
    assert proof.verify()


def test_the_formula_in_any_direction_and_against_the_gradient():
    """c = 1 - (L0 + L1 tau) phi(+-T)/(L1^2 gamma tau), T = L1 gamma, tau = gamma/eta."""
    method, T, tau = ClippedSGD(eta=0.2, gamma=0.25), 0.25, 1.25
    free = certify_clipped(method, FUNCTIONS, "any-direction")
    assert free.c == pytest.approx(1 - (1 + tau) * (expm1(T) - T) / (T * tau), rel=1e-11)
    best = certify_clipped(method, FUNCTIONS)
    assert best.c == pytest.approx(1 - (1 + tau) * (expm1(-T) + T) / (T * tau), rel=1e-11)


@pytest.mark.parametrize("part", ["1/4", "1/2", "3/4"])
def test_what_f_grows_by_along_a_step_that_is_partly_against_the_gradient(part):
    """L0 = 2, L1 = 3 and r = 1/2: T1 = 3 q/2 against it, and T2 = 3 (1 - q)/2 in any direction."""
    q, r = float(Fraction(part)), RationalFunction.of(rational(0.5))
    bound = against_gradient(rational(2), rational(3), r, rational(0.5), rational(Fraction(part)))
    T1, T2 = 1.5 * q, 1.5 * (1 - q)
    Q = q**2 * (expm1(-T1) + T1) / T1**2 - q * (1 - q) * expm1(-T1) / T1
    Q += (1 - q) ** 2 * exp(-T1) * (expm1(T2) - T2) / T2**2
    for slope in (1, 10):
        assert float(bound.excess.at(rational(slope))) == pytest.approx(
            (3 * slope + 2) / 4 * Q, rel=1e-9
        )


def test_the_card_and_lemma_5_agree():
    """At the limits of the theorem of clipped GD the certificate has its c = 1/2, no less."""
    own = ClippedGD()
    for L0, L1 in POINTS[:3] + POINTS[4:]:
        limits = [condition.right for condition in own.limits(L0, L1, 1.0, 1.0)]
        eta, gamma = min(limits[0], 1e4), min(limits[1:]) * (1 - 1e-12)
        method, functions = ClippedSGD(eta, gamma), RelaxedFunctions(L0, L1)
        proof = certify_clipped(method, functions, "lemma-5")
        assert proof.c >= 0.5 - 1e-11
        assert not L0 or proof.c == pytest.approx(0.5, rel=1e-11)
        for slope in np.logspace(-3, 3, 50):
            promised = own.decrease(eta, gamma, slope)
            assert proof.decrease(slope) >= promised * (1 - 1e-11)
        better = certify_clipped(method, functions)
        assert better.c > proof.c
        assert better.iterations(1.0, 0.1) < own.iterations(1.0, eta, gamma, 0.1)


@pytest.mark.parametrize("kappa", [0.0, 2.0])
def test_the_theorem_of_episode_follows(kappa):
    """Its claim on a round, f(x+) - f(x) <= -(eps/4) eta G + (eps^2/2) eta, from c M."""
    functions, constants = RelaxedFunctions(2.0, 3.0, n=5), RelaxedConstants(2.0, 3.0, kappa, 1.0)
    method = parameters_of(CARDS["episode"], functions, constants)
    found = published_step(CARDS["episode"], functions, method.eta, method.gamma, constants)
    assert found.holds
    assert found.title.startswith(MAIN.title)
    proof = certify_clipped(method, functions)
    for slope in np.logspace(-4, 4, 200):
        claimed = found.epsilon * method.eta * (slope / 4 - found.epsilon / 2)
        assert proof.decrease(slope) >= claimed
    longer = published_step(CARDS["episode"], functions, 2 * method.eta, method.gamma, constants)
    assert not longer.holds


@pytest.mark.parametrize("kind", SAME)
def test_methods_with_the_same_step_have_the_same_proof(kind):
    """EPISODE with I = 1 and no noise is clipped gradient descent, whatever the f_i are."""
    one = certify_clipped(ClippedSGD(0.2, 0.3), FUNCTIONS)
    other = certify_clipped(kind(0.2, 0.3), FUNCTIONS)
    assert (other.exact, other.proofs) == (one.exact, one.proofs)


@pytest.mark.parametrize(("L0", "L1"), POINTS)
@pytest.mark.parametrize(
    "make", [ClippedSGD, EPISODE, lambda eta, gamma: NormalisedGD(gamma, gamma / eta)]
)
@pytest.mark.parametrize(("eta", "gamma"), [(0.1, 0.05), (0.02, 0.2), (0.55, 0.55)])
def test_a_function_attains_c(L0, L1, make, eta, gamma):
    """Nothing is lost: f'' = L0 + L1 |f'| decreases by c M and no more at one point."""
    functions = RelaxedFunctions(L0, L1)
    method = make(eta / (L0 or 1.0), gamma / (L1 or 1.0))
    proof = certify_clipped(method, functions)
    found = attained_decrease(method, functions, proof.measure)
    assert proof.c == pytest.approx(found.c, rel=1e-9 if L0 else 1e-3), "L0 = 0: at infinity"
    assert proof.c <= found.c * (1 + 1e-12)


def test_a_certificate_has_no_unit():
    """f/a and x/b: L0 b^2/a, L1 b, eta a/b^2, gamma/b have the same c."""
    one = certify_clipped(ClippedSGD(0.3, 0.4), RelaxedFunctions(1.0, 1.0)).c
    a, b = 1e4, 1e-2
    other = certify_clipped(ClippedSGD(0.3 * a / b**2, 0.4 / b), RelaxedFunctions(b**2 / a, b)).c
    assert other == pytest.approx(one, rel=1e-11)


@pytest.mark.parametrize(
    ("method", "words"),
    [
        (EPISODE(0.1, 0.1, I=2), "away from the model of the round; certify it with one step"),
        (ClippedSGD(0.1, 0.1, I=3), "away from the model of the round"),
        (CELGC(0.1, 0.1), "what depends on one client's gradient, not on grad f(x) only"),
        (EPISODE(0.1, 0.1, S=2), "it draws a cohort; let all clients take part"),
        (EpisodePlusPlus(0.1, 0.1), "starts from a state with more than the model"),
        (MomentumClipping(0.1, 0.1), "starts from a state with more than the model"),
        (ClippedSCAFFOLD(0.1, 0.1), "starts from a state with more than the model"),
        (NormalisedEF21(0.1), "calls uplink of the channel"),
        (GD(0.1), "a step of gd is no multiple of grad f(x) at small gradients and of bounded"),
        (EPISODE(0.1, float("inf")), "gamma = inf of episode is not finite; give a number"),
        (ClippedSGD(3.0, 3.0), "no decrease of f is proved"),
    ],
    ids=lambda x: getattr(x, "name", ""),
)
def test_what_is_not_covered_is_refused_in_a_sentence(method, words):
    with pytest.raises(Refusal) as refused:
        certify_clipped(method, FUNCTIONS)
    assert words in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"L0": -1.0}, "L0 = -1 is no constant"),
        ({"L1": float("nan")}, "L1 = nan is no constant"),
        ({"L0": 0.0, "L1": 0.0}, "the linear functions"),
        ({"n": 0}, "n = 0 clients"),
        ({"sigma": -1.0}, "sigma = -1"),
    ],
)
def test_a_class_is_checked(values, words):
    with pytest.raises(Refusal, match=words):
        RelaxedFunctions(**({"L0": 1.0, "L1": 1.0} | values))
    with pytest.raises(Refusal, match="kappa = -1 and rho = 1"):
        RelaxedFunctions.of_clients(1.0, 1.0, kappa=-1.0)


LOOKING = {
    "floats": lambda eta, x: 0.2 + eta > 0.3,
    "arrays": lambda eta, x: isinstance(x, np.ndarray),
}


@dataclass(frozen=True)
class Looking(ClippedSGD):
    """A step upwards for the sum of two floats, or on arrays."""

    at: str = ""

    def communicate(self, s, problem, channel):
        ahead = super().communicate(s, problem, channel)
        return type(s)(s.x + s.x - ahead.x) if LOOKING[self.at](self.eta, s.x) else ahead


@pytest.mark.parametrize("sigma", [0.0, 0.1])
@pytest.mark.parametrize("at", LOOKING)
def test_a_step_does_not_depend_on_what_it_calculates_with(at, sigma):
    with pytest.raises(Refusal, match=r"must not ask what they are|move against it"):
        certify_clipped(Looking(0.1, 0.3, at=at), RelaxedFunctions(1.0, 1.0, sigma=sigma))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", ["clipped-sgd", "normalised-gd"])
def test_larger_steps_are_certified_than_published(name):
    method = parameters_of(CARDS[name], FUNCTIONS)
    account = clipped_account(method, FUNCTIONS)
    assert account.published.holds
    assert account.is_attained
    assert 1.5 < account.certificate.c / account.published.c < 2
    assert account.largest > 3.5
    assert certify_clipped(scaled(method, account.largest), FUNCTIONS).c > 0
    with pytest.raises(Refusal):
        certify_clipped(scaled(method, 1.01 * account.largest), FUNCTIONS)
    assert account.best * account.best_c > account.certificate.c


def test_exponentials_are_on_the_safe_side():
    for T in (Fraction(1, 100), Fraction(1), Fraction(4)):
        above = Fraction(str(exponential_above(T)))
        series = sum((T**k / factorial(k) for k in range(60)), Fraction(0))
        assert series < above < series * (1 + Fraction(1, 10**4))
        assert float(series) == pytest.approx(exp(T))
