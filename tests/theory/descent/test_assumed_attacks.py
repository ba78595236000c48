"""Certificates under assumptions, attacked by functions that are drawn from these."""

from dataclasses import replace

import numpy as np
import pytest
from attack import largest_excess
from drawn_functions import sample

from certibit import (
    EF21,
    GD,
    MARINA,
    BoundedDissimilarity,
    CompressedGD,
    FunctionClass,
    MeanSmoothness,
    PolyakLojasiewicz,
    Similarity,
    certify,
)


def flatter(a, x, y):
    """L_tilde^2/4 in the place of L_tilde^2."""
    change = x.gradients - y.gradients
    return a.L_tilde**2 / 4 * (x.point - y.point).square() - change.square()


def of_gradients(a, x, y):
    """The mean gradient is not subtracted."""
    return a.delta**2 * (x.point - y.point).square() - (x.gradients - y.gradients).square()


def steeper(a, x):
    """A factor of 8 in the place of 2."""
    return x.gradients.mean().square() - 8 * a.mu * x.value


def not_squared(a, x):
    """B in the place of B^2."""
    return a.B * x.gradients.mean().square() - x.gradients.square()


SLOPE = "squared_gradient"
CASES = [
    (EF21(0.4), {"alpha": 0.5}, MeanSmoothness(0.7), {"between": flatter}, SLOPE),
    (MARINA(0.6, 0.3), {"omega": 2.0}, Similarity(0.3), {"between": of_gradients}, SLOPE),
    (GD(0.7), {}, PolyakLojasiewicz(0.1), {"at": steeper}, "gap"),
    (CompressedGD(5.0), {"alpha": 0.95, "L_f": 0.262}, BoundedDissimilarity(3.0),
     {"at": not_squared}, SLOPE),
]  # fmt: skip


def worst(proof, assumption):
    """Return the largest excess over functions that are drawn from an assumption."""
    shared, found = isinstance(assumption, BoundedDissimilarity), []
    for seed in range(8):
        drawn = sample(assumption, 2, 1, 1.0, np.random.default_rng(seed))
        h = drawn.H.ravel().tolist()
        signs = [-1.0, 1.0] if seed % 2 else None
        found.append(largest_excess(proof, h, signs, shared=shared))
    return max(found)


@pytest.mark.long(keep=2)
@pytest.mark.parametrize(("method", "constants", "assumption", "planted", "measure"), CASES)
def test_no_drawn_function_breaks_a_certificate(method, constants, assumption, planted, measure):
    functions = FunctionClass(2, -1.0, 1.0, assumptions=(assumption,), **constants)
    proof = certify(method, functions, measure=measure)
    assert worst(proof, assumption) <= 1e-9
    kind = type(assumption)
    wrong = type(kind.__name__, (kind,), planted)(*vars(assumption).values())
    broken = certify(method, replace(functions, assumptions=(wrong,)), measure=measure)
    assert broken.c > proof.c
    assert worst(broken, assumption) > 1e-3
