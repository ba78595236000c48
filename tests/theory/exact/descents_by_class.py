"""Certified descents of methods over classes, as files are written of."""

from dataclasses import replace
from functools import cache

from small_methods import TwoPoints

from certibit import (
    CARDS,
    DASHAMVR,
    DASHAPAGE,
    EF21,
    EF21SGDM,
    LSVRG,
    PAGE,
    SGD,
    VRMARINA,
    BoundedDissimilarity,
    FunctionClass,
    GradientNoise,
    LocalSGD,
    MeanSmoothness,
    PolyakLojasiewicz,
    QuasiStrongConvexity,
    Similarity,
    certify,
)

SMOOTH = FunctionClass.nonconvex(4, L=1.0)
METHODS = {
    "gd": CARDS["gd"].method(gamma=0.5),
    "ef21": EF21(gamma=0.1),
    "marina": CARDS["marina"].method(gamma=0.3, p=0.5),
    "diana": CARDS["diana"].method(gamma=0.1, alpha=0.3),
    "sgd": SGD(gamma=0.3),
    "local-sgd": LocalSGD(gamma=0.1, I=2),
    "l-svrg": LSVRG(gamma=0.14, p=0.3),
    "ef21-sgdm": EF21SGDM(gamma=0.05, eta=0.3),
    "page": PAGE(gamma=0.2, p=0.3),
    "vr-marina": VRMARINA(gamma=0.1, p=0.3),
    "dasha-page": DASHAPAGE(gamma=0.1, a=0.3, p=0.3),
    "dasha-mvr": DASHAMVR(gamma=0.1, a=0.3, b=0.3),
    "two-points": TwoPoints(gamma=0.3, beyond=0.5),
}
CLASSES = {
    "nonconvex": SMOOTH,
    "uneven": FunctionClass.nonconvex(4, L=1.0, L_tilde=2.0),
    "similar": replace(SMOOTH, assumptions=(Similarity(0.5), MeanSmoothness(0.9))),
    "dissimilar": replace(SMOOTH, assumptions=(BoundedDissimilarity(2.0),)),
    "gradual": replace(SMOOTH, assumptions=(PolyakLojasiewicz(0.1),)),
    "convex": replace(SMOOTH, mu=0.0),
    "star": replace(SMOOTH, assumptions=(QuasiStrongConvexity(0.1),)),
    "stochastic": replace(SMOOTH, noise=GradientNoise()),
    "sampled": replace(SMOOTH, noise=GradientNoise(difference=0.7)),
    "growing": replace(SMOOTH, noise=GradientNoise(gap=1.0)),
    "convex and growing": replace(SMOOTH, mu=0.0, noise=GradientNoise(gap=1.0)),
    "strongly convex": replace(SMOOTH, mu=0.1, noise=GradientNoise()),
    "expected": replace(SMOOTH, mu=0.1, noise=GradientNoise(expected=1.0)),
    "searched": replace(SMOOTH, mu=0.1, noise=GradientNoise()),
    "apart": replace(SMOOTH, assumptions=(BoundedDissimilarity(1.2, 3.0),)),
    "apart and stochastic": replace(
        SMOOTH, assumptions=(BoundedDissimilarity(1.0, 1.0),), noise=GradientNoise()
    ),
    "alone": FunctionClass.nonconvex(1, L=1.0, noise=GradientNoise(0.3)),
    "biased": replace(SMOOTH, bias=0.5, omega=0.2),
    "joint": replace(SMOOTH, omega_joint=0.5),
}
ASKED = [
    ("gd", "nonconvex"), ("gd", "gradual"), ("gd", "convex"), ("gd", "star"),
    ("ef21", "nonconvex"), ("ef21", "uneven"), ("ef21", "biased"), ("ef21", "gradual"),
    ("marina", "similar"), ("marina", "joint"), ("diana", "nonconvex"), ("diana", "convex"),
    ("sgd", "stochastic"), ("sgd", "alone"), ("sgd", "dissimilar"), ("ef21-sgdm", "stochastic"),
    ("sgd", "growing"), ("sgd", "convex and growing"),
    ("sgd", "strongly convex"), ("dasha-page", "sampled"), ("dasha-mvr", "sampled"),
    ("sgd", "expected"), ("l-svrg", "expected"), ("sgd", "searched"),
    ("local-sgd", "apart"), ("local-sgd", "apart and stochastic"),
    ("page", "sampled"), ("vr-marina", "sampled"), ("two-points", "sampled"),
]  # fmt: skip


@cache
def descent_of(name, label):
    """Return the certified descent of a method over a class."""
    method, functions = METHODS[name], CLASSES[label]
    if method.needs.compressor == "unbiased":
        functions = replace(functions, omega=1.0)
    if method.needs.compressor == "contractive" and functions.bias is None:
        functions = replace(functions, alpha=0.5)
    factors = {"gradual", "strongly convex", "expected", "searched"}
    measure = "potential" if label in factors else None
    if label in {"strongly convex", "expected"}:
        return certify(method, functions, CARDS[name].theorems[0], measure)
    growth = 0.05 if label == "growing" else 0.0
    return certify(method, functions, measure=measure, growth=growth)
