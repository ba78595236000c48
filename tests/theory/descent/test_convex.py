"""Certified descents of convex functions: known constants, attacks, and what is refused."""

import math
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from attack import Quadratics, excess_at_start, largest_excess
from by_rule import by_rule
from small_methods import Memory, Psi

from certibit import (
    AGD,
    DASHA,
    DIANA,
    EF21,
    GD,
    MARINA,
    SGD,
    Every,
    FiveGCSCC,
    FunctionClass,
    GradientNoise,
    LoCoDL,
    Method,
    Needs,
    QuasiStrongConvexity,
    Refusal,
    Scaffnew,
    Squares,
    certify,
    certify_steps,
)
from certibit.solvers.authoring import mean
from certibit.theory.proofs.proof import rest_text
from certibit.theory.quadratic_potential import AtModel

CLOSE = 1e-8
"""Relative distance of a certified constant to the largest one."""


def of_gradient_descent(gamma):
    """|x+ - x*|^2 <= |x - x*|^2 - c (f(x) - f*), exactly, for L = 1.

    With u = f(x) - f* and v = |grad f(x)|^2/2 <= u, it is 2 gamma (u + v) - 2 gamma^2 v at least,
    and no more on Huber functions and quadratics.
    """
    return min(2 * gamma, 4 * gamma * (1 - gamma / 2))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("gamma", [0.3, 1.0, 1.5, 1.9])
def test_gradient_descent_has_its_tight_constant(n, gamma):
    functions = FunctionClass(n, 0.0, 1.0)
    proof = certify(GD(gamma), functions, AtModel("distance"))
    assert proof.c == pytest.approx(of_gradient_descent(gamma), rel=CLOSE)
    assert proof.measure.name == "gap"
    assert proof.c <= proof.bound <= proof.c * (1 + CLOSE)
    assert proof.verify()


@pytest.mark.long
def test_no_form_that_begins_with_the_distance_is_better_for_gradient_descent():
    functions = FunctionClass(3, 0.0, 1.0)
    for gamma in (0.5, 1.5):
        found = certify(GD(gamma), functions)
        assert found.c == pytest.approx(of_gradient_descent(gamma), rel=2e-6)
    assert str(certify(GD(0.5), functions).potential) == "Psi = 1 |x|^2"


def distance(weight, m, s, star, problem, n):
    return (Squares(weight, s.x - star.x),)


def test_the_scale_of_a_potential_does_not_matter():
    functions = FunctionClass(2, 0.0, 1.0)
    once, thrice = (certify(GD(0.7), functions, Psi(partial(distance, w))) for w in (1.0, 3.0))
    assert thrice.c == pytest.approx(once.c, rel=CLOSE)
    assert 3 * thrice.scale == pytest.approx(once.scale, rel=CLOSE)
    assert once.scale <= 1


def test_star_convexity_gives_less_than_convexity():
    star_convex = FunctionClass(3, -1.0, 1.0, assumptions=(QuasiStrongConvexity(0.0),))
    proof = certify(GD(1.0), star_convex)
    assert proof.c == pytest.approx(3 * math.sqrt(2) - 3, rel=2e-6)
    assert proof.c < of_gradient_descent(1.0)


CERTIFIED = [
    (GD(0.7), {}, 1.4),
    (DIANA(0.1, 0.2), {"omega": 2.0}, 0.2),
    (MARINA(0.3, 0.3), {"omega": 2.0}, 0.6),
    (DASHA(0.2, 0.2), {"omega": 2.0}, 0.4),
    (AGD(0.9, 0.3), {}, 1.13),
    (Scaffnew(0.5, 0.5), {}, 0.95),
    (FiveGCSCC(0.25, 2.0, mu=0.0, L_F=0.5, omega=2.0, cohort=2, K=1), {"omega": 2.0}, 0.3014),
]
CURVATURES = list(product([0.05, 0.4, 1.0], repeat=2))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(("method", "constants", "least"), CERTIFIED, ids=lambda x: str(x)[:5])
def test_certified_constants_and_attacks(method, constants, least):
    """Two clients, quadratics of one dimension, all coins and signs: steps, and starts."""
    proof = certify(method, FunctionClass(2, 0.0, 1.0, **constants))
    assert proof.c >= least * (1 - 2e-6)
    assert proof.verify()
    if isinstance(method, Scaffnew):  # its coin is tossed by the engine
        return
    assert max(largest_excess(proof, h) for h in CURVATURES) <= 1e-8
    generator = np.random.default_rng(0)
    starts = []
    for h in CURVATURES:
        problem = Quadratics(np.reshape(h, (2, 1, 1)), generator.standard_normal((2, 1, 1)))
        starts += [excess_at_start(proof, problem, np.full((1, 1, 1), x)) for x in (-1.0, 0.0, 2.0)]
    assert max(starts) <= 1e-8
    larger = replace(proof, exact=3 * proof.exact)
    assert max(largest_excess(larger, h) for h in CURVATURES) > 1e-4
    assert max(largest_excess(proof, (4 * a, 4 * b)) for a, b in CURVATURES) > 1e-3


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("n", "omega", "cohort", "c"),
    [(1, 0.0, 1, 1.0), (1, 9.0, 1, 0.0348), (10, 1.0, 2, 0.202), (1000, 9.0, 1000, 0.728)],
)
def test_the_convex_rule_of_5gcs_cc_has_a_descent(n, omega, cohort, c):
    """Nothing is taken out of the f_i: with mu > 0 the F_i would not be convex."""
    method, _ = by_rule("5gcs-cc", n, 100.0, omega, "convex", cohort=cohort)
    proof = certify(method, FunctionClass(n, 0.0, 100.0, omega=omega))
    assert proof.c * 100 == pytest.approx(c, rel=5e-3)


@pytest.mark.parametrize("method", [SGD, GD])
@pytest.mark.parametrize("gamma", [0.2, 0.5])
def test_stochastic_gradients_of_convex_functions(gamma, method):
    """|x+ - x*|^2 <= |x - x*|^2 - 2 gamma (f(x) - f*) + gamma^2 sigma^2/n for gamma <= 1/L."""
    functions = FunctionClass(5, 0.0, 1.0, noise=GradientNoise())
    proof = certify(method(gamma), functions, AtModel("distance"), least=2 * gamma * (1 - 1e-9))
    assert proof.c == pytest.approx(2 * gamma, rel=1e-6)
    assert proof.e == pytest.approx(gamma**2 / 5, rel=1e-6)
    assert proof.verify()


@dataclass(frozen=True)
class Lazy(DIANA):
    """DIANA in which each client communicates if its coin, of probability p, shows heads."""

    p: float = 0.5
    name = "lazy"

    def communicate(self, s, problem, channel):
        heads = channel.client_coins((self.p,) * problem.n)
        m = heads * channel.uplink(problem.grad(s.x) - s.h, heads)
        x = channel.broadcast(s.x - self.gamma * (s.h_mean + mean(m) / self.p))
        return replace(s, x=x, h=s.h + self.alpha * m, h_mean=s.h_mean + self.alpha * mean(m))


ESTIMATES = Psi(
    lambda m, s, star, f, n: (Squares(1.0, s.x - star.x), Squares(0.1 / n, s.h - star.h))
)
"""|x - x*|^2 + (w/n) sum_i |h_i - h_i*|^2."""


@pytest.mark.parametrize("method", [DIANA(0.05, 0.2), Lazy(0.05, 0.2)])
def test_gradients_at_a_start_are_bounded_by_the_distance(method):
    """At a start h_i = grad f_i(x): Psi <= (1 + w) |x - x*|^2 for L = 1, so c = 2 gamma/(1 + w)."""
    proof = certify(method, FunctionClass(4, 0.0, 1.0, omega=1.0), ESTIMATES)
    assert proof.c == pytest.approx(0.1 / 1.1, rel=1e-6)
    assert proof.verify()


@pytest.mark.long
def test_misfits_are_refused():
    functions = FunctionClass(3, 0.0, 1.0, omega=4.0, alpha=0.5)
    for noise in (None, GradientNoise()):
        with pytest.raises(Refusal, match="the largest c is 0"):
            certify(EF21(0.29), replace(functions, noise=noise))
    with pytest.raises(Refusal, match="strongly convex g"):
        certify(LoCoDL(0.1, 0.1, 0.1, 0.5, 4.0), functions)
    many = FiveGCSCC(0.007, 7e-5, 1.0, 1e-4, omega=99.0, cohort=10**6, K=1)
    with pytest.raises(Refusal, match="at rest about x is known up to rounding only"):
        certify(many, FunctionClass(10**6, 0.0, 100.0, omega=99.0))
    with pytest.raises(Refusal, match="take relative = 0"):
        certify(GD(0.1), FunctionClass(3, 0.0, 1.0, noise=GradientNoise(0.5)))
    kept = certify(GD(0.1), FunctionClass(3, 0.0, 1.0), AtModel("distance"), measure="potential")
    assert kept.c == pytest.approx(0.0, abs=1e-9)


@dataclass(frozen=True)
class Late(Method):
    """x+ = x - gamma mean h, h+ = grad f(x+) of each or of all, in a unit; K such steps a round."""

    gamma: float = 0.1
    shared: bool = False
    K: int = 1
    unit: float = 1.0
    name, needs = "late", Needs()

    @property
    def schedule(self):
        return Every(self.K)

    def start(self, x, problem, channel):
        return Memory(x, self.gradients(x, problem))

    def gradients(self, x, problem):
        h = self.unit * problem.grad(x)
        return mean(h) if self.shared else h

    def local_step(self, s, problem, channel):
        x = s.x - self.gamma / self.unit * mean(s.h)
        return Memory(x, self.gradients(x, problem))

    def communicate(self, s, problem, channel):
        return s


@pytest.mark.parametrize(
    ("method", "n", "told"),
    [
        (Late(), 3, "h = grad f_i(x)"),
        (Late(unit=1e-10), 3, "h = 1e-10 grad f_i(x)"),
        (Late(), 1, "h = 0"),
        (Late(shared=True), 3, "h = 0"),
        (DIANA(0.1, 0.1), 1, "h = grad f(x), h_mean = grad f(x)"),
        (GD(0.1), 3, ""),
    ],
)
def test_state_at_rest_is_written_out(method, n, told):
    assert rest_text(method, n) == told


@pytest.mark.parametrize("K", [1, 3])
def test_a_step_of_several_iterations_says_so(K):
    functions = FunctionClass(1, 1.0, 4.0)
    for proved in (certify(Late(K=K), functions), certify_steps(Late(K=K), functions, 4)):
        assert (f"a step is a round of {K} iterations" in repr(proved)) == (K > 1)
