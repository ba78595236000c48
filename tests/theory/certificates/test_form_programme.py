"""The path on which form and proof are found together, beside what is known otherwise."""

import numpy as np
import pytest
import scipy.linalg
import scipy.optimize
from flint import arb, arb_mat, fmpq, fmpq_mat

from certibit.data.errors import Refusal
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.form_programme import FormProgramme
from certibit.theory.certificates.potential_family import SMALLEST, Family
from certibit.theory.certificates.summary import class_setting
from certibit.theory.cones.central_path import follow
from certibit.theory.cones.cone_programme import (
    ConeProgramme,
    Directions,
    RatioProgramme,
    in_floats,
)
from certibit.theory.cones.double_doubles import Doubles
from certibit.theory.cones.triangles import (
    changed,
    congruence,
    from_triangle,
    precisely_changed,
    triangle,
    triangle_places,
    upper,
)
from certibit.theory.function_class import FunctionClass


def positive(rng, k):
    """Return a positive definite matrix of integers."""
    rows = rng.integers(-3, 4, (k, k))
    return rows @ rows.T + np.eye(k, dtype=int)


@pytest.mark.parametrize("seed", range(3))
def test_a_ratio_is_as_large_as_of_generalised_eigenvalues(seed):
    """Of A(v) - t B(v) >= 0 with A = A_0 + v A_1, B likewise, and 0 <= v <= 1."""
    rng = np.random.default_rng(seed)
    pairs = [[positive(rng, 4) for _ in range(2)] for _ in range(2)]

    def flat(fixed, moved):
        columns = [upper(one, range(4)) for one in (fixed, 0 * fixed, moved)]
        return [fmpq_mat(np.array(columns).T.tolist())]

    lines = [[0, 0, 1], [1, 0, -1]]
    above = ConeProgramme.of([1, 0], flat(*pairs[0]), fmpq_mat(lines))
    below = ConeProgramme.of([1, 0], flat(*pairs[1]), fmpq_mat([[0, 0, 0], [0, 0, 0]]))
    found = follow(RatioProgramme(above, below), [-1000, 0.5], 1e-9, bounded=False).numbers

    def least(v):
        return -scipy.linalg.eigvalsh(*(fixed + v * moved for fixed, moved in pairs))[0]

    best = scipy.optimize.minimize_scalar(least, bounds=(0, 1), options={"xatol": 1e-10})
    assert float(found[0].p) / float(found[0].q) == pytest.approx(-best.fun, rel=1e-7)


def test_the_tangent_of_a_ratio_is_its_change():
    """A - t B is quadratic in (t, v): half the difference of two sides is exact."""
    rng = np.random.default_rng(0)

    def drawn():
        sums, lines = rng.integers(-9, 10, (6, 3)), rng.integers(-9, 10, (2, 3))
        return ConeProgramme.of([1, 0], [fmpq_mat(sums.tolist())], fmpq_mat(lines.tolist()))

    programme, point = RatioProgramme(drawn(), drawn()), np.array([3, 2])
    tangent = programme.tangent(Directions.unit(2), point.tolist())
    assert not tangent.rest.any()
    for step, known in zip(np.eye(2, dtype=int), tangent.whole.T, strict=True):
        above, below = (programme.at((point + sign * step).tolist()) for sign in (1, -1))
        pairs = zip((*above[0], above[1]), (*below[0], below[1]), strict=True)
        changes = [x for one, other in pairs for x in ((one - other) / 2).entries()]
        assert changes == known.tolist()


@pytest.mark.parametrize("name", ["diana", "marina", "gd"])
def test_the_best_form_decreases_as_is_said_and_is_not_small(name):
    card = METHODS[name]
    sent = 4.0 if card.method.needs.compressor else None
    where = class_setting(card.method, 10, 100.0, sent, None, 1)
    family = Family.largest(card.at(where), FunctionClass.of(where))
    decrease, best, near = family.best()
    assert near.decrease == pytest.approx(decrease, rel=1e-6)
    for form in family.forms(best):
        values = np.linalg.eigvalsh(form)
        assert values[0] > -1e-12 * values[-1]
        assert values[0] > 0.9 * SMALLEST or family.start.gradients


def test_a_form_that_is_not_positive_begins_no_search():
    """Its floor is twice the form itself."""
    card = METHODS["ef21"]
    where = class_setting(card.method, 10, 100.0, 4.0, None, 1)
    step = Family.largest(card.at(where), FunctionClass.of(where)).step
    unit = [fmpq(1)] * len(step.now)
    programme = FormProgramme(step, (), unit, [fmpq(2)] * len(step.now))
    with pytest.raises(Refusal, match="no form is found to begin a search with"):
        programme.best()


def test_double_doubles_are_added_and_multiplied_to_a_hundred_bits():
    """Beside exact numbers: sums and products of entries, and products of matrices."""
    rng = np.random.default_rng(2)

    def drawn(*shape):
        whole = rng.standard_normal(shape) * 10.0 ** rng.integers(-6, 6, shape)
        return Doubles(whole, whole * 1e-17 * rng.standard_normal(shape))

    def exact(one):
        first, second = (
            [fmpq(*x.as_integer_ratio()) for x in own.flat] for own in (one.whole, one.rest)
        )
        return fmpq_mat(*one.whole.shape, [x + y for x, y in zip(first, second, strict=True)])

    def error(found, right):
        return max(abs(float(x.p) / float(x.q)) for x in (exact(found) - right).entries())

    a, b, c = drawn(4, 60), drawn(60, 5), drawn(4, 60)
    both = zip(exact(a).entries(), exact(c).entries(), strict=True)
    size = np.abs(a.whole).max() * np.abs(b.whole).max()
    assert error(a @ b, exact(a) * exact(b)) < 2.0**-100 * size
    assert error(a + c, exact(a) + exact(c)) < 2.0**-100 * np.abs(a.whole + c.whole).max()
    products = fmpq_mat(4, 60, [x * y for x, y in both])
    assert error(a * c, products) < 2.0**-100 * np.abs(a.whole * c.whole).max()


def test_triangles_of_changed_coordinates_are_those_of_the_matrix():
    rng = np.random.default_rng(1)
    turn, symmetric = rng.standard_normal((2, 5, 5))
    symmetric = symmetric + symmetric.T
    rows, columns = triangle_places(5)
    entries = arb_mat([[arb(x)] for x in symmetric[rows, columns]])
    seen = in_floats(congruence(arb_mat(turn.tolist())) * entries)[:, 0]
    expected = turn.T @ symmetric @ turn
    assert seen == pytest.approx(triangle(expected))
    plain = symmetric[rows, columns][:, None]
    for found in (changed(turn, plain), precisely_changed(turn, Doubles.of(plain))):
        assert found[:, 0] == pytest.approx(expected[rows, columns])
    assert from_triangle(seen) == pytest.approx(expected)
    assert seen @ seen == pytest.approx(np.sum(expected**2))


def test_the_units_of_unknowns_lose_no_digits():
    rng = np.random.default_rng(2)
    turn, symmetric = rng.standard_normal((2, 5, 5))
    units = 2.0 ** np.array([0, 60, -60, 30, -90])
    rows, columns = triangle_places(5)
    plain = (symmetric + symmetric.T)[rows, columns][:, None]
    other = Doubles.of(plain / (units[rows] * units[columns])[:, None])
    found = precisely_changed(turn * units[:, None], other)
    assert np.array_equal(found, precisely_changed(turn, Doubles.of(plain)))


def test_small_parts_of_a_form_go_whatever_their_sign():
    """Of diag(-1, 1/1000) and f - f* of weight -1 the second part, and nothing else."""
    family = Family.largest(METHODS["diana"].method(0.01, 0.3), FunctionClass(3, 1.0, 10.0))
    sizes = [matrix.shape[1] for matrix in family.matrices]
    forms = [np.diag([-1.0, *[1e-3] * (size - 1)]) for size in sizes]
    kept = [np.diag([-1.0, *[0.0] * (size - 1)]) for size in sizes]
    found = family.without_small_parts(family.weights(-1.0, forms), 1e-2)
    np.testing.assert_array_equal(found, family.weights(-1.0, kept))
