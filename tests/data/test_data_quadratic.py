"""Random quadratics: prescribed constants, exact solution, exact gap."""

from fractions import Fraction

import numpy as np
import pytest

from certibit import Quadratic, Refusal


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("L", [7.0, [2.0, 7.0, 100.0]])
@pytest.mark.parametrize("d", [2, 5])
def test_constants_are_as_asked(shared, L, d):
    problem = Quadratic.random(3, d, 0.5, L, shared_eigenvectors=shared, seed=4)
    eigenvalues = np.linalg.eigvalsh(problem.H)
    constants = problem.constants
    np.testing.assert_allclose(eigenvalues[:, 0], 0.5, rtol=1e-12)
    np.testing.assert_allclose(eigenvalues[:, -1], np.broadcast_to(L, 3), rtol=1e-12)
    np.testing.assert_array_equal(constants.L_i, np.broadcast_to(L, 3))
    assert constants.mu == 0.5
    np.testing.assert_allclose(
        constants.L_f, np.linalg.eigvalsh(problem.H.mean(axis=0))[-1], rtol=1e-12
    )
    commute = np.allclose(problem.H[0] @ problem.H[1], problem.H[1] @ problem.H[0], atol=1e-12)
    assert commute == shared


def test_a_random_problem_is_its_seed():
    first, again, other = (Quadratic.random(3, 4, seed=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first.H, again.H)
    assert first.fingerprint == again.fingerprint != other.fingerprint
    assert not np.allclose(first.H, other.H)


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-10, 1e-15])
def test_gap_is_exact_on_integers(scale):
    """Integer matrices with an integer solution: the gap is a rational number."""
    H = np.array([[[4.0, 1.0], [1.0, 3.0]], [[6.0, -2.0], [-2.0, 9.0]]])
    star = np.array([3.0, -2.0])
    pull = np.array([1.0, -2.0])
    c = np.array([star - np.linalg.solve(H[0], pull), star + np.linalg.solve(H[1], pull)])
    problem = Quadratic.from_arrays(H, c)
    np.testing.assert_allclose(problem.x_star[0, :, 0], star, rtol=1e-15)
    x = problem.x_star + scale * np.array([[1.0], [2.0]])
    step = [Fraction(v) - Fraction(s) for v, s in zip(x.flat, problem.x_star.flat, strict=True)]
    average = [[Fraction(v) for v in row] for row in H.mean(axis=0)]
    exact = sum(step[i] * average[i][j] * step[j] for i in range(2) for j in range(2)) / 2
    for view in (problem.plain, problem.composite):
        assert view.gap(x)[0] == pytest.approx(float(exact), rel=1e-14)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"mu": 0.0}, "mu = 0 and L = 100.0; expected 0 < mu <= L_i"),
        ({"mu": 2.0, "L": [1.0, 3.0, 3.0]}, "mu = 2 and L = [1.0, 3.0, 3.0]; expected"),
        ({"L": float("inf")}, "the numbers L have the value inf in row 1"),
        ({"L": [1.0, 2.0]}, "L has the shape (2,); give one number or 3, one per client"),
        ({"d": 1}, "d = 1 leaves one eigenvalue, but mu = 1 is not L = 100.0; take d >= 2"),
        ({"d": 0}, "a quadratic of 3 clients and 0 features; both are at least 1"),
        ({"n": 0}, "a quadratic of 0 clients and 4 features; both are at least 1"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(Refusal) as refusal:
        Quadratic.random(**{"n": 3, "d": 4, **arguments})
    assert str(refusal.value).startswith(sentence)


@pytest.mark.parametrize(
    ("H", "c", "sentence"),
    [
        (
            np.eye(2)[None],
            np.zeros((2, 2)),
            "the matrices have the shape (1, 2, 2) and the centres",
        ),
        (np.array([[[1.0, 2.0], [0.0, 1.0]]]), np.zeros((1, 2)), "a matrix is not symmetric"),
        (np.diag([1.0, -1.0])[None], np.zeros((1, 2)), "a matrix has the eigenvalue -1"),
    ],
)
def test_refused_arrays(H, c, sentence):
    with pytest.raises(Refusal) as refusal:
        Quadratic.from_arrays(H, c)
    assert str(refusal.value).startswith(sentence)
