"""What takes more memory than the machine has is refused."""

import os
import subprocess
import sys
import tracemalloc
from functools import partial

import numpy as np
import psutil
import pytest
import scipy.sparse

from certibit import Quadratic, Refusal, problem
from certibit.data.memory import require_memory
from certibit.data.relaxed.families import tilted_wells
from certibit.data.relaxed.polynomials import PhaseRetrieval


class Small:
    """A machine of 8 MB."""

    total = 8_000_000


WIDE = scipy.sparse.csr_array(
    (np.array([1.0, 2.0, 1.0, 3.0]), ([0, 1, 2, 3], [0, 1, 2 * 10**9 - 1, 1])), shape=(4, 2 * 10**9)
)
TALL = scipy.sparse.csr_array(([1.0, 2.0], ([0, 1], [0, 1])), shape=(4, 400_000))
CONSTRUCTORS = {
    **{loss: partial(problem, WIDE, [1, 2, 1, 2], clients=2, loss=loss, mu=0.1)
       for loss in ("logistic", "least-squares", "huber:1", "smoothed-hinge", "multinomial")},
    **{f"unequal {loss}": partial(problem, WIDE, [1, 2, 1, 2], clients=[1, 1, 1, 2], loss=loss)
       for loss in ("logistic", "poisson")},
    "nonconvex": partial(problem, WIDE, [1, 2, 1, 2], clients=2, nonconvex=0.1),
    "welsch": partial(problem, WIDE, [1, 2, 1, 2], clients=2, loss="welsch"),
    "batches": partial(problem, WIDE, [1, 2, 1, 2], clients=2, loss="huber", batch=1),
    "dense logistic": partial(problem, TALL, [1, 2, 1, 2], clients=1, storage="dense"),
    "dense huber": partial(problem, TALL, [1, 2, 1, 2], clients=1, loss="huber", storage="dense",
                           mu=0.1),
    "quadratic": partial(problem, "quadratic:d=2000000000@2"),
    "nonconvex quadratic": partial(problem, "quadratic:d=2000000000@2:nonconvex"),
    "phase retrieval": partial(PhaseRetrieval.random, 2, 10**5, 10**5),
    "wells": partial(tilted_wells, 1.0, d=10**9),
}  # fmt: skip


def test_more_than_the_machine_has_is_refused(monkeypatch):
    monkeypatch.setattr(psutil, "virtual_memory", Small)
    require_memory(1e6, "a vector")
    with pytest.raises(Refusal, match=r"a vector .* 0.0104 GB .* machine has 0.008"):
        require_memory(1.3e6, "a vector")


@pytest.mark.parametrize("name", CONSTRUCTORS)
def test_every_constructor_asks_for_memory_before_it_takes_it(monkeypatch, name):
    monkeypatch.setattr(psutil, "virtual_memory", Small)
    tracemalloc.start()
    try:
        with pytest.raises(Refusal, match=r"would take about .* GB of memory and this machine has"):
            CONSTRUCTORS[name]()
        assert tracemalloc.get_traced_memory()[1] < 5 * Small.total
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("scale", [1e200, 1e60, 1e-60, 1e-160, 1e-310])
@pytest.mark.parametrize("loss", ["logistic", "least-squares", "multinomial", "welsch"])
@pytest.mark.parametrize("clients", [2, [1, 1, 1, 2]])
def test_numbers_without_a_square_are_refused(scale, loss, clients):
    rows, y = np.arange(1.0, 9.0).reshape(4, 2), np.array([1, 2, 1, 2])
    with pytest.raises(Refusal, match=r"entry of the rows of own data is .* too far from 1"):
        problem(scale * rows, y, clients=clients, loss=loss)
    with pytest.raises(Refusal, match=r"largest entry of the matrices is .* too far from 1"):
        Quadratic.from_arrays(scale * np.eye(2)[None], rows[:1])
    if loss == "least-squares":
        with pytest.raises(Refusal, match=r"largest target of own data is .* too far from 1"):
            problem(rows, scale * y, clients=clients, loss=loss)


@pytest.mark.parametrize("scale", [1e49, 1e-49])
@pytest.mark.parametrize("loss", ["logistic", "least-squares", "multinomial"])
@pytest.mark.parametrize("clients", [2, [1, 1, 1, 2]])
def test_numbers_with_a_square_are_solved(scale, loss, clients):
    rows, y = np.array([[1.0, 2.0], [3.0, -1.0], [2.0, 2.0], [0.5, 1.0]]), np.array([1, 2, 1, 2])
    found, expected = (problem(k * rows, y, clients=clients, loss=loss, kappa=50)
                       for k in (scale, 1.0))  # fmt: skip
    np.testing.assert_allclose(scale * found.x_star, expected.x_star, rtol=1e-9)
    assert found.f_star == pytest.approx(expected.f_star, rel=1e-12)


ASKED = """
from threadpoolctl import threadpool_info
from certibit.data.quiet_machine import one_thread

with one_thread():
    inside = {each["filepath"]: each["num_threads"] for each in threadpool_info()}
import scipy.linalg
assert {each["filepath"] for each in threadpool_info()} == set(inside), "one is loaded later"
print(set(inside.values()))
"""


def test_every_blas_has_one_thread():
    variables = {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-c", ASKED]
    done = subprocess.run(
        command, env=os.environ | variables, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "{1}"
