"""Assumptions: what is refused, samplers, checks on problems, and planted errors in each."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from drawn_functions import sample

from certibit import (
    EF21,
    GD,
    Assumption,
    BoundedDissimilarity,
    FunctionClass,
    MeanSmoothness,
    PolyakLojasiewicz,
    Quadratic,
    QuasiStrongConvexity,
    Refusal,
    Similarity,
    certify,
    check_assumption,
    problem,
)
from certibit.theory.assumptions.assumption import Infimum
from certibit.theory.verdict import Known

CLIENTS, FEATURES, SMOOTH = 3, 4, 4.0

KINDS = {
    MeanSmoothness: ((0.4, 1.7), 0.98),
    Similarity: ((0.4, 1.7), 0.98),
    PolyakLojasiewicz: ((0.4, 1.7), 1.02),
    Infimum: ((0.4, 1.7), 0.98),
    QuasiStrongConvexity: ((0.4, 1.7), 1.02),
    BoundedDissimilarity: ((1.5, 3.0), 0.98),
}
"""Values of the constant of each assumption, and the factor that makes it a little stronger."""


def drawn(assumption, seed, n=CLIENTS, d=FEATURES):
    return sample(assumption, n, d, SMOOTH, np.random.default_rng(seed))


def by_form(assumption, functions):
    """Whether the inequality of an assumption holds on quadratics, whatever their constants say."""
    kind = type(assumption)
    blind = type("Blind", (kind,), {"follows_from": lambda self, constants: False})
    verdict = check_assumption(blind(*vars(assumption).values()), functions)
    assert verdict.note == "by eigenvalues"
    return verdict.holds


def weaknesses(kind, form):
    """Return what is wrong with a form, as the draws of an assumption show."""
    values, stronger = KINDS[kind]
    found = set()
    for value in values:
        for seed in range(3):
            functions = drawn(kind(value), seed)
            if not by_form(form(value), functions):
                found.add("too strong")
            if by_form(form(value * stronger), functions):
                found.add("too weak")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_draws_satisfy_their_assumption_with_equality(kind):
    assert weaknesses(kind, kind) == set()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 1), (1, 3), (5, 2)])
def test_draws_of_any_size_are_smooth_and_bounded_below(kind, n, d):
    for seed in range(3):
        functions = drawn(kind(1.3), seed, n, d)
        assert functions.H.shape == (n, d, d)
        assert functions.constants.L <= SMOOTH * (1 + 1e-12)
        assert np.linalg.eigvalsh(functions.H.mean(axis=0)).min() >= -1e-12
        slope = functions.grad(functions.x_star).mean(axis=0)
        assert np.abs(slope).max() <= 1e-12
        assert by_form(kind(1.3), functions)


@pytest.mark.parametrize("kind", [PolyakLojasiewicz, QuasiStrongConvexity])
@pytest.mark.parametrize("large", [1.0, 1e4, 1e8])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_a_small_curvature_counts_beside_a_large_one(kind, large, turn):
    """The inequality fails along one axis only, whose terms are small, turned or not."""
    axes = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    H = axes.T @ np.diag([large, 0.05]) @ axes
    problem = Quadratic.from_arrays((H + H.T)[None] / 2, np.zeros((1, 2)))
    assert by_form(kind(0.049), problem)
    assert not by_form(kind(0.051), problem)


def changes(x, y):
    return (x.gradients - y.gradients).square()


PLANTED = {
    # an assumption, its inequality at one point or between two, and how this is wrong
    "L~ not squared": (MeanSmoothness, "between", {"too strong", "too weak"},
                       lambda a, x, y: a.L_tilde * (x.point - y.point).square() - changes(x, y)),
    "of gradients": (Similarity, "between", {"too strong"},
                     lambda a, x, y: a.delta**2 * (x.point - y.point).square() - changes(x, y)),
    "mu once": (PolyakLojasiewicz, "at", {"too weak"},
                lambda a, x: x.gradients.mean().square() - a.mu * x.value),
    "of clients": (PolyakLojasiewicz, "at", {"too weak"},
                   lambda a, x: x.gradients.square() - 2 * a.mu * x.value),
    "infimum twice": (Infimum, "at", {"too strong"},
                      lambda a, x: x.value - 1 / a.L * x.gradients.mean().square()),
    "curvature twice": (QuasiStrongConvexity, "at", {"too strong"}, lambda a, x: (
        x.gradients.mean().dot(x.point) - x.value - a.mu * x.point.square())),
    "without the value": (QuasiStrongConvexity, "at", {"too weak"}, lambda a, x: (
        x.gradients.mean().dot(x.point) - a.mu / 2 * x.point.square())),
    "B not squared": (BoundedDissimilarity, "at", {"too strong"},
                      lambda a, x: a.B * x.gradients.mean().square() - x.gradients.square()),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_planted_errors_are_seen(name):
    kind, place, weakness, inequality = PLANTED[name]
    assert weaknesses(kind, type("Planted", (kind,), {place: inequality})) == weakness


def test_a_problem_is_checked_by_constants_eigenvalues_or_points():
    quadratic = Quadratic.random(3, 4, mu=1.0, L=10.0)
    logistic = problem("breast-cancer@4:nonconvex")
    L_f = logistic.constants.L_f
    cases = [
        (MeanSmoothness(10.0), quadratic, True, Known.PROVED),
        (MeanSmoothness(9.0), quadratic, True, Known.MEASURED),
        (MeanSmoothness(2.0), quadratic, False, Known.MEASURED),
        (PolyakLojasiewicz(1.0), quadratic, True, Known.PROVED),
        (PolyakLojasiewicz(1.2), quadratic, True, Known.MEASURED),
        (PolyakLojasiewicz(10.0), quadratic, False, Known.MEASURED),
        (QuasiStrongConvexity(1.2), quadratic, True, Known.MEASURED),
        (BoundedDissimilarity(100.0), quadratic, False, Known.MEASURED),
        (Infimum(L_f), logistic, True, Known.PROVED),
        (Infimum(L_f / 1e3), logistic, False, Known.MEASURED),
        (Similarity(0.9 * logistic.constants.L_tilde), logistic, True, Known.MEASURED),
        (Similarity(1e-3 * L_f), logistic, False, Known.MEASURED),
        (BoundedDissimilarity(1.01), logistic, False, Known.MEASURED),
    ]
    for assumption, functions, holds, known in cases:
        verdict = check_assumption(assumption, functions)
        assert (verdict.holds, verdict.known) == (holds, known), assumption
        assert holds or repr(assumption) in verdict.advice
    assert "lower bound" in check_assumption(Infimum(L_f / 1e3), logistic).note


def test_a_shared_minimiser_makes_gradients_alike():
    functions = Quadratic.random(3, 4, mu=1.0, L=10.0, shared_minimiser=True)
    assert check_assumption(BoundedDissimilarity(10.0), functions).holds
    assert not check_assumption(BoundedDissimilarity(1.01), functions).holds


def test_an_assumption_about_a_minimiser_needs_one():
    with pytest.raises(Refusal, match="none of breast-cancer@4:nonconvex is known"):
        check_assumption(QuasiStrongConvexity(0.1), problem("breast-cancer@4:nonconvex"))


@dataclass(frozen=True)
class MeanCocoercive(Assumption):
    """An assumption of one's own: (1/n) sum_i |grad f_i(x)|^2 <= 2 L (f(x) - inf f)."""

    L: float

    def at(self, x):
        return 2 * self.L * x.value - x.gradients.square()


def test_an_own_assumption_is_certified_and_checked():
    alike = Quadratic.random(3, 4, mu=1.0, L=10.0, shared_minimiser=True)
    assert check_assumption(MeanCocoercive(10.0), alike).holds
    assert not check_assumption(MeanCocoercive(1.0), alike).holds
    functions = FunctionClass(3, -1.0, 1.0, assumptions=(MeanCocoercive(1.0),))
    assert certify(GD(0.5), functions).c > 0


@pytest.mark.parametrize("hidden", [{"compare": False}, {"init": False}])
@pytest.mark.parametrize("own", [{}, {"__post_init__": lambda self: None}])
def test_constants_that_equality_does_not_see_are_refused(hidden, own):
    members = {"__annotations__": {"mu": float}, "mu": field(default=1.0, **hidden), **own}
    hiding = dataclass(frozen=True)(type("Hiding", (Assumption,), members))
    with pytest.raises(Refusal, match="in a field that is compared"):
        FunctionClass(3, -1.0, 1.0, assumptions=(hiding(),))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.5, "1", None, True])
def test_constants_that_are_none_are_refused(kind, value):
    with pytest.raises(Refusal, match=r"is no constant; give a finite number of at least 0"):
        kind(value)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("smooth", "'smooth' is no tuple; give one"),
        (Similarity(0.1), "is no tuple; give one"),
        ([Similarity(0.1)], "is no tuple; give one"),
        ((0.1,), "0.1 is no assumption; give one"),
        ((Similarity,), "is no assumption; give one"),
        ((PolyakLojasiewicz(1.0),), "one curvature at most; give mu < L_f"),
        ((QuasiStrongConvexity(1.1),), "one curvature at most; give mu < L_f"),
    ],
)
def test_what_is_no_assumption_is_refused(given, words):
    with pytest.raises(Refusal, match=words):
        FunctionClass(3, -1.0, 1.0, assumptions=given)


def test_special_constants_are_refused():
    with pytest.raises(Refusal, match=r"B = 0.9 is below 1"):
        BoundedDissimilarity(0.9)
    with pytest.raises(Refusal, match=r"B = 0.5 is below 1"):
        BoundedDissimilarity(0.5)
    with pytest.raises(Refusal, match=r"L = 0.0 of Infimum"):
        Infimum(0.0)


def test_units():
    assert BoundedDissimilarity(2.0).in_units(4.0) == BoundedDissimilarity(2.0)
    assert PolyakLojasiewicz(2.0).in_units(4.0) == PolyakLojasiewicz(0.5)
    functions = FunctionClass(3, -1.0, 1.0, assumptions=(PolyakLojasiewicz(0.5),))
    for unit in (0.3, 7.0):
        assert replace(functions).in_units(unit).assumptions == (PolyakLojasiewicz(0.5 / unit),)


@pytest.mark.long
@pytest.mark.parametrize("mu", [0.0, 0.1, 0.3])
def test_gradient_descent_contracts_under_quasi_strong_convexity(mu):
    """(1 - gamma mu) |x - x*|^2 - 2 gamma (1 - gamma L) (f - f*) bounds it; here gamma L = 1."""
    functions = FunctionClass(3, -1.0, 1.0, assumptions=(QuasiStrongConvexity(mu),))
    proof = certify(GD(1.0), functions, measure="potential")
    assert proof.decrease == pytest.approx(mu, rel=1e-8, abs=1e-12)
    searched = certify(GD(1.0), functions, "search", "potential")
    assert searched.verify()
    assert mu - 1e-9 <= searched.decrease <= 1 - (1 - mu) ** 2 + 1e-9  # of f = mu/2 |x|^2


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_alike_assumptions_none_is_lost(order):
    """The last took the place of the first: the smaller delta counted only if it was the last."""
    tight, loose = Similarity(0.1), Similarity(2.0)
    smooth = FunctionClass(4, -1.0, 1.0, alpha=0.5)
    of_one, of_both = (
        certify(EF21(0.29), replace(smooth, assumptions=given, L_f=0.5))
        for given in [(tight,), (tight, loose)[::order]]
    )
    assert of_both.c == pytest.approx(of_one.c, rel=1e-5)
    assert of_both.verify()


def test_two_zetas_are_refused():
    """e' zeta^2 was about the larger one, without a word."""
    given = BoundedDissimilarity(1.0, zeta=1.0), BoundedDissimilarity(2.0, zeta=0.5)
    with pytest.raises(Refusal, match=r"zeta = 0\.5, 1 leave open which one"):
        FunctionClass(4, -1.0, 1.0, assumptions=given)
    assert FunctionClass(4, -1.0, 1.0, assumptions=(given[0], given[0])).zeta == 1.0
