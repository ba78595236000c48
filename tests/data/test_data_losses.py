"""Losses: derivatives, smoothness, divergence without cancellation; each planted error is seen."""

import decimal
import math
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
import pytest

from certibit import Logistic, Loss, Refusal, Tukey, Welsch, problem
from certibit.data.losses.losses import (
    LOSSES,
    Huber,
    LeastSquares,
    Multinomial,
    Poisson,
    SmoothedHinge,
    loss_named,
)


@dataclass(frozen=True)
class OwnLogistic(Logistic):
    """Takes its divergence from the base class."""

    name = "own"
    divergence = Loss.divergence


ALL = [
    Logistic(),
    OwnLogistic(),
    LeastSquares(),
    Huber(0.7),
    Huber(2.0),
    SmoothedHinge(0.3),
    Poisson(2.0),
    Poisson(-1.0),
]
ROBUST = [Welsch(0.7), Welsch(3.0), Tukey(0.5), Tukey()]


def targets_of(loss):
    return [-1.0, 1.0] if loss.targets == "two classes" else [0.0, 2.0, 5.0]


def grid(loss, points):
    z, b = np.meshgrid(points, targets_of(loss))
    return z.ravel(), b.ravel()


@pytest.mark.parametrize("loss", ALL + ROBUST, ids=repr)
def test_smoothness_and_weak_convexity_are_the_extreme_curvatures(loss):
    curvature = loss.curvature(*grid(loss, np.linspace(-9, 9, 20_001)))
    assert curvature.max() == pytest.approx(loss.smoothness, rel=1e-5)
    assert max(0.0, -curvature.min()) == pytest.approx(loss.weak_convexity, rel=1e-5)


def exact_value(loss, z, b):
    """phi(z; b) in decimals, from its definition."""
    match loss:
        case Logistic():
            return (1 + (-b * z).exp()).ln()
        case LeastSquares():
            return (z - b) ** 2 / 2
        case Huber(delta):
            r, delta = abs(z - b), Decimal(delta)
            return r * r / 2 if r <= delta else delta * (r - delta / 2)
        case SmoothedHinge(gamma):
            lack, gamma = 1 - b * z, Decimal(gamma)
            if lack <= 0:
                return Decimal(0)
            return lack**2 / (2 * gamma) if lack <= gamma else lack - gamma / 2
        case Poisson(bound):
            over = z - Decimal(bound)
            tail = Decimal(bound).exp() * (1 + over + over**2 / 2)
            return (z.exp() if over <= 0 else tail) - b * z
    raise AssertionError(loss)


def exact_slope(loss, z, b):
    """phi'(z; b) in decimals, from its definition."""
    match loss:
        case Logistic():
            return -b / (1 + (b * z).exp())
        case LeastSquares():
            return z - b
        case Huber(delta):
            return max(-Decimal(delta), min(Decimal(delta), z - b))
        case SmoothedHinge(gamma):
            return -b * max(Decimal(0), min(Decimal(gamma), 1 - b * z)) / Decimal(gamma)
        case Poisson(bound):
            over = max(Decimal(0), z - Decimal(bound))
            return min(z, Decimal(bound)).exp() * (1 + over) - b
    raise AssertionError(loss)


def exact_divergence(loss, z, t, b):
    z, t, b = Decimal(float(z)), Decimal(float(t)), Decimal(float(b))
    return exact_value(loss, z + t, b) - exact_value(loss, z, b) - exact_slope(loss, z, b) * t


def largest_error(loss, step):
    """Largest relative error of the divergence, over points, targets and both directions."""
    z, b = grid(loss, np.linspace(-3.97, 6.03, 41))
    worst = 0.0
    with decimal.localcontext(decimal.Context(prec=400)):
        for t in (step, -step):
            for at, target, found in zip(z, b, loss.divergence(z, 0 * z + t, b), strict=True):
                exact = exact_divergence(loss, at, t, target)
                error = abs(Decimal(float(found)) - exact)
                worst = max(worst, float(error / (exact + Decimal("1e-300"))))
    return worst


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("step", [1e-120, 1e-9, 1e-3, 0.0999, 0.1001, 0.9, 5.0, 300.0])
@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_the_divergence_keeps_its_digits(loss, step):
    assert largest_error(loss, step) < 1e-10


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("scale", [1e-120, 1e-9, 1e-3, 0.3, 1.0, 3.0, 200.0])
def test_the_divergence_of_several_classes(scale):
    generator, loss = np.random.default_rng(1), Multinomial(3)
    z = 3 * generator.standard_normal((4, 5, 3, 1))
    step = scale * generator.standard_normal((4, 5, 3, 2))
    found = loss.divergence(z, step)
    with decimal.localcontext(decimal.Context(prec=500)):
        for i, s, r in np.ndindex(4, 5, 2):
            at = [Decimal(float(v)) for v in z[i, s, :, 0]]
            by = [Decimal(float(v)) for v in step[i, s, :, r]]
            total = sum(v.exp() for v in at)
            moved = sum((v + t).exp() for v, t in zip(at, by, strict=True))
            mean = sum(v.exp() * t for v, t in zip(at, by, strict=True)) / total
            exact = (moved / total).ln() - mean
            assert abs(Decimal(float(found[i, s, r])) / exact - 1) < Decimal("1e-11")


def test_two_classes_are_the_logistic_loss():
    z = np.random.default_rng(0).standard_normal((2, 5, 1, 3))
    both = np.concatenate([0 * z, z], axis=2)
    for b in (0.0, 1.0):
        value = Multinomial(2).value(both, np.full((2, 5, 1), b))
        np.testing.assert_allclose(value, Logistic().value(z[:, :, 0], 2 * b - 1), rtol=1e-13)


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_has_its_name(name):
    assert loss_named(name).name == name
    assert math.isfinite(loss_named(name).smoothness)


@pytest.mark.parametrize(
    ("selector", "sentence"),
    [
        ("hubber:1", "the loss 'hubber' is unknown; did you mean huber?"),
        ("hinge", "the loss 'hinge' is unknown; did you mean smoothed-hinge?"),
        ("", "the loss '' is unknown; choose one of logistic, least-squares"),
        ("huber:x", "the loss 'huber:x' cannot be read; expected huber:DELTA, with a number"),
        ("logistic:1", "the loss 'logistic:1' cannot be read; expected logistic alone"),
        ("huber:0", "delta = 0 of a loss; expected a positive number, such as huber:1"),
        ("smoothed-hinge:nan", "gamma = nan of a loss; expected a positive number"),
        ("poisson:1000", "the bound 1000 of poisson; expected one from -50 to 50"),
    ],
)
def test_refusals(selector, sentence):
    with pytest.raises(Refusal) as refusal:
        loss_named(selector)
    assert str(refusal.value).startswith(sentence)


@dataclass(frozen=True)
class Steep(LeastSquares):
    """Says less than its largest curvature, somewhere."""

    name = "steep"
    where: str = "everywhere"

    def curvature(self, z, b):
        beyond = {"everywhere": True, "at 0": abs(z) < 1e-6, "at targets": abs(z - b) < 1e-6,
                  "far away": abs(z) > 100, "negative": False}[self.where]  # fmt: skip
        return np.where(beyond, 1.5, -0.5 if self.where == "negative" else 1.0)


@pytest.mark.parametrize("where", ["everywhere", "at 0", "at targets", "far away"])
def test_a_smoothness_below_a_curvature_is_refused(where):
    rows = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(Refusal, match=r"the curvature of the loss steep is 1\.5 at z = .*, above"):
        problem(rows, rows[:, 0] + 3, clients=2, loss=Steep(where=where), mu=0.1)


def test_a_loss_that_is_not_convex_is_refused():
    with pytest.raises(Refusal, match=r"is -0\.5 at z = .*, negative; give a convex loss"):
        Steep(where="negative").require_smooth(np.arange(4.0))
