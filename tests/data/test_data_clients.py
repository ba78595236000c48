"""The functions of some clients are those of all, picked out."""

import numpy as np
import pytest
import scipy.sparse

from bitbound.data.errors import Refusal
from bitbound.data.problems import rows
from bitbound.data.problems.quadratic import Quadratic
from bitbound.data.problems.selector import problem as select_problem
from bitbound.data.relaxed.families import stalemate
from bitbound.solvers.world.channel import Ledger, Oracle

PROBLEMS = {
    "quadratic": lambda: Quadratic.random(9, 30, 1.0, 20.0),
    **{
        storage: lambda storage=storage: select_problem(
            "breast-cancer@9", kappa=100.0, storage=storage
        )
        for storage in ("dense", "sparse")
    },
}


@pytest.mark.parametrize("clients", [[4], [0, 8], [7, 2, 5]], ids=str)
@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("view", ["plain", "composite"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_gradients_of_some_clients(name, view, runs, clients):
    problem, clients = getattr(PROBLEMS[name](), view), np.array(clients)
    some = problem.of(clients)
    x = np.random.default_rng(0).standard_normal((problem.n, problem.d, runs))
    expected = problem.grad(x)[clients]
    np.testing.assert_allclose(some.grad(x[clients]), expected, rtol=1e-12, atol=1e-14)
    shared = problem.grad(x[:1])[clients]
    np.testing.assert_allclose(some.grad(x[:1]), shared, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(some.constants.L_i, problem.constants.L_i[clients])


def test_clients_of_a_problem_that_is_not_strongly_convex_are_not_taken_apart():
    oracle = Oracle(stalemate(), np.arange(1), Ledger(1))
    with pytest.raises(Refusal, match=r"the clients of tilted are not taken apart; choose a"):
        oracle.of(np.array([0]))


def test_without_the_routines_of_scipy_products_are_the_same(monkeypatch):
    generator = np.random.default_rng(0)
    matrix = scipy.sparse.random_array((6, 5), density=0.5, rng=generator).tocsr()
    s, x = generator.standard_normal((2, 3, 4)), generator.standard_normal((1, 5, 4))
    with_them = rows.sparse(matrix, 2).backward(s, 0.5, x)
    monkeypatch.setattr(rows, "_routines", None)
    without = rows.sparse(matrix, 2).backward(s, 0.5, x)
    by_hand = matrix.toarray().reshape(2, 3, 5).transpose(0, 2, 1) @ s + 0.5 * x
    np.testing.assert_allclose(with_them, by_hand, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(without, by_hand, rtol=1e-13, atol=1e-13)
