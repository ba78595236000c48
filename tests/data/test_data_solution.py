"""The minimiser by two linear solvers, and the cache that keeps it."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse

from certibit.data.files.archive import save_arrays
from certibit.data.files.own_data import Dataset
from certibit.data.problems import ridge_problem
from certibit.data.problems.logistic import LogisticRegression
from certibit.data.problems.ridge_problem import cached_solution, mean_gradient, minimiser


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path))
    return tmp_path / "solutions"


@pytest.fixture
def logistic(make_dataset):
    return LogisticRegression.from_data(make_dataset(), 4, kappa=1e3)


def must_not_solve(problem):
    raise AssertionError("solved again")


@pytest.mark.parametrize("conjugate_gradients", [False, True])
def test_newton_finds_the_minimiser(problem, monkeypatch, conjugate_gradients):
    if conjugate_gradients:
        monkeypatch.setattr(ridge_problem, "_DENSE_FEATURES", 0)
    found = minimiser(problem.plain)
    np.testing.assert_allclose(found, problem.x_star, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3, 1e6])
@pytest.mark.parametrize("kappa", [2.0, 1e4, 1e10])
def test_newton_at_all_scales(make_dataset, size, kappa):
    """Badly scaled and badly conditioned data end at rounding level too."""
    dataset = make_dataset(60, 4)
    scales = np.array([1.0, size, 1.0, 1.0])
    rows = scipy.sparse.csr_array(dataset.A * scales[None, :])
    dataset = Dataset("scaled", rows, dataset.b, dataset.labels, "a test")
    problem = LogisticRegression.from_data(dataset, 5, kappa=kappa)
    start = np.linalg.norm(mean_gradient(problem, np.zeros((1, 4, 1))))
    scale = start + problem.constants.L * np.linalg.norm(problem.x_star)
    assert np.linalg.norm(mean_gradient(problem, problem.x_star)) < 1e-14 * scale


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kappa", [1e2, 1e6, 1e10])
def test_noise_moves_the_minimiser_as_conditioning_allows(make_dataset, kappa, seed, monkeypatch):
    """Noise e in gradients moves x* by |e|/mu at most, and f - f* by the square of it."""
    problem = LogisticRegression.from_data(make_dataset(60, 4), 5, kappa=kappa)
    zero, right = np.zeros((1, 4, 1)), problem.x_star
    scale = np.linalg.norm(mean_gradient(problem, zero))
    scale += problem.constants.L_f * np.linalg.norm(right)
    rng = np.random.default_rng(seed)

    def noisy(function, size):
        def called(*given):
            value = function(*given)
            return value + size * np.linalg.norm(value) * rng.standard_normal(value.shape)

        return called

    monkeypatch.setattr(ridge_problem, "mean_gradient", noisy(ridge_problem.mean_gradient, 1e-12))
    monkeypatch.setattr(ridge_problem, "_newton_step", noisy(ridge_problem._newton_step, 1e-12))
    found = minimiser(problem)
    error = 1e-14 * scale
    assert np.linalg.norm(found - right) <= error / problem.constants.mu
    gaps = [float(replace(problem, x_star=x).gap(zero)[0]) for x in (right, found)]
    assert gaps[1] == pytest.approx(gaps[0], rel=1e-11, abs=error**2 / problem.constants.mu)


def test_newton_finds_a_far_solution(make_dataset):
    """Separable data and a tiny mu: many steps, each of them large."""
    dataset = make_dataset(8, 6, density=1.0)
    problem = LogisticRegression.from_data(dataset, 2, mu=1e-8)
    assert np.linalg.norm(problem.x_star) > 10
    assert np.linalg.norm(mean_gradient(problem, problem.x_star)) < 1e-13


def test_newton_halves_steps_that_overshoot():
    """Rows of very different size, on which full Newton steps run in a cycle for ever."""
    generator = np.random.default_rng(30)
    rows = generator.standard_normal((8, 2)) * 10 ** generator.uniform(-1, 2, (8, 1))
    mu = 10 ** generator.uniform(-6, -2) / 2
    b = np.array([1.0, -1.0] * 4)
    dataset = Dataset("uneven", scipy.sparse.csr_array(b[:, None] * rows), b, (-1, 1), "a test")
    problem = LogisticRegression.from_data(dataset, 2, mu=mu)
    assert np.linalg.norm(mean_gradient(problem, problem.x_star)) < 1e-13


def test_solutions_are_kept(logistic, folder):
    (path,) = folder.iterdir()
    assert path.name == f"{logistic.fingerprint}.npz"
    np.testing.assert_array_equal(cached_solution(logistic, must_not_solve), logistic.x_star)


DAMAGES = {
    "empty": lambda good, x_star: b"",
    "text": lambda good, x_star: b"nonsense",
    "cut": lambda good, x_star: good[: len(good) // 2],
    "flipped": lambda good, x_star: good[:200] + bytes([good[200] ^ 1]) + good[201:],
    "longer": lambda good, x_star: {"x_star": np.append(x_star, 0.0)},
    "nan": lambda good, x_star: {"x_star": x_star * np.nan},
    "infinite": lambda good, x_star: {"x_star": x_star * np.inf},
    "huge": lambda good, x_star: {"x_star": x_star * 1e300},
    "words": lambda good, x_star: {"x_star": x_star.astype(str)},
    "integers": lambda good, x_star: {"x_star": x_star.astype(int)},
    "singles": lambda good, x_star: {"x_star": x_star.astype(np.float32)},
    "another name": lambda good, x_star: {"y": x_star},
    "the origin": lambda good, x_star: {"x_star": 0 * x_star},
    "nearly": lambda good, x_star: {"x_star": x_star * (1 + 1e-10)},
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_no_solution_is_told_set_aside_and_computed_again(logistic, folder, damage):
    (path,) = folder.iterdir()
    damaged = DAMAGES[damage](path.read_bytes(), logistic.x_star.ravel())
    if isinstance(damaged, bytes):
        path.write_bytes(damaged)
    else:
        save_arrays(path, damaged)
    written = path.read_bytes()
    aside = path.with_name(f"{path.name}.damaged")
    sentence = rf"{path} is damaged \(.*\); it is set aside as {aside.name} and computed again"
    with pytest.warns(UserWarning, match=sentence):
        again = cached_solution(logistic, minimiser)
    np.testing.assert_array_equal(again, logistic.x_star)
    np.testing.assert_array_equal(cached_solution(logistic, must_not_solve), logistic.x_star)
    assert aside.read_bytes() == written


def test_a_solution_that_is_read_is_refined(make_dataset, folder):
    """Where f + g is flat, a gradient at rounding level allows a large error."""
    dataset = make_dataset()
    rows = scipy.sparse.csr_array(dataset.A * np.array([[1.0, 1e-6, 1.0, 1.0, 1.0, 1.0]]))
    problem = LogisticRegression.from_data(replace(dataset, A=rows), 4, kappa=1e9)
    (path,) = folder.iterdir()
    flattest = np.linalg.eigh(problem.hessian(problem.x_star))[1][:, 0]
    away = 1e-5 * np.linalg.norm(problem.x_star) * flattest
    save_arrays(path, {"x_star": problem.x_star.ravel() + away})
    found = cached_solution(problem, must_not_solve)
    error = np.linalg.norm(found - problem.x_star)
    assert error <= 2 * problem.x_star_error < 1e-2 * np.linalg.norm(away)


def test_what_is_known_of_the_error_of_a_solution(problem):
    """A bound by strong convexity; 0 would say that rounding hides nothing."""
    scale = np.linalg.norm(problem.x_star)
    assert 0 < problem.x_star_error < 1e-10 * scale
    moved = replace(problem, x_star=problem.x_star * (1 + 1e-6))
    assert 1e-6 * scale <= moved.x_star_error < 1e-6 * scale * 2 * problem.constants.kappa


def test_a_cache_that_cannot_be_written_is_told(logistic, tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    monkeypatch.setenv("CERTIBIT_CACHE", str(blocked))
    with pytest.warns(UserWarning, match="the solution is not kept in the cache"):
        np.testing.assert_array_equal(cached_solution(logistic, minimiser), logistic.x_star)
