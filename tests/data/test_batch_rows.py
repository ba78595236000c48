"""Gradients of mini-batches from the drawn rows, and from a pass over all rows with masks."""

from itertools import product

import numpy as np
import pytest
import scipy.sparse
from worlds import LIBRARIES

from certibit import PAGE, Budget, MiniBatch, problem, run
from certibit.data import batch_rows, mini_batch
from certibit.data.batch_rows import GatheredRows, MaskedRows
from certibit.data.problems import rows
from certibit.solvers.libraries import host, like, transfer

DRAW = np.random.default_rng(0)
X = DRAW.standard_normal((23, 4)) * (DRAW.random((23, 4)) < 0.6)
Y = np.sign(DRAW.standard_normal(23))
UNEQUAL, EQUAL = ["a"] * 6 + ["b"] * 10 + ["c"] * 7, np.repeat(["a", "b", "c"], 7)
SIZES = {7: (7, 7, 7), 10: (6, 10, 7)}
"""The rows of each client, by the largest of them; not as the problem counts them."""
MADE = {
    "logistic": lambda **options: problem(X[:21], Y[:21], clients=3, kappa=10.0, **options),
    "squares": lambda **options: problem(
        X[:21], Y[:21], clients=EQUAL, loss="least-squares", kappa=10.0, **options
    ),
    "huber": lambda **options: problem(
        X, Y, clients=UNEQUAL, loss="huber:1", mu=0.1, weighting="clients", **options
    ),
    "nonconvex": lambda **options: problem(X, Y, clients=UNEQUAL, nonconvex=0.1, **options),
    "welsch": lambda **options: problem(X, Y, clients=UNEQUAL, loss="welsch:0.5", **options),
}
LAWS = [MiniBatch(b, again) for b in (1, 3, 6) for again in (False, True)]
R = 5


def uniforms_for(law, solved):
    return np.random.default_rng(law.b).random((3, law.numbers(solved), R))


def without_replacement(u, m, b):
    """Return b of m rows by Floyd's algorithm, or for more than b numbers those of the smallest."""
    if len(u) > b:
        return np.argsort(u[:m])[:b]
    drawn = set()
    for k, j in enumerate(range(m - len(u), m)):
        t = int(u[k] * (j + 1))
        drawn.add(j if t in drawn else t)
    return drawn


def by_hand(solved, law, x, uniforms):
    """Return the gradients of batches, one client, run and row after the other."""
    gradients, counts = np.empty((3, solved.d, R)), SIZES[solved.rows.shape[1]]
    rows = np.swapaxes(solved.rows.backward(np.stack([np.eye(solved.rows.shape[1])] * 3)), 1, 2)
    slopes = solved.row_slopes(x)
    rest = solved.grad(x) - solved.rows.backward(slopes)
    for i, r in product(range(3), range(R)):
        u = uniforms[i, :, r]
        drawn = (
            (u * counts[i]).astype(int)
            if law.replacement
            else without_replacement(u, counts[i], law.b)
        )
        terms = [slopes[i, s, r] * rows[i, s] for s in drawn]
        gradients[i, :, r] = counts[i] * np.mean(terms, axis=0) + rest[i, :, r]
    return gradients


@pytest.mark.long(keep=11)
@pytest.mark.parametrize("library", ["numpy", *LIBRARIES])
@pytest.mark.parametrize("storage", ["dense", "sparse"])
@pytest.mark.parametrize("name", MADE)
def test_both_ways_give_the_gradients_of_the_drawn_rows(monkeypatch, name, storage, library):
    """For points of each client and shared ones, some runs at a time and all at once."""
    solved = MADE[name](storage=storage)
    moved = transfer(solved, library)
    for law, clients in product(LAWS, (1, 3)):
        monkeypatch.setattr(mini_batch, "FLOYD", 10 * (clients % 3))  # in turn both ways to draw
        x = DRAW.standard_normal((clients, solved.d, R))
        uniforms = uniforms_for(law, solved)
        expected = by_hand(solved, law, x, uniforms)
        at, numbers = like(moved.x_0, x), like(moved.x_0, uniforms)
        kinds = set()
        monkeypatch.setattr(batch_rows, "LEAST", 0)
        for cost, width in ((0, 1 << 22), (0, 100), (np.inf, 1 << 22)):
            monkeypatch.setattr(batch_rows, "_NUMBERS", width)
            monkeypatch.setattr(batch_rows, "GATHERED", cost)
            batch = law.batch(moved, 1 * numbers)  # one array has one batch
            kinds.add(type(batch.rows))
            for _ in range(2):  # a sample serves several points
                np.testing.assert_allclose(host(batch.grad(at)), expected, rtol=1e-12, atol=1e-14)
        assert kinds == ({GatheredRows} if "strict" in library else {GatheredRows, MaskedRows})


def test_a_sample_at_two_points_is_drawn_once(monkeypatch):
    """PAGE takes every sample at two points; what was kept goes with its numbers."""
    asked = []
    right = MiniBatch.drawn
    monkeypatch.setattr(
        MiniBatch, "drawn", lambda law, *given: asked.append(law.b) or right(law, *given)
    )
    solved = problem("breast-cancer@9:nonconvex:batch=4")
    trace = run(PAGE(gamma=1e-5, p=1e-9), solved, seeds=2, budget=Budget(rounds=5))
    assert asked == [4] * 5
    assert trace.final("gradients").tolist() == [63 + 5 * 2 * 4.0] * 2
    assert not mini_batch._KEPT


def test_what_is_kept_is_of_the_same_law_and_problem():
    one, other = MADE["huber"](), MADE["nonconvex"]()
    uniforms, x = uniforms_for(MiniBatch(3), one), DRAW.standard_normal((3, 4, R))
    found = [
        law.gradient(solved, x, uniforms, solved.grad)
        for law in (MiniBatch(3), MiniBatch(2), MiniBatch(3))
        for solved in (one, other)
    ]
    alone = [MiniBatch(3).gradient(s, x, uniforms.copy(), s.grad) for s in (one, other)]
    np.testing.assert_array_equal(found[4:], alone)
    np.testing.assert_array_equal(found[:2], alone)
    assert not np.allclose(found[2:4], alone)


def test_products_are_those_by_hand():
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((6, 5), density=0.5, rng=generator).tocsr()
    s, x = generator.standard_normal((2, 3, 4)), generator.standard_normal((1, 5, 4))
    by_hand = matrix.toarray().reshape(2, 3, 5).transpose(0, 2, 1) @ s + 0.5 * x
    for stored in (rows.sparse, rows.dense):
        found = stored(matrix, 2).backward(s, 0.5, x)
        np.testing.assert_allclose(found, by_hand, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("density", "kind"), [(0.1, rows.SparseRows), (0.2, rows.DenseRows)])
def test_how_rows_are_stored_does_not_depend_on_time(monkeypatch, density, kind):
    """Whatever a clock says: how rows are stored shows in the last bits of a result."""
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((300, 14), density=density, rng=generator).tocsr()
    for ticks in (range(100), range(100, 0, -1), generator.random(100)):
        monkeypatch.setattr("time.perf_counter", iter(ticks).__next__)
        assert type(rows.stored(matrix, 30)) is kind


def test_zeros_that_are_written_out_are_not_counted():
    matrix = scipy.sparse.csr_array(np.ones((6, 5)))
    matrix.data[2:] = 0.0
    assert type(rows.stored(matrix, 2)) is rows.SparseRows


def test_a_stack_that_is_too_large_is_not_dense(monkeypatch):
    matrix = scipy.sparse.csr_array(np.ones((6, 5)))
    assert type(rows.stored(matrix, 2)) is rows.DenseRows
    monkeypatch.setattr(rows, "_DENSE_BYTES", 6 * 5 * 8 - 1)
    assert type(rows.stored(matrix, 2)) is rows.SparseRows


@pytest.mark.parametrize("n", [1, 2, 3, 60])
@pytest.mark.parametrize("stored", [rows.sparse, rows.dense])
def test_every_client_has_its_own_rows_and_point(stored, n):
    """Row s of client i is 1 at feature s mod 3 and i + 1 at feature 3; x_i = (i + 1) (1, 2, 3, 4).

    A shared point is (1, 2, 3, 4) for all; run r has r + 1 times either.
    """
    owner, row, run = np.arange(1.0, n + 1)[:, None, None], np.arange(5)[None, :, None], [1.0, 2.0]
    first = np.eye(3)[np.tile(np.arange(5) % 3, n)]
    blocks = stored(scipy.sparse.csr_array(np.column_stack([first, np.repeat(owner, 5)])), n)
    x = np.arange(1.0, 5)[:, None] * run
    products = (row % 3 + 1 + 4 * owner) * run
    np.testing.assert_array_equal(blocks.forward(x[None]), products)
    np.testing.assert_array_equal(blocks.forward(owner * x), owner * products)
    sums = np.broadcast_to(np.array([2.0, 2.0, 1.0])[None, :, None] * owner, (n, 3, 1))
    by_hand = np.concatenate([sums, 5 * owner**2], axis=1) * run
    np.testing.assert_array_equal(blocks.backward(owner * np.ones((n, 5, 1)) * run), by_hand)
