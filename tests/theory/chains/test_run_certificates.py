"""Bounds on runs of any length: proved for all T, equal to those of chains, and planted errors."""

from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from certibit import AGD, DIANA, GD, FunctionClass, Refusal, Squares, certify_run, certify_steps
from certibit.data.arrays import Array
from certibit.solvers.authoring import Method, Needs, WithProbability, mean, where
from certibit.solvers.clipping import ModelState
from certibit.theory.chains.known_runs import (
    ACCELERATED,
    GRADIENT_DESCENT,
    HALF,
    RunCertificate,
    gradient_descent,
)
from certibit.theory.potential import Gap
from certibit.theory.quadratic_potential import AtModel

KNOWN = [GRADIENT_DESCENT, gradient_descent(Fraction(2, 5)), ACCELERATED]
OURS = pytest.mark.parametrize("proof", KNOWN, ids=["1/L", "2/5/L", "accelerated"])


@OURS
def test_the_bound_is_proved_for_all_lengths(proof):
    assert proof.verify()


def test_the_constants_are_the_known_ones():
    """Psi_0 = |x_0 - x*|^2/2: Drori, Teboulle (2014); Su, Boyd, Candes, arXiv:1503.01243."""
    for T in (1, 7, 1000):
        shorter = gradient_descent(Fraction(1, 4)).promise.bound(T, 0.5)
        assert shorter == pytest.approx(1 / (T + 2), rel=1e-12)
        assert GRADIENT_DESCENT.promise.bound(T, 0.5) == pytest.approx(1 / (4 * T + 2), rel=1e-12)
        assert ACCELERATED.promise.bound(T, 0.5) == pytest.approx(2 / (T + 1) ** 2, rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("steps", [3, 8])
def test_a_chain_of_so_many_steps_proves_no_less(steps):
    """Of gradient descent the same, because it is attained; of its acceleration a little more."""
    functions = FunctionClass(1, 0.0, 1.0)
    chain = certify_steps(GD(1.0), functions, steps, AtModel("distance"), "gap")
    assert chain.factor == pytest.approx(GRADIENT_DESCENT.promise.bound(steps, 0.5), rel=1e-6)

    class Start:
        def lyapunov(self, m, s, star, setting, problem):
            return Squares(1.0, s.y - star.y), Squares(1.0, s.y - s.x)

    growing = [AGD(1.0, 3 / (2 * t + 3)) for t in range(steps)]
    bound = ACCELERATED.promise.bound(steps, 0.5)
    assert bound / 2 < certify_run(growing, functions, Start()).factor < bound


@OURS
@pytest.mark.parametrize("part", ["step", "end", "first"])
@pytest.mark.parametrize("change", [Fraction(99, 100), Fraction(101, 100), 0, -1])
def test_planted_a_changed_multiplier_is_no_proof(proof, part, change):
    own = getattr(proof, part)
    for name, factors in own.items():
        wrong = {**own, name: tuple(change * one for one in factors)}
        assert not replace(proof, **{part: wrong}).verify(), (part, name)


@OURS
def test_planted_a_bound_that_is_too_good_is_no_proof(proof):
    first, *rest = proof.weight
    assert not replace(proof, weight=(first, *(one * Fraction(101, 100) for one in rest))).verify()
    assert not replace(proof, weight=(first + Fraction(1, 100), *rest)).verify()


def test_a_weight_below_0_bounds_nothing():
    """That Psi_T >= -(f(x_T) - f*) is true, and does not mean f(x_T) - f* <= -Psi_0."""
    end = {"point 0 to solution": (1, 1)}
    assert replace(
        GRADIENT_DESCENT, weight=(0,), end=end | {"point 0 to solution": (0, 1)}
    ).verify()
    assert not replace(GRADIENT_DESCENT, weight=(-1,), end=end).verify()


@pytest.mark.parametrize(
    ("proof", "method"),
    [
        (GRADIENT_DESCENT, lambda t: GD(gamma=Fraction(101, 100))),
        (gradient_descent(Fraction(71, 50)), lambda t: GD(gamma=Fraction(71, 50))),  # h^2 > 2
        (GRADIENT_DESCENT, lambda t: GD(gamma=Fraction(99, 100))),
        (ACCELERATED, lambda t: AGD(gamma=1, q=3 / (2 * t + 4))),
        (ACCELERATED, lambda t: AGD(gamma=1, q=3 / (2 * t + 2))),
        (ACCELERATED, lambda t: AGD(gamma=Fraction(101, 100), q=3 / (2 * t + 3))),
    ],
)
def test_planted_another_step_has_not_this_proof(proof, method):
    assert not replace(proof, method=method).verify()


def test_what_grows_only_late_is_no_proof():
    """Psi_t is negative after the 100th step: the signs of coefficients say so."""

    class Late:
        def __init__(self, t):
            self.t = t

        def lyapunov(self, m, s, star, setting, problem):
            return (Squares(1 - self.t / 100, s.x - star.x),)

    proof = RunCertificate(lambda t: GD(0), Late, (0,), {}, {}, Late(0), {})
    assert not proof.verify()
    assert replace(proof, potential=lambda t: Late(0)).verify()


def test_misfits_are_refused():
    with pytest.raises(Refusal, match="is no point; f is evaluated at 2"):
        replace(GRADIENT_DESCENT, step={"point 0 to point 2": (1,)}).verify()
    with pytest.raises(Refusal, match="is no inequality"):
        replace(GRADIENT_DESCENT, step={"point 0": (1,)}).verify()
    with pytest.raises(Refusal, match="a step of diana takes uplink"):
        replace(GRADIENT_DESCENT, method=lambda t: DIANA(1, 1)).verify()


ASKS = {
    "equal": lambda t: t == 5,
    "among": lambda t: t in (5, 6),
    "unequal": lambda t: t != 5,
    "truth": lambda t: not t - 5,
    "truth of a product": lambda t: not 2 * (5 - t) / (t + 1),
    "hash": lambda t: {5: True}.get(t, False),
}


@pytest.mark.parametrize("asks", ASKS.values(), ids=ASKS)
def test_a_method_that_is_another_at_one_step_has_no_proof_for_all(asks):
    """The number of the step was no number, and so not 5: all steps seemed to be alike."""
    method = {False: GD(1), True: GD(100)}
    with pytest.raises(Refusal, match=r"is compared with \d, which it equals for some values"):
        replace(GRADIENT_DESCENT, method=lambda t: method[asks(t)]).verify()


@dataclass(frozen=True)
class Turned:
    """A state after the first step."""

    x: Array


def stepping(step):
    """Return a round that goes against what is made of the state, the gradient and the problem."""

    def communicate(m, s, f, c):
        return replace(s, x=s.x - m.gamma * step(s, mean(c.send(f.grad(s.x))), f))

    return {"communicate": communicate}


def turning(m, s, f, c):
    ahead = -1 if isinstance(s, Turned) else 1
    return Turned(s.x - ahead * m.gamma * mean(c.send(f.grad(s.x))))


def of_nobody(s, g, f):
    return mean(f.grad(s.x, active=np.zeros((1, 1, 1), dtype=bool)))


ATTACKS = {
    "squares of entries": stepping(lambda s, g, f: g * g),
    "compared entries": stepping(lambda s, g, f: where(g == 0, 2 * g, g)),
    "as for 8 features": stepping(lambda s, g, f: (g.shape[1] - 7) * g),
    "clients that move": {"local_step": lambda m, s, f, c: replace(s, x=2 * s.x)},
    "seldom": {"schedule": WithProbability(0.01)},
    "of nobody": stepping(of_nobody),
    "uphill from the second step on": {"communicate": turning},
}


@pytest.mark.parametrize("name", ATTACKS)
def test_an_attack_has_no_bound_on_whole_runs(name):
    """Each is gradient descent in the basis of the symbols, or but for what else it does."""
    method = dataclass(frozen=True)(type("Own", (GD,), ATTACKS[name]))
    with suppress(Refusal):
        assert not replace(GRADIENT_DESCENT, method=lambda t: method(gamma=1)).verify()


@dataclass(frozen=True)
class Half(Method):
    """x+ = x/2, which goes to 0 wherever the solution is."""

    name, needs = "half", Needs()

    def start(self, x, problem, channel):
        return ModelState(x)

    def communicate(self, s, problem, channel):
        return ModelState(s.x * HALF)


@dataclass(frozen=True)
class Growing:
    """weight(t) (f(x) - f*)."""

    weight: Any
    t: Any

    def lyapunov(self, m, s, star, setting, problem):
        return (Gap(self.weight(self.t), s.x),)


FALSE = {
    "a step that takes the solution for the origin": (
        lambda t: Half(),
        lambda t: t + 1,
        {"point 0 to point 1": (1, HALF), "solution to point 1": (1, HALF),
         "point 0 to solution": (0, HALF)},
        (1, 1),
    ),
    "an inequality of a point with itself": (
        lambda t: GD(5),
        lambda t: (t + 1) ** 4,
        {"point 0 to solution": (1, 4, 6, 4, 1), "point 1 to point 1": (16, 32, 24, 8, 1)},
        (1, 4, 6, 4, 1),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_what_is_false_is_not_proved(name):
    method, weight, step, bound = FALSE[name]
    first = {key: factors[:1] for key, factors in step.items()}
    potential = partial(Growing, weight)
    proof = RunCertificate(method, potential, bound, step, {}, potential(0), first)
    assert not proof.verify()
