"""Attacks on certificates over (L0, L1)-smooth functions: functions, noise, and planted faults."""

from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest
from paths import least

from certibit import (
    EPISODE,
    ClippedMinibatchSGD,
    ClippedSGD,
    NaiveParallelClip,
    NormalisedGD,
    RelaxedFunctions,
    certify_clipped,
)
from certibit.data.relaxed.families import Cosh, Extremal, PseudoHuber, Shape, Steep, Well
from certibit.data.relaxed.polynomials import smallest_offset
from certibit.solvers.authoring import Refusal, mean, where
from certibit.solvers.clipping import ModelState, norm, unit
from certibit.theory.proofs.positivity import RationalFunction, Span, cuts_for, holds_with_cuts
from certibit.theory.relaxed.certify_clipped import PARTS, GrowthBound
from certibit.theory.relaxed.clipped_account import clipped_account
from certibit.theory.relaxed.growth_bounds import against_gradient
from certibit.theory.relaxed.slope_world import SLOPE, SlopeNumber
from certibit.theory.verdict import ContradictionError
from certibit.theory.worlds.opaque.exact_numbers import rational


@dataclass(frozen=True)
class Recurrent(Shape):
    """(w^K - 1)^2/2: one weight applied K times; not convex."""

    K: int

    def gap(self, x):
        return (x[:, 0, :] ** self.K - 1) ** 2 / 2

    def grad(self, x):
        return self.K * x ** (self.K - 1) * (x**self.K - 1)

    def offset(self, L1):
        power = np.polynomial.Polynomial([-1.0] + [0.0] * (self.K - 1) + [1.0])
        return smallest_offset((power**2 / 2).coef.tolist(), L1)


SHAPES = [
    Cosh(0.7),
    Well(),
    PseudoHuber(0.5, 0.4),
    Recurrent(2),
    Recurrent(3),
    Steep(2.0, 1.5),
    Extremal(2.0, 1.5),
]
"""Functions of known L0 for every L1; the recurrent ones are not convex."""


class Clients:
    """Clients f_i = h + b_i'x with given noise, for one step of a method on many points."""

    def __init__(self, shape, n=1, noise=None):
        self.shape, self.n, self.noise = shape, n, noise or {}
        tilts = np.arange(n) - (n - 1) / 2
        self.tilts = 3 * tilts.reshape(n, 1, 1)

    def grad(self, x, active=None, sample=None):
        own = self.shape.grad(x) + self.tilts
        return own + self.noise[sample] if sample in self.noise else own


class Everyone:
    """Messages that arrive as they are."""

    def send(self, v, mask=None):
        return v

    broadcast = send

    def cohort(self, m):
        return None


def stepped(method, shape, x, n=1, noise=None):
    """One step from x, (1, d, R)."""
    clients = Clients(shape, n, noise)
    return method.communicate(ModelState(x), clients, Everyone()).x


@pytest.mark.long(keep=10)
@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: type(shape).__name__)
@pytest.mark.parametrize("kind", [ClippedSGD, EPISODE, NormalisedGD])
def test_functions_of_the_class_keep_the_promise(shape, kind):
    """1500 points each, for small steps and for some near the largest that are certified."""
    generator = np.random.default_rng(0)
    L1 = shape.natural_L1 or 1.0
    functions = RelaxedFunctions(shape.offset(L1), L1, n=3)
    d = 1 if isinstance(shape, Recurrent | PseudoHuber | Steep | Extremal) else 3
    for scale in (0.2, 1.0, 2.5):
        eta, gamma = scale * 0.25 / functions.L0, scale * 0.29 / L1
        method = kind(eta, gamma) if kind is not NormalisedGD else kind(gamma, gamma / eta)
        proof = certify_clipped(method, functions)
        x = generator.standard_normal((1, d, 1500)) * 10 ** generator.uniform(-2, 1, (1, 1, 1500))
        after = stepped(method, shape, x, n=3)
        slopes = np.linalg.norm(shape.grad(x)[0], axis=0)
        fallen = (shape.gap(x) - shape.gap(after))[0]
        promised = np.array([proof.decrease(slope) for slope in slopes])
        rounding = 1e-12 * (shape.gap(x)[0] + 1e-300)
        assert (fallen >= promised * (1 - 1e-9) - rounding).all()


NOISY = [ClippedSGD, NaiveParallelClip, ClippedMinibatchSGD, EPISODE]


@pytest.mark.long(keep=3)
@pytest.mark.parametrize("kind", NOISY)
@pytest.mark.parametrize("part", [0.02, 0.2])
def test_noise_keeps_the_promise_in_the_mean(kind, part):
    """All outcomes of Rademacher noise of two clients, from 400 points of three functions."""
    sigma, n = part, 2
    for shape in (Extremal(1.0, 1.0), Cosh(), Steep(1.0, 1.0)):
        functions = RelaxedFunctions(1.0, 1.0, n, sigma)
        method = kind(0.25, 0.3)
        proof = certify_clipped(method, functions)
        assert 0 < proof.c < certify_clipped(method, replace(functions, sigma=0.0)).c
        assert proof.e > 0
        kink = float(proof.measure.kink)
        slopes = kink * np.concatenate([np.logspace(-2, 2, 200), np.linspace(0.7, 1.3, 200)])
        x = at_slope(shape, slopes)
        slots = ["control", 0] if kind is EPISODE else [0]
        mean_value = np.zeros(len(slopes))
        outcomes = list(product((-1.0, 1.0), repeat=n * len(slots)))
        for signs in outcomes:
            noise = np.reshape(signs, (len(slots), n, 1, 1)) * sigma
            after = stepped(method, shape, x, n, dict(zip(slots, noise, strict=True)))
            mean_value += shape.gap(after)[0] / len(outcomes)
        fallen = shape.gap(x)[0] - mean_value
        promised = [proof.decrease(s) - proof.e * sigma**2 for s in slopes]
        assert (fallen >= promised).all()


def at_slope(shape, slopes):
    """Points of a function on the line with given derivatives."""
    low, high = np.zeros_like(slopes), np.full_like(slopes, 30.0)
    for _ in range(80):
        middle = (low + high) / 2
        above = shape.grad(middle.reshape(1, 1, -1)).ravel() > slopes
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return low.reshape(1, 1, -1)


def test_noise_that_is_too_large_is_refused():
    with pytest.raises(Refusal, match="a larger threshold gamma/eta, or less noise"):
        certify_clipped(EPISODE(0.1, 0.1), RelaxedFunctions(1.0, 1.0, 5, sigma=0.5))
    with pytest.raises(Refusal, match="the norm of a vector that has noise"):
        certify_clipped(NormalisedGD(0.1, 1.0), RelaxedFunctions(1.0, 1.0, 5, sigma=0.1))


CASES = [(0.0, 1.0, 0.8), (1.0, 1.164, 0.3), (1.0, 1.164, 0.8), (1.0, 5.0, 0.6), (1.0, 0.3, 0.15)]


@pytest.mark.parametrize(("L0", "G", "T"), CASES)
def test_no_turn_of_the_gradient_decreases_f_less(L0, G, T):
    """A search over gradients along a line in two dimensions; L1 = 1."""
    found = least(G, L0, 1.0, T)
    numbers = rational(L0), rational(1), RationalFunction.of(T), rational(T)
    proved = []
    for k in range(PARTS, -1, -1):
        bound = against_gradient(*numbers, rational(k) / PARTS)
        if all(one.at(G) >= 0 for one in bound.conditions):
            proved.append(G * T - float(Fraction(str(bound.excess.at(G)))))
    assert proved, "the part 0 always holds"
    assert proved == sorted(proved, reverse=True), "a larger part proves more"
    assert max(proved) <= found * (1 + 1e-3) + 1e-6, "up to the steps of the path"


@pytest.mark.parametrize(("L0", "last"), [(1.0, 0.5655), (0.0, 1.0)])
def test_the_slope_turns_where_the_condition_ends(L0, last):
    """With q = 1 the condition on T is the sharp one: beyond it a path that turns is steeper."""

    def allowed(T):
        bound = against_gradient(rational(L0), rational(1), RationalFunction.of(T), *ONE)
        return min(one.at(1) for one in bound.conditions) >= 0

    ONE = rational(2), rational(1)
    assert allowed(0.995 * last)
    assert not allowed(1.005 * last)
    for T, above in ((0.95 * last, -1e-6), (1.1 * last, -1.0)):
        turned = least(1.0, L0, 1.0, T, of=1) - ((L0 + 1) * np.exp(-T) - L0)
        assert turned > above
        assert above > -1 or turned < -2e-3


def test_without_its_condition_the_bound_is_false(monkeypatch):
    """Planted: the bound against the gradient for any length; a path in the plane refutes it."""
    T, G = 1.164, 1.164
    found = least(G, 1.0, 1.0, T)
    bound = against_gradient(
        *map(rational, (1, 1)), RationalFunction.of(T), rational(T), rational(1)
    )
    assert G * T - float(Fraction(str(bound.excess.at(G)))) > found * (1 + 1e-2)
    assert min(one.at(G) for one in bound.conditions) < 0, "and it is refused"


def test_a_long_step_at_one_gradient_has_no_proof():
    """Attack: a step of length T = 11/4 at the one G at which the slope is bounded by exactly 0.

    There (L0 + G) p = L0 for the polynomial p below e^-T, and both sides of the condition of the
    bound against the gradient are 0 if it is multiplied by squares of them. A path in the plane
    shows that f decreases by less than c M.
    """
    T, L0, G = 2.75, 35653 / 2**15, 16479419 / 2**15
    below = sum(Fraction(-11, 4) ** k / factorial(k) for k in range(8))
    assert (Fraction(L0) + Fraction(G)) * below == Fraction(L0)

    class LongAtOne(ClippedSGD):
        def communicate(self, s, problem, channel):
            g = mean(problem.grad(s.x))
            long = where(norm(g) < G, self.clip(g), T * unit(g))
            return ModelState(s.x - where(norm(g) > G, self.clip(g), long))

    functions = RelaxedFunctions(L0, 1.0)
    assert certify_clipped(ClippedSGD(0.2, 0.25), functions).decrease(G) > 5 * least(G, L0, 1.0, T)
    with pytest.raises(Refusal, match="no decrease of f is proved"):
        certify_clipped(LongAtOne(0.2, 0.25), functions)


METHOD, FUNCTIONS = ClippedSGD(0.69, 0.8), RelaxedFunctions(1.0, 1.0)


def test_a_proof_with_a_fault_does_not_hold():
    """Each number of a certificate is needed as it is."""
    proof = certify_clipped(METHOD, FUNCTIONS)
    noisy = certify_clipped(ClippedSGD(0.25, 0.3), RelaxedFunctions(1.0, 1.0, 2, 0.05))
    assert proof.verify()
    assert noisy.verify()
    first, second, *others = proof.proofs
    faults = [
        replace(proof, exact=proof.exact * Fraction(10**9 + 1, 10**9)),
        replace(proof, functions=RelaxedFunctions(1.0, 1.0001)),
        replace(proof, functions=RelaxedFunctions(1.0001, 1.0)),
        replace(proof, method=ClippedSGD(0.6901, 0.8)),
        replace(proof, measure=replace(proof.measure, eta=proof.measure.eta / 2)),
        replace(proof, proofs=proof.proofs[:-1]),
        replace(proof, proofs=proof.proofs[::-1]),
        replace(proof, proofs=(first, replace(second, high=second.high / 2), *others)),
        replace(proof, proofs=(first, replace(second, cuts=second.cuts[:-1]), *others)),
        replace(noisy, exact_e=noisy.exact_e / 2),
        replace(noisy, exact=noisy.exact * Fraction(10**9 + 1, 10**9)),
        replace(noisy, functions=RelaxedFunctions(1.0, 1.0, 2, 0.051)),
        replace(noisy, functions=RelaxedFunctions(1.0, 1.0, 1, 0.05)),
        replace(noisy, proofs=tuple(replace(one, answers=()) for one in noisy.proofs)),
    ]
    faults += [
        replace(proof, proofs=tuple(replace(one, bound=bound) for one in proof.proofs))
        for bound in (
            GrowthBound("against-gradient", Fraction(1)),
            GrowthBound("against-gradient", Fraction(2)),
            GrowthBound("against-gradient", Fraction(-1)),
            GrowthBound("any-direction"),
            GrowthBound("lemma-5"),
        )
    ]
    faults.append(
        replace(
            noisy,
            proofs=tuple(
                replace(one, bound=GrowthBound("against-gradient", Fraction(1)))
                for one in noisy.proofs
            ),
        )
    )
    for fault in faults:
        assert not fault.verify(), fault


@pytest.mark.parametrize("planted", ["greater is less", "always"])
def test_swapped_regimes_are_caught(monkeypatch, planted):
    """Planted: a comparison of norms that answers the wrong way, and one that always holds."""
    right = SlopeNumber._compared
    if planted == "always":
        wrong = lambda self, other, sign, equal: right(self * 0, -1, 1, False)  # noqa: E731
    else:
        wrong = lambda self, other, sign, equal: right(self, other, -sign, equal)  # noqa: E731
    monkeypatch.setattr(SlopeNumber, "_compared", wrong)
    with pytest.raises((Refusal, ContradictionError)):
        clipped_account(ClippedSGD(0.3, 0.3), FUNCTIONS)


def test_polynomials_with_a_negative_value_have_no_proof():
    """Random ones, against their values on a grid; those with a proof are checked anew."""
    generator = np.random.default_rng(0)
    proofs = 0
    for _ in range(300):
        roots = generator.uniform(-1, 3, generator.integers(1, 5))
        ratio = RationalFunction.of(int(generator.choice([-1, 1])))
        for root in roots:
            ratio = ratio * (SLOPE - rational(round(float(root), 3)))
        ratio = ratio / (SLOPE + 1)
        high = None if generator.random() < 0.3 else rational(2)
        span = Span(rational(0), high)
        cuts = cuts_for(ratio, span)
        grid = np.linspace(0, 2 if high else 1e3, 4001)
        values = np.polyval([float(c) for c in reversed(ratio.num.coeffs())], grid) / (grid + 1)
        if cuts is None:
            continue
        proofs += 1
        assert values.min() > -1e-9
        assert holds_with_cuts(ratio, span, cuts)
        assert not holds_with_cuts(ratio * -1, span, cuts)
        assert not holds_with_cuts(ratio, span, (*cuts, rational(5), rational(4)))
    assert proofs > 20
