"""How much memory there is: of the machine, or less in a container."""

import tracemalloc
from functools import partial

import numpy as np
import psutil
import pytest
import scipy.sparse

from certibit import Quadratic, Refusal, problem
from certibit.data import memory as module
from certibit.data.memory import memory, require_memory
from certibit.data.relaxed.families import tilted_wells
from certibit.data.relaxed.phase_retrieval import PhaseRetrieval

TOTAL = 8 << 30


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """Return a function that puts control groups and their limits in place of the machine's."""

    def put(told, limits):
        (tmp_path / "cgroup").write_text(told)
        for file, limit in limits.items():
            path = tmp_path / "fs" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{limit}\n")

    class Machine:
        total = TOTAL

    monkeypatch.setattr(psutil, "virtual_memory", Machine)
    monkeypatch.setattr(module, "_GROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(module, "_LIMITS", tmp_path / "fs")
    return put


SECOND = "0::/jobs/one\n"
FIRST = "9:name=systemd:/\n4:cpu,memory:/jobs/one\n0::/\n"
CASES = {
    "no groups": ("", {}, TOTAL),
    "no limit": (SECOND, {"jobs/one/memory.max": "max"}, TOTAL),
    "v2": (SECOND, {"jobs/one/memory.max": 1000}, 1000),
    "v2 around": (SECOND, {"jobs/memory.max": 1000, "jobs/one/memory.max": 2000}, 1000),
    "v2 as a container sees it": ("0::/\n", {"memory.max": 1000}, 1000),
    "v2 above the machine": (SECOND, {"memory.max": 2 * TOTAL}, TOTAL),
    "v1": (FIRST, {"memory/jobs/one/memory.limit_in_bytes": 1000}, 1000),
    "v1 as a container sees it": (FIRST, {"memory/memory.limit_in_bytes": 1000}, 1000),
    "v1 without limit": (FIRST, {"memory/memory.limit_in_bytes": 2**63 - 4096}, TOTAL),
    "v1 of another kind": ("3:cpu:/jobs\n", {"memory/jobs/memory.limit_in_bytes": 9}, TOTAL),
}


@pytest.mark.parametrize(("told", "limits", "expected"), CASES.values(), ids=CASES)
def test_the_limit_of_a_container_counts(groups, told, limits, expected):
    groups(told, limits)
    assert memory() == expected


def test_a_machine_without_control_groups_has_its_memory(tmp_path, groups):
    assert memory() == TOTAL


def test_more_than_the_container_has_is_refused(groups):
    groups(SECOND, {"jobs/one/memory.max": 10**9})
    require_memory(1.2e8, "a vector")
    with pytest.raises(
        Refusal, match=r"a vector would take about 1.04 GB .* this machine has 1 GB"
    ):
        require_memory(1.3e8, "a vector")


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
