"""Witnesses: over convex functions some methods have no descent of any quadratic Psi.

On a Huber function with the slope s, f - f* is about s far from the solution. In one step from the
states here, with top-1 as compressor, no product of two vectors of the state and the gradient
changes by more than a multiple of s^2, and f by no more either. So Psi - Psi+ <= K s^2 for every
quadratic form Psi with any multiple of f - f*, and c (f - f*) <= Psi - Psi+ for all s means c = 0.
"""

from dataclasses import dataclass, fields

import numpy as np
import pytest
from small_methods import Psi

from certibit import (
    EF21,
    EF21SGDM,
    EFBV,
    GD,
    CompressedGD,
    Experiment,
    FunctionClass,
    Squares,
    certify_run,
    compressor,
)
from certibit.data.problem import RelaxedConstants
from certibit.data.problems.nonconvex_problem import NonconvexProblem
from certibit.solvers.compressors.base import Identity
from certibit.solvers.methods import compressed_gd, ef21, ef21_sgdm, ef_bv
from certibit.solvers.simulation.iteration import simulated_world, theorem_step

SLOPES = [2.0**-k for k in range(6, 18, 2)]
TOP = compressor("top-k:1")
FARTHER = 1.01
"""The second entry of what is compressed, relative to the first: top-1 sends it alone."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Huber(NonconvexProblem):
    """The convex, 1-smooth Huber function of <v, x>, |v| = 1, with a slope; one client."""

    slope: float
    v: np.ndarray  # (1, 2, 1)
    name = "huber"
    constants = RelaxedConstants(1.0, 0.0)
    per_run = ()
    n = 1

    @property
    def x_star(self):
        return 0 * self.x_0

    def _along(self, x):
        return np.sum(self.v * x, axis=(0, 1))

    def grad(self, x):
        return self.v * np.clip(self._along(x), -self.slope, self.slope)

    def value(self, x):
        away = np.abs(self._along(x))
        return np.where(away > self.slope, self.slope * away - self.slope**2 / 2, away**2 / 2)

    gap = value


def vector(*entries):
    return np.array(entries, dtype=float).reshape(1, 2, 1)


X, OTHER = vector(1, 0), vector(0, FARTHER)
SLANTED = (X + OTHER) / np.linalg.norm(X + OTHER)
"""The model, a direction in which f does not change, and one between."""

WITNESSES = {
    "ef21": (EF21(0.2), X, lambda s, u: ef21.State(X, s * OTHER, s * OTHER)),
    "ef-bv": (
        EFBV(0.2, lambda_=1.0, nu=1.0),
        X,
        lambda s, u: ef_bv.State(X, s * OTHER, s * OTHER, s * OTHER),
    ),
    "ef21-sgdm": (
        EF21SGDM(0.2, eta=0.3),
        X,
        lambda s, u: ef21_sgdm.State(X, u, s * OTHER, s * OTHER),
    ),
    "compressed-gd": (CompressedGD(0.2), SLANTED, lambda s, u: compressed_gd.State(X)),
}


def one_step(name, slope):
    """Return f - f* before a step, and the changes of f and of all products."""
    method, v, state = WITNESSES[name]
    f = Huber(x_0=X, slope=slope, v=v)
    channel, oracle = simulated_world(Experiment(method, f, TOP))
    before = state(slope, f.grad(X))
    after = theorem_step(method, before, oracle, channel)

    def products(s):
        """Return the Gram matrix of the vectors of a state and of the gradient at its model."""
        rows = [getattr(s, field.name)[0, :, 0] for field in fields(s)]
        rows.append(f.grad(s.x)[0, :, 0])
        return np.array(rows) @ np.array(rows).T

    gap = float(f.value(before.x)[0])
    return gap, float(f.value(after.x)[0]) - gap, products(after) - products(before)


@pytest.mark.parametrize("name", WITNESSES)
def test_a_step_that_no_quadratic_form_tells_from_none(name):
    for slope in SLOPES:
        gap, change, products = one_step(name, slope)
        assert gap > slope / 2
        assert abs(change) <= 2 * slope**2
        assert np.abs(products).max() <= 2 * slope**2
        assert np.abs(products).max() > 0


def test_the_witness_is_a_state_of_the_class():
    """Its messages are those of a contraction, alpha = 1/2, and its functions are convex."""
    f = Huber(x_0=X, slope=0.1, v=SLANTED)
    channel, _ = simulated_world(Experiment(CompressedGD(0.2), f, TOP))
    for v in (vector(1, -FARTHER), SLANTED):
        assert np.sum((channel.uplink(v) - v) ** 2) <= np.sum(v**2) / 2
    rng = np.random.default_rng(0)
    x, y = rng.normal(scale=0.3, size=(2, 1, 2, 200))
    u, v = f.grad(x), f.grad(y)
    left = f.value(x) - f.value(y) - np.sum(v * (x - y), axis=(0, 1))
    assert (left >= np.sum((u - v) ** 2, axis=(0, 1)) / 2 - 1e-15).all()


def test_gradient_descent_is_told_from_none():
    """The same functions do not speak against what has a descent: |x|^2 falls by 2 gamma f."""
    f = Huber(x_0=X, slope=2.0**-12, v=X)
    channel, oracle = simulated_world(Experiment(GD(0.2), f, Identity()))
    before = GD(0.2).start(X, oracle, channel)
    after = theorem_step(GD(0.2), before, oracle, channel)
    assert np.sum(before.x**2) - np.sum(after.x**2) >= 2 * 0.2 * f.value(before.x)[0]


def test_forms_that_change_from_step_to_step_prove_bounds():
    """f(x_2) - f* <= 0.288 L |x_0 - x*|^2, where runs begin with the gradient at x_0."""

    begin = Psi(
        lambda m, s, star, f, n: (Squares(1.0, s.x - star.x), Squares(1 / n, s.g - f.grad(s.x)))
    )
    chain = certify_run([EF21(0.2928932)] * 2, FunctionClass(1, 0.0, 1.0, alpha=0.5), begin)
    assert chain.verify()
    assert chain.factor == pytest.approx(0.28781, rel=1e-4)
