"""Steps on symbols with norms: regimes that are known, and methods that are refused."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from certibit import Refusal, RelaxedFunctions, certify_clipped, copies, masked, mean, where
from certibit.solvers.clipping import ClippedMethod, ModelState, norm, unit
from certibit.theory.proofs.positivity import RationalFunction
from certibit.theory.relaxed.regimes import regimes
from certibit.theory.relaxed.slope_world import SLOPE
from certibit.theory.worlds.opaque.exact_numbers import rational

QUIET = RelaxedFunctions(1.0, 1.0, n=3)
NOISY = RelaxedFunctions(1.0, 1.0, n=3, sigma=0.01)


@dataclass(frozen=True)
class Step(ClippedMethod):
    """One step x - (what a function of the method, x, the problem and the channel returns)."""

    how: Any = None
    I: int = 1  # noqa: E741

    name = "own"

    def communicate(self, s, problem, channel):
        return ModelState(s.x - self.how(self, s.x, problem, channel))


def found(how, functions=QUIET):
    return regimes(Step(0.1, 0.2, how), functions)


def gradient(x, f, sample=None):
    return mean(f.grad(x, sample=sample))


def soft(m, x, f, c):
    g = gradient(x, f)
    return m.eta / (1 + m.eta * norm(g) / m.gamma) * g


def twice(m, x, f, c):
    """Clip, and clip the result at half of it."""
    v = m.clip(gradient(x, f))
    half = m.gamma / 2
    return where(norm(v) > half, half * unit(v), v)


def corrected(m, x, f, c):
    """The client's own gradients cancel."""
    own = f.grad(copies(x, f.n))
    return mean(m.clip(own - c.send(own) + mean(own)))


def test_steps_that_are_computed():
    point, interval = found(soft)
    assert (point.span.low, point.span.high) == (0, 0)
    assert interval.along == rational(0.1) / (1 + SLOPE / 2)
    ends = [(one.span.low, one.span.high) for one in found(twice)]
    assert [low for low, high in ends if low != high] == [0, 1, 2]
    assert found(twice)[-1].along == RationalFunction.of(0.1) / SLOPE
    assert [one.along for one in found(corrected)] == [
        one.along for one in found(lambda m, x, f, c: m.clip(gradient(x, f)))
    ]


def test_noise_that_decides_is_followed_both_ways():
    def clipped(m, x, f, c):
        return m.clip(gradient(x, f, sample=0))

    inner = [one for one in found(clipped, NOISY) if not one.span.is_point]
    spans = [(float(one.span.low), one.answers) for one in inner]
    assert spans == [(0.0, ()), (1.99, (False,)), (1.99, (True,)), (2.01, ())]
    below, plain, turned, above = inner
    assert below.fresh == RationalFunction.of(rational(0.1) ** 2 * rational(0.01) ** 2 / 3)
    assert (below.known, bool(plain.fresh), bool(plain.known)) == (
        RationalFunction.of(0),
        False,
        True,
    )
    assert turned.turned == above.turned == RationalFunction.of(0.2)
    assert turned.radius == RationalFunction.of(0.01)


def test_noise_of_another_sample_keeps_its_mean():
    """As in EPISODE: what decides is not what is stepped with."""

    def apart(m, x, f, c):
        clipped = norm(gradient(x, f, sample="control")) > m.tau
        return m.step(gradient(x, f, sample=0), clipped)

    middle = [one for one in found(apart, NOISY) if one.answers == (False,)]
    assert middle
    assert all(one.fresh and not one.known for one in middle)


def test_a_direction_is_its_own():
    """Two directions with noise of the same length are not the same vector."""

    def difference(m, x, f, c):
        one, other = (unit(gradient(x, f, sample=k)) for k in (0, 1))
        return m.gamma * (one - other) + m.clip(gradient(x, f))

    with pytest.raises(Refusal, match="moves along the direction of a gradient"):
        found(difference, NOISY)


@pytest.mark.parametrize("turned", [False, True])
def test_the_farthest_of_several_directions_counts(turned):
    """One has the noise of one sample, and the other one that of two."""

    def both(m, x, f, c):
        exact = gradient(x, f)
        one = gradient(x, f, sample=0)
        directions = [unit(one), unit(gradient(x, f, sample=1) + gradient(x, f, sample=2) - exact)]
        first, second = directions[::-1] if turned else directions
        return where(norm(exact) > 1, m.gamma * first + m.gamma * second, m.eta * exact)

    *_, far = found(both, NOISY)
    assert far.radius == 2 * RationalFunction.of(0.01)
    assert far.turned == 2 * RationalFunction.of(0.2)


UNLIKE = RelaxedFunctions(1.0, 1.0, n=2, kappa=1.0, rho=2.0)


def removable(quotient):
    """Return a step that climbs where a quotient, which is 1 elsewhere, is 0/0: at G = 1."""

    def step(m, x, f, c):
        d = m.clip(g := gradient(x, f))
        return where(quotient(norm(g) - 1) > 0, d, -10 * d)

    return step


def replaced_at_zero(m, x, f, c):
    """A client without a gradient has the length 5, which is above the threshold."""
    v = f.grad(x)
    length = norm(v)
    far = where(length > 0, length, 5 + 0 * length) > m.tau
    return mean(where(far, m.gamma * unit(v), m.eta * v))


REFUSED = {
    "clients without a gradient": (
        lambda m, x, f, c: mean(where(norm(f.grad(x)) > 0, d := m.clip(gradient(x, f)), -9 * d)),
        UNLIKE, "lets every client choose by its own norm"),
    "a number of clients without a gradient": (
        lambda m, x, f, c: where(norm(v := f.grad(x)) > 0, 1 + 0 * norm(v), 9) * gradient(x, f),
        UNLIKE, "chooses a number by every client's own norm"),
    "a norm that is replaced": (replaced_at_zero, UNLIKE, "a norm that is replaced where it is 0"),
    "0/0 of numbers": (removable(lambda t: t / t), QUIET, "divides by a norm that may be 0"),
    "0 times 1/0": (removable(lambda t: t * (1 / t)), QUIET, "divides by a norm that may be 0"),
    "a vector times 0/0": (
        lambda m, x, f, c: (t := norm(g := gradient(x, f)) - 1) * (g / t), QUIET,
        "divides by a norm that may be 0"),
    "one client's gradient": (lambda m, x, f, c: mean(m.clip(f.grad(x))), QUIET,
                              "the norm of what depends on one client's gradient"),
    "a model of its own": (lambda m, x, f, c: masked(norm(x) > 1, gradient(x, f)), QUIET,
                           "takes the norm of the model"),
    "part of the model": (lambda m, x, f, c: 0.1 * x, QUIET, "a multiple of itself"),
    "another point": (lambda m, x, f, c: gradient(x - gradient(x, f), f), QUIET,
                      "away from the model of the round"),
    "an if": (lambda m, x, f, c: gradient(x, f) if norm(gradient(x, f)) > 1 else 0 * x, QUIET,
              "reads the numbers of the answer of a comparison"),
    "a number": (lambda m, x, f, c: float(norm(gradient(x, f))) * gradient(x, f), QUIET,
                 "reads the numbers of a norm"),
    "the dimension": (lambda m, x, f, c: gradient(x, f) / x.shape[1], QUIET, "features"),
    "an entry": (lambda m, x, f, c: gradient(x, f)[:, :1], QUIET, "reads single entries"),
    "signs": (lambda m, x, f, c: np.sign(gradient(x, f)), QUIET, "calls a function of numpy"),
    "a largest entry": (lambda m, x, f, c: gradient(x, f).max(), QUIET, "uses .max of a vector"),
    "a product": (lambda m, x, f, c: x * gradient(x, f), QUIET, "calculates with a vector and"),
    "a shift": (lambda m, x, f, c: gradient(x, f) + 1.0, QUIET, "adds numbers to a vector"),
    "an unguarded norm": (lambda m, x, f, c: m.gamma * gradient(x, f) / norm(gradient(x, f)), QUIET,
                          "divides by a norm that may be 0"),
    "an irrational place": (
        lambda m, x, f, c: where(norm(g := gradient(x, f)) * norm(g) > 2, 0 * x, g), QUIET,
        "at an irrational"),
    "a compressor": (lambda m, x, f, c: c.uplink(gradient(x, f)), QUIET, "calls uplink"),
    "a coin": (lambda m, x, f, c: where(c.coin(0.5), x, 0 * x), QUIET, "calls coin"),
    "some clients": (lambda m, x, f, c: mean(f.grad(x, active=2)), QUIET, "asks some of the"),
    "a norm with noise": (
        lambda m, x, f, c: m.gamma / (1 + norm(gradient(x, f, 0))) * gradient(x, f, 0), NOISY,
        "calculates with the norm of a vector that has noise"),
    "a direction of a direction": (lambda m, x, f, c: m.clip(m.gamma * unit(gradient(x, f, 0))),
                                   NOISY, "takes the norm of a direction that has noise"),
    "another's norm": (lambda m, x, f, c: gradient(x, f, 0) / norm(gradient(x, f, 1)), NOISY,
                       "divides by the norm of another vector"),
    "two norms": (
        lambda m, x, f, c: where(norm(gradient(x, f, 0)) > norm(gradient(x, f, 1)), x, x), NOISY,
        "compares two norms"),
    "every client's noise": (
        lambda m, x, f, c: mean(m.clip(gradient(x, f) + f.grad(x, sample=0) - f.grad(x))), NOISY,
        "lets the noise of every client decide for it"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_computed_is_refused(name):
    how, functions, words = REFUSED[name]
    with pytest.raises(Refusal) as refused:
        found(how, functions)
    assert words in str(refused.value)
    assert "the step of own" in str(refused.value)


def test_a_refusal_that_a_method_catches_is_one():
    def hidden(m, x, f, c):
        try:
            np.sign(gradient(x, f))
        except Refusal:
            return m.clip(gradient(x, f))

    with pytest.raises(Refusal, match="calls a function of numpy"):
        certify_clipped(Step(0.1, 0.2, hidden), QUIET)


def test_a_step_of_one_length_is_refused():
    """At small gradients it may climb."""
    with pytest.raises(Refusal, match=r"no multiple of grad f.x. at small gradients"):
        certify_clipped(Step(0.1, 0.2, lambda m, x, f, c: unit(gradient(x, f))), QUIET)


def test_what_is_not_used_decides_nothing():
    """A comparison that noise would decide for every client, in a branch that is not taken."""

    def unused(m, x, f, c):
        q = gradient(x, f) + f.grad(x, sample=0) - f.grad(x)
        return mean(m.step(q, norm(gradient(x, f)) > m.tau))

    spans = [one.answers for one in found(unused, NOISY)]
    assert set(spans) == {()}
