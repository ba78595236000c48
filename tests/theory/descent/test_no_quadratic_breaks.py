"""No quadratic breaks a proof, and quadratics break what promises a little more."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest
from attack import largest_excess
from small_methods import TwoSteps

from certibit import (
    DASHA,
    DASHAMVR,
    DASHAPAGE,
    DIANA,
    EF,
    EF21,
    EF21SGDM,
    EFBV,
    GD,
    MARINA,
    PAGE,
    SCAFFOLD,
    SGD,
    VRMARINA,
    BoundedDissimilarity,
    EControl,
    FedCOMGATE,
    FunctionClass,
    GradientNoise,
    LocalSGD,
    Scaffnew,
    certify,
)

NOISE, SAMPLES = GradientNoise(), GradientNoise(difference=0.5)
UNLIKE = BoundedDissimilarity(1.0, 1.0)
HALF, TWO = {"alpha": 0.5}, {"omega": 2.0}
UP_TO_A_CONSTANT = [
    (2, GD(0.7), {}),
    (2, EF21(0.29), HALF),
    (2, EF21(0.29), {"bias": 0.5, "omega": 0.25}),
    (2, EFBV(0.05, 0.3, 0.6), {"bias": 0.3, "omega": 2.0}),
    (2, MARINA(0.5, 0.3), TWO),
    (2, DASHA(0.2, 0.2), TWO),
    (2, DIANA(0.08, 0.1), TWO),
]
NOISY = [
    (2, SGD(0.4), {}),
    (1, TwoSteps(0.3), {}),
    (2, TwoSteps(0.3), {}),
    (2, EF21SGDM(0.1, 0.3), HALF),
    (1, EF(0.1), HALF),
    (1, DIANA(0.1, 0.5), {"omega": 1.0}),
    (1, MARINA(0.3, 0.3), {"omega": 1.0}),
    (1, DASHA(0.1, 0.3), {"omega": 1.0}),
    (1, EF21(0.1), HALF),
    (2, EF21(0.1), HALF),
    (1, EControl(0.05, 0.1), HALF),
    (2, SCAFFOLD(2, 0.05, 1.0, 2), {}),
    (2, SCAFFOLD(1, 0.1, 1.0, 2), {}),
    (1, FedCOMGATE(2, 0.05, 1.0, 0.5), {"omega": 1.0}),
]
STRONGLY = [
    (1, DIANA(0.1, 0.4), {"omega": 1.0}),
    (2, Scaffnew(0.3, 0.4), {}),
    (2, SCAFFOLD(1, 0.3, 1.0, 1), {}),
]
REDUCED = [
    (1, PAGE(0.4, 0.3), {}),
    (2, PAGE(0.5, 0.3), {}),
    (1, VRMARINA(0.2, 0.3), {"omega": 1.0}),
    (2, VRMARINA(0.2, 0.3), {"omega": 1.0}),
    (1, DASHAPAGE(0.1, 0.3, 0.3), {"omega": 1.0}),
]
CASES = [
    *((*one, {"exact": 2}, {}, {}) for one in UP_TO_A_CONSTANT),
    *((*one, {"exact_e": Fraction(1, 2)}, {}, {}) for one in NOISY),
    *((n, m, more | {"mu": 0.1}, {"exact_e": Fraction(1, 2)}, {}, {}) for n, m, more in STRONGLY),
    # samples whose gradients change by l (x - y); twice as much is too much
    *((*one, {}, {"change": 0.5}, {"change": 1.0}) for one in REDUCED),
    (1, DASHAMVR(0.1, 0.3, 0.3), {"omega": 1.0}, {"exact_e": Fraction(1, 10)}, {}, {}),
    # clients whose stationary points are apart
    *(
        (n, LocalSGD(0.3, 2), {}, {"exact_dissimilarity": 0}, {"dissimilar": True}, {})
        for n in (2, 3)
    ),
]


def of(method, forged, seen):
    """Return the noise that a case is about, and what its functions are assumed to be."""
    noise = NOISE if "exact_e" in forged and not isinstance(method, DASHAMVR) else None
    samples = isinstance(method, DASHAMVR) or "change" in seen
    return {
        "noise": SAMPLES if samples else noise,
        "assumptions": (UNLIKE,) if "dissimilar" in seen else (),
    }


@pytest.mark.long(keep=6)
@pytest.mark.parametrize(
    ("n", "method", "constants", "forged", "seen", "wrong"),
    CASES,
    ids=[f"{method.name}-{n}-{place}" for place, (n, method, *_) in enumerate(CASES)],
)
def test_no_quadratic_breaks_a_proof(n, method, constants, forged, seen, wrong):
    """Noises and errors have both signs; of those of contractions all choices are tried."""
    more = {"mu": -1.0} | constants | of(method, forged, seen)
    proof = certify(method, FunctionClass(n, L=1.0, **more))
    assert proof.verify()
    signed = {"alpha", "bias"} & {*constants}
    signs = list(product([-1.0, 1.0], repeat=n)) if signed else [None]
    slopes = [0.1 if more["mu"] > 0 else -1.0, 0.4, 1.0]
    attacks = list(product(product(slopes, repeat=n), signs))

    def excess(one, **how):
        return max(largest_excess(one, h, s, **how) for h, s in attacks)

    assert excess(proof, **seen) <= 1e-9
    greedy = replace(proof, **{name: part * getattr(proof, name) for name, part in forged.items()})
    assert excess(greedy, **(seen | wrong)) > 1e-9 + 1e-4 * max(proof.e, 1e-3)
