"""(L0, L1)-smooth problems: gradients, gaps and every constant, by property and by sharpness."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from worlds import LIBRARIES, simulate

from certibit import EPISODE, Budget, Quartics, Refusal, Uniform
from certibit.data.problem import is_strongly_convex
from certibit.data.relaxed.families import (
    Cosh,
    Exponential,
    Extremal,
    Multiples,
    PseudoHuber,
    Square,
    Steep,
    Tilted,
    Well,
    crossed_cosh,
    hard_instances,
    stalemate,
    tilted_wells,
)
from certibit.data.relaxed.polynomials import PhaseRetrieval, smallest_offset
from certibit.solvers.libraries import transfer
from certibit.theory.checks.problem.problems import problem_checks

TILTS = [[2.0, 0.0], [-1.0, 1.5], [-1.0, -1.5]]

PROBLEMS = {
    **{f"quartics, H = {H}": Quartics.of(H) for H in (1, 2, 4, 8)},
    "stalemate": stalemate(2.0),
    "crossed cosh": crossed_cosh(3.0),
    "tilted wells": tilted_wells(2.0, n=6, d=3),
    "tilted cosh": Tilted.of(Cosh(), TILTS, [1.0, 2.0]),
    "exponential": Multiples.of(Exponential(-0.7), (1.0,), 1.0),
    "cosh": Multiples.of(Cosh(0.6), (3.0, -1.0, 1.0), [1.0, 2.0]),
    "extremal": Multiples.of(Extremal(0.7, 1.3), (3.0, -1.0, 1.0), 1.5),
    "extremal, L1 = 0": Multiples.of(Extremal(0.7, 0.0), (1.0,), 1.5),
    "explosion": hard_instances(50.0, 1000.0, 1.0)[0],
    "bias": hard_instances(50.0, 1000.0, 1.0)[1],
    "slow": hard_instances(50.0, 1000.0, 1.0)[2],
    "phase retrieval": PhaseRetrieval.random(3, 12, 2, seed=1),
}
each_problem = pytest.mark.parametrize("name", PROBLEMS)


def sampled(problem, seed=0, count=3000):
    """Return random points around the solution and the start, near and far, (1, d, count)."""
    generator = np.random.default_rng(seed)
    lengths = 10 ** generator.uniform(-2, 1, (1, 1, count))
    directions = generator.standard_normal((1, problem.d, count))
    centre = np.nan_to_num(np.asarray(problem.x_star)) * generator.integers(0, 2, (1, 1, count))
    return centre + lengths * directions / np.linalg.norm(directions, axis=1, keepdims=True)


def hessians(grad, x):
    """Return the Hessians at points (1, d, R) by central differences, (n, R, d, d)."""
    step = 6e-6 * np.maximum(1.0, np.abs(x).max(axis=1, keepdims=True))
    shifts = [step * unit[None, :, None] for unit in np.eye(x.shape[1])]
    columns = [(grad(x + shift) - grad(x - shift)) / (2 * step) for shift in shifts]
    matrices = np.moveaxis(np.stack(columns, axis=-1), 2, 1)
    return (matrices + np.matrix_transpose(matrices)) / 2


def norms(problem, x):
    """Return |Hess f_i|, |grad f_i|, (n, R), and |Hess f|, |grad f|, (R,)."""
    matrices, slopes = hessians(problem.grad, x), problem.grad(x)
    return (
        np.abs(np.linalg.eigvalsh(matrices)).max(axis=-1),
        np.linalg.norm(slopes, axis=1),
        np.abs(np.linalg.eigvalsh(matrices.mean(axis=0))).max(axis=-1),
        np.linalg.norm(slopes.mean(axis=0), axis=0),
    )


@each_problem
def test_points_and_gradients_have_clients_features_and_runs(name):
    problem = PROBLEMS[name]
    assert not is_strongly_convex(problem)
    assert problem.x_0.shape == problem.x_star.shape == (1, problem.d, 1)
    assert problem.grad_star.shape == (problem.n, problem.d, 1)
    assert not problem.grad_g(problem.x_0).any()


@each_problem
def test_a_problem_is_told_in_a_line(name):
    told, constants = repr(PROBLEMS[name]), PROBLEMS[name].constants
    assert f"L0={constants.L0:.4g}, L1={constants.L1:.4g}" in told
    assert len(told) < 100


def test_problems_of_many_runs_are_told_in_a_line():
    grid = np.linspace(1, 8, 5000)
    assert repr(Quartics.of(grid)) == "Quartics(n=2, d=1, runs=5000, noise=None)"
    told = repr(crossed_cosh(grid, Uniform(0.5)))
    assert told == "Tilted(n=4, d=2, runs=5000, noise=Uniform(sigma=0.5))"


@pytest.mark.parametrize("runs", [1, 3])
def test_points_may_differ_between_runs(runs):
    problem = Quartics.of(np.linspace(1, 8, runs))
    assert problem.x_star.shape == (1, 1, runs)
    assert problem.grad_star.shape == (2, 1, runs)


@each_problem
def test_all_checks_of_a_problem_pass(name):
    assert [str(verdict) for verdict in problem_checks(PROBLEMS[name]) if not verdict.holds] == []


@pytest.mark.parametrize("name", [n for n in PROBLEMS if n != "exponential"])
def test_the_gap_is_accurate_near_the_solution(name):
    """Near x*, f - f* is half the second derivative times the step squared, far below rounding."""
    problem = PROBLEMS[name]
    direction = np.ones((1, problem.d, 1))
    curvature = hessians(problem.grad, problem.x_star).mean(axis=0).sum()
    for length in (1e-6, 1e-8, 1e-10):
        gap = problem.gap(problem.x_star + length * direction)[0]
        assert gap == pytest.approx(length**2 * curvature / 2, rel=1e-4, abs=length**2.9)


@each_problem
@pytest.mark.parametrize("scale", [1.0, 2.0, 5.0])
def test_the_constants_hold(name, scale):
    """|Hess f_i| <= L0 + L1 |grad f_i| and |grad f_i| <= kappa + rho |grad f|, at 3000 points."""
    problem = PROBLEMS[name]
    constants = problem.relaxed((problem.relaxed().L1 or 0.1) * scale)
    curvatures, slopes, _, slope = norms(problem, sampled(problem))
    bound = constants.L0 + constants.L1 * slopes
    assert (curvatures <= bound * (1 + 1e-6) + 1e-6).all()
    if not math.isnan(constants.kappa):
        assert (slopes <= constants.kappa + constants.rho * slope + 1e-9 * (1 + slopes)).all()
        assert constants.rho >= 1
    assert constants.Delta == pytest.approx(problem.gap(problem.x_0)[0])
    assert constants.mu == 0


@pytest.mark.parametrize("name", [n for n in PROBLEMS if not n.startswith("phase")])
def test_the_mean_is_as_smooth_where_it_is_said(name):
    """f is (L0, L1)-smooth itself for tilts, multiples, quartics and single clients."""
    problem = PROBLEMS[name]
    constants = problem.constants
    _, _, curvature, slope = norms(problem, sampled(problem))
    assert (curvature <= (constants.L0 + constants.L1 * slope) * (1 + 1e-6) + 1e-6).all()


@pytest.mark.parametrize(
    "name",
    ["cosh", "exponential", "quartics, H = 1", "quartics, H = 8",
     "crossed cosh", "explosion", "slow"],
)  # fmt: skip
def test_the_constant_is_sharp(name):
    """Near some point no smaller L0 would do.

    The pair of a tilted family is not sharp, that of its shape is.
    """
    problem = PROBLEMS[name]
    if isinstance(problem, Tilted):
        problem = Multiples.of(problem.shape, (1.0,), problem.x_0)
    constants = problem.relaxed(problem.relaxed().L1 or 0.5)
    curvatures, slopes, *_ = norms(problem, sampled(problem, count=30_000))
    needed = np.max((1 - 1e-6) * curvatures - constants.L1 * slopes)
    assert needed == pytest.approx(constants.L0, rel=0.02, abs=1e-6)


TABLE = {
    1: (78.0186, 34.2579, 30.2262, 30.2262),
    2: (84.0184, 43.0009, 41.1419, 41.1419),
    4: (96.4510, 61.7981, 61.7513, 61.7513),
    8: (122.9361, 100.7102, 100.7102, 100.7102),
}


@pytest.mark.parametrize("H", TABLE)
def test_the_quartics_have_their_published_facts(H):
    """The table of the specification: minimiser, minimum, best kappa and smallest L0."""
    problem = Quartics.of(H)
    star = problem.x_star.item()
    facts = {
        1: (2.311365813428925929, -8.863279831704152487),
        2: (1 + math.sqrt(2), -11.656854249492380195),
        4: (2.597885910874596989, -17.950467615911973949),
        8: (2.908160114680431212, -33.180265080039562813),
    }
    assert (star, problem.f_star) == pytest.approx(facts[H], rel=1e-14)
    assert [problem.relaxed(L1).L0 for L1 in (0.5, 1, 2, 4)] == pytest.approx(TABLE[H], abs=6e-5)
    constants = problem.constants
    assert (constants.kappa, constants.rho) == (pytest.approx(3 * H * star), 2.0)
    x = np.linspace(-20, 20, 400_001)[None, None, :]
    needed = np.abs(problem.grad(x)).max(axis=0) - 2 * np.abs(problem.grad(x).mean(axis=0))
    assert needed.max() == pytest.approx(constants.kappa, rel=1e-4)
    assert needed.max() <= constants.kappa


@given(
    st.lists(st.floats(-5, 5), min_size=3, max_size=6).filter(lambda c: abs(c[-1]) > 0.01),
    st.floats(0.05, 10),
)
def test_the_smallest_offset_of_a_polynomial(coefficients, L1):
    """It is a bound on a fine grid, and one of the points of a finer search attains it."""
    first = np.polynomial.Polynomial(coefficients).deriv()
    offset = smallest_offset(coefficients, L1)
    x = np.concatenate([np.linspace(-30, 30, 20_001), first.roots().real])
    excess = np.abs(first.deriv()(x)) - L1 * np.abs(first(x))
    assert excess.max() <= offset * (1 + 1e-6) + 1e-6


def test_closed_constants_of_the_shapes():
    assert Cosh(3.0).offset(3.0) == 9.0
    assert Steep(2.0, 3.0).offset(3.0) == 2.0
    assert Extremal(2.0, 3.0).offset(3.0) == 2.0
    assert PseudoHuber(0.1, 0.2).offset(0.0) == pytest.approx(1.0)
    assert Square(1.0).offset(0.0) == 1.0
    assert Well().offset(2.0) == 1.0
    cosh = Multiples.of(Cosh(), (1.0,), 3.0)
    assert cosh.constants.Delta == pytest.approx(math.cosh(3) - 1)


@pytest.mark.parametrize("M", [10.0, 1000.0])
def test_the_hard_instances_start_as_they_should(M):
    """|f'(x_0)| = M for the first two, h(y_0) <= Delta for the third, f' as they say."""
    Delta, eps = 1000.0, 0.1
    explosion, bias, slow = hard_instances(M, Delta, eps)
    for problem in (explosion, bias):
        assert np.abs(problem.grad(problem.x_0).mean()) == pytest.approx(M)
        assert problem.constants.Delta <= Delta
    assert bias.grad(bias.x_0).ravel() == pytest.approx([5 * M, -M, -M])
    assert (bias.constants.L0, bias.constants.rho) == (pytest.approx(1.0), 5.0)
    assert slow.constants.Delta <= Delta
    assert np.abs(slow.grad(slow.x_0)).max() < 2 * eps


@pytest.mark.parametrize("L1", [0.1, 1.0, 10.0, 1e4])
def test_the_offset_of_phase_retrieval_is_the_largest_difference_of_its_bounds(L1):
    """Against the two bounds of the docstring on a fine grid of lengths."""
    problem = PhaseRetrieval.random(1, 15, 3, seed=2)
    rows, y = problem.rows[0], (problem.rows @ problem.signal)[0, :, 0] ** 2
    Lambda, Y = (
        np.linalg.norm(np.einsum("j,ja,jb->ab", weight, rows, rows) / 15, 2)
        for weight in ((rows**2).sum(axis=1), y)
    )
    lam = np.linalg.svd(rows.T @ rows / 15, compute_uv=False)[-1] ** 2
    s = np.geomspace(1e-3, 1e5, 1_000_001)
    bounds = 6 * Lambda * s**2 + 2 * Y - 2 * L1 * np.maximum(0, lam * s**3 - Y * s)
    assert pytest.approx(bounds.max(), rel=1e-4) == problem.relaxed(L1).L0


def test_misfits_are_refused():
    for build, sentence in (
        (lambda: Tilted.of(Well(), [[1.0], [2.0]], 0.0), "do not add up to 0"),
        (lambda: Tilted.of(Well(), [[1.0], [-1.0]], [0.0, 0.0]), "do not fit d = 2"),
        (lambda: Multiples.of(Well(), (1.0, 2.0)), "must be 1"),
        (lambda: Quartics.of(-1.0), "give positive numbers"),
        (lambda: Quartics.of([1.0, 2.0]).constants, "those of one H"),
        (lambda: Cosh(2.0).offset(1.0), "for L1 = 1; give 2 or more"),
        (lambda: PhaseRetrieval.random(1, 2, 3), "give at least 3"),
        (lambda: stalemate().composite, "no view with a shared ridge"),
    ):
        with pytest.raises(Refusal, match=sentence):
            build()


@pytest.mark.parametrize("library", LIBRARIES)
@each_problem
def test_problems_run_on_every_library_and_have_a_fingerprint(name, library):
    problem = PROBLEMS[name]
    moved = transfer(problem, library)
    x = sampled(problem, count=5)
    method, options = EPISODE(1e-3, 1e-3, 2), {"seeds": 1, "budget": Budget(rounds=3)}
    ours = simulate(method, problem, **options)
    theirs = simulate(method, problem, library=library, **options)
    np.testing.assert_allclose(ours.columns["gap"], theirs.columns["gap"], rtol=1e-9)
    assert moved.n == problem.n
    assert np.isfinite(problem.grad(x)).all()
    prints = {p.fingerprint for p in PROBLEMS.values()}
    assert len(prints) == len(PROBLEMS)
    assert problem.specification["fingerprint"] == problem.fingerprint


def test_noise_is_part_of_the_fingerprint_and_of_sigma():
    quiet, noisy = Quartics.of(1.0), Quartics.of(1.0, noise=Uniform(0.3))
    assert quiet.fingerprint != noisy.fingerprint
    assert (quiet.constants.sigma, noisy.constants.sigma) == (0.0, 0.3)
