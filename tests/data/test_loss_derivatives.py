"""A loss whose functions contradict each other is refused when a problem is made of it."""

from itertools import product

import numpy as np
import pytest

from certibit import Huber, LeastSquares, Logistic, Poisson, SmoothedHinge, Tukey, Welsch, problem
from certibit.solvers.authoring import Refusal

GENERATOR = np.random.default_rng(0)
X = GENERATOR.standard_normal((60, 4))
CLASSES, NUMBERS = np.sign(GENERATOR.standard_normal(60)), GENERATOR.standard_normal(60)


def changed(base, **functions):
    return type("Own", (base,), functions)()


def scaled(name, factor):
    return lambda self, z, b: factor * getattr(super(type(self), self), name)(z, b)


def in_32_bits(name):
    return lambda self, z, b: getattr(super(type(self), self), name)(z, b).astype(np.float32)


def as_if_in_32_bits(name):
    return lambda self, z, b: in_32_bits(name)(self, z, b).astype(np.float64)


def writing(name, place):
    def function(self, *arguments):
        found = getattr(super(type(self), self), name)(*arguments)
        arguments[place][...] = 0
        return found

    return function


LOSSES = (LeastSquares, Logistic)
WRONG = {
    "slope x 1.0001": lambda base: {"slope": scaled("slope", 1.0001)},
    "slope x -1": lambda base: {"slope": scaled("slope", -1)},
    "value x 2": lambda base: {"value": scaled("value", 2)},
    "curvature x 0.5": lambda base: {"curvature": scaled("curvature", 0.5)},
    "smoothness x 0.9": lambda base: {"smoothness": 0.9 * base().smoothness},
    **{
        f"{name} {what.__name__}": lambda base, name=name, what=what: {name: what(name)}
        for name, what in product(("value", "slope"), (in_32_bits, as_if_in_32_bits))
    },
    "curvature in_32_bits": lambda base: {"curvature": in_32_bits("curvature")},
    **{
        f"{name} writes into {place}": lambda base, n=name, p=place: {n: writing(n, p)}
        for name in ("value", "slope", "curvature")
        for place in (0, 1)
    },
    "divergence writes": lambda base: {"divergence": writing("divergence", 1)},
}


@pytest.mark.parametrize(("base", "wrong"), [*product(LOSSES, WRONG)])
def test_a_wrong_loss_is_refused_at_construction(base, wrong):
    targets = CLASSES if base is Logistic else NUMBERS
    with pytest.raises(Refusal, match=f"of the loss {base.name}"):
        problem(X, targets, clients=2, loss=changed(base, **WRONG[wrong](base)), kappa=10)


RIGHT = (
    Logistic(), LeastSquares(), Huber(1e-3), Huber(1.0), Huber(100.0), SmoothedHinge(0.01),
    SmoothedHinge(), Poisson(), Welsch(0.1), Welsch(), Tukey(), Tukey(50.0),
)  # fmt: skip


@pytest.mark.parametrize(("loss", "scale"), [*product(RIGHT, (1e-5, 1.0, 1e5))])
def test_no_loss_of_the_project_is_refused(loss, scale):
    if loss.targets == "two classes":
        targets = CLASSES
    else:
        targets = scale * (abs(NUMBERS) if isinstance(loss, Poisson) else NUMBERS)
    loss.require_smooth(targets)
