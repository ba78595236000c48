"""Vectors with few entries do what the arrays do that they stand for."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from comparisons import assert_same_columns
from worlds import simulate

from certibit.data.arrays import array_namespace
from certibit.data.problems.quadratic import Quadratic
from certibit.solvers import backend
from certibit.solvers.backend import mean, total
from certibit.solvers.compressors.composition import RandKNatural
from certibit.solvers.compressors.selection import L1Selection, RandK
from certibit.solvers.fast import messages
from certibit.solvers.fast.entries import Entries
from certibit.solvers.fast.messages import received
from certibit.solvers.method import Method, Needs, WithProbability
from certibit.solvers.runs.budget import Budget

N, D, K, RUNS = 5, 12, 3, 2

OPERATIONS = {
    "scaled": lambda m, h: 0.3 * m,
    "scaled from the right": lambda m, h: m * 0.3,
    "scaled run by run": lambda m, h: h[:1, :1, :] * m,
    "divided": lambda m, h: m / 3.0,
    "negative": lambda m, h: -m,
    "added": lambda m, h: h + m,
    "added to": lambda m, h: m + h,
    "subtracted": lambda m, h: h - 2 * m,
    "subtracted from": lambda m, h: m - h,
    "added to a shared vector": lambda m, h: h[:1] + m,
    "subtracted from a shared vector": lambda m, h: h[:1] - m,
    "added to a number": lambda m, h: 1.0 + m,
    "added to one client's": lambda m, h: m + h[:, :, :1],
    "added to integers": lambda m, h: h.astype(int) + m,
    "multiplied": lambda m, h: h * m,
    "multiplied client by client": lambda m, h: h[:, :1, :] * m,
    "added to itself": lambda m, h: m + m,
    "absolute": lambda m, h: np.abs(m),
    "compared": lambda m, h: m > h,
    "total": lambda m, h: total(m),
    "mean": lambda m, h: mean(m),
    "sum over features": lambda m, h: m.sum(axis=1),
    "namespace": lambda m, h: array_namespace(m).max(m, axis=1),
    "chosen": lambda m, h: backend.where(h[:, :1, :] > 0, m, h),
    "masked by clients": lambda m, h: backend.masked(h[:, :1, :] > 0, m),
    "masked by entries": lambda m, h: backend.masked(h > 0, m),
    "index": lambda m, h: m[1:3, :, 0],
    "squared norm": lambda m, h: backend.squared_norm(m),
}


def made() -> tuple[Entries, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    indices = rng.permuted(np.tile(np.arange(D)[None, :, None], (N, 1, RUNS)), axis=1)[:, :K, :]
    values = rng.standard_normal((N, K, RUNS))
    written = np.zeros((N, D, RUNS))
    for i, k, r in np.ndindex(N, K, RUNS):
        written[i, indices[i, k, r], r] = values[i, k, r]
    return Entries(indices, values, D), written, rng.standard_normal((N, D, RUNS))


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_an_operation_is_that_of_the_array(operation):
    m, written, h = made()
    before = h.copy()
    got, expected = operation(m, h), operation(written, h)
    assert got.shape == expected.shape
    np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-14, atol=0)
    np.testing.assert_array_equal(h, before)
    np.testing.assert_array_equal(np.asarray(m), written)


@pytest.mark.parametrize("name", ["scaled", "scaled run by run"])
def test_what_stays_few(name):
    m, _, h = made()
    assert isinstance(OPERATIONS[name](m, h), Entries)


def test_few_entries_of_large_vectors_are_not_written_out(monkeypatch):
    _, written, _ = made()
    for large, kind in ((1, Entries), (1 << 40, np.ndarray)):
        monkeypatch.setattr(messages, "LARGE", large)
        got = received(RandK(3), written, np.full((N, 3, RUNS), 0.5))
        assert type(got) is kind
        expected = RandK(3).compress(written, np.full((N, 3, RUNS), 0.5))
        np.testing.assert_array_equal(np.asarray(got), expected)


@dataclass(frozen=True)
class Kept:
    x: Any  # (1, d, R)
    m: Any  # (n, d, R), as it was received


@dataclass(frozen=True)
class Relay(Method):
    """Keeps what it received, uses it a round later and sends it once again."""

    name: ClassVar[str] = "relay"
    needs: ClassVar[Needs] = Needs(compressor="unbiased")
    schedule: ClassVar[WithProbability] = WithProbability(0.7)

    def start(self, x, problem, channel):
        return Kept(x, problem.grad(x))

    def communicate(self, s, problem, channel):
        again = channel.uplink(s.m)
        x = channel.broadcast(s.x - 0.01 * mean(again * s.m))
        return Kept(x, channel.uplink(problem.grad(x), cohort=channel.cohort(2)))

    def model(self, s):
        return s.x


@pytest.mark.parametrize("compressor", [RandK(2), L1Selection(), RandKNatural(2)], ids=str)
def test_a_method_may_keep_them(compressor, monkeypatch):
    problem = Quadratic.random(4, 12, mu=1.0, L=5.0, seed=1)
    traces = []
    for large in (1, 1 << 40):
        monkeypatch.setattr(messages, "LARGE", large)
        traces.append(simulate(Relay(), problem, compressor, seeds=5, budget=Budget(rounds=9)))
    assert_same_columns(traces[0].columns, traces[1].columns, rtol=1e-12)
