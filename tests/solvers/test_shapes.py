"""Arrays of a wrong shape or type are refused at every entrance, and no memory is touched."""

import numpy as np
import pytest
import scipy.sparse

from certibit import GD, Budget, Experiment, MiniBatch, Refusal, compressor, problem, run
from certibit.data import batch_rows
from certibit.solvers.compressors.natural import Natural
from certibit.solvers.compressors.selection import RandK
from certibit.solvers.fast.fast_world import CompiledBatch, CompiledRows, FusedGradients, received
from certibit.solvers.registry import use_extensions
from certibit.solvers.simulation.iteration import simulated_world, world_of_runs

N, D, RUNS = 5, 7, 6
DRAW = np.random.default_rng(0)
ROWS = DRAW.standard_normal((30, D)) * (DRAW.random((30, D)) < 0.5)
SOLVED = problem(ROWS, np.sign(DRAW.standard_normal(30)), clients=N, kappa=9.0, storage="sparse")
SHAPES = [
    (2, D, RUNS), (N, RUNS, D), (N - 1, D, RUNS), (N + 1, D, RUNS), (N, D - 1, RUNS), (0, D, RUNS),
    (N, D + 1, RUNS), (N, 1, RUNS), (N, D), (D, RUNS), (D,), (), (1, N, D, RUNS), (N, D, RUNS + 1),
]  # fmt: skip
TYPES = [np.float32, np.int64, np.complex128, bool, object]


def worlds():
    with use_extensions("always"):
        for sent in ("rand-k:2", "natural"):
            plain = simulated_world(Experiment(GD(1.0), SOLVED, compressor(sent)), range(RUNS))
            yield world_of_runs(*plain)
    yield plain


ENTRANCES = [
    (entrance, shape)
    for entrance in ("grad", "uplink", "send", "broadcast", "downlink")
    for shape in SHAPES
    if entrance != "send" or (len(shape), *shape[::2]) != (3, N, RUNS)  # it takes any length
]


@pytest.mark.parametrize(("entrance", "shape"), ENTRANCES, ids=str)
def test_a_method_cannot_give_other_shapes(entrance, shape):
    for channel, oracle in worlds():
        ask = oracle.grad if entrance == "grad" else getattr(channel, entrance)
        with use_extensions("always"), pytest.raises(Refusal, match=r"shape .*; give an array"):
            ask(np.ones(shape))
        assert not channel.ledger.gradients.any(), "it was counted"
        assert not channel.ledger.uplink_bits.any()


@pytest.mark.parametrize("entrance", ["uplink", "send"])
def test_a_vector_of_the_server_is_not_one_of_the_clients(entrance):
    for channel, _ in worlds():
        with pytest.raises(Refusal, match=rf"shape \(1, {D}, {RUNS}\) in place of"):
            getattr(channel, entrance)(np.ones((1, D, RUNS)))


@pytest.mark.parametrize("wrong", [None, 1.0, [[[1.0]]], "x"])
def test_what_is_no_array_is_refused(wrong):
    for channel, oracle in worlds():
        for ask in (oracle.grad, channel.uplink, channel.send, channel.broadcast):
            with pytest.raises(Refusal, match="in place of one vector"):
                ask(wrong)


FUSED = FusedGradients.of(scipy.sparse.csr_array(ROWS), N)


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape[2:] != (RUNS + 1,)], ids=str)
def test_the_compiled_gradients_refuse_shapes(shape):
    with pytest.raises((Refusal, IndexError)):
        FUSED.at(np.ones(shape))


def batch_of_rows(monkeypatch):
    for name in ("LEAST", "GATHERED"):
        monkeypatch.setattr(batch_rows, name, 0)
    law = CompiledBatch(2)
    drawn = MiniBatch(2).drawn(SOLVED, DRAW.random((N, law.numbers(SOLVED), RUNS)))
    with use_extensions("always"):
        rows = law.rows(SOLVED, drawn)
    assert type(rows) is CompiledRows
    return rows


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_drawn_rows_refuse_shapes(shape, monkeypatch):
    rows = batch_of_rows(monkeypatch)
    for product in (rows.forward, rows.backward):
        with pytest.raises((Refusal, ValueError)):
            product(np.ones(shape))


@pytest.mark.parametrize("kind", TYPES)
def test_compiled_code_refuses_other_types(kind, monkeypatch):
    rows, x = batch_of_rows(monkeypatch), np.ones((N, D, RUNS)).astype(kind)
    for entrance in (FUSED.at, rows.forward):
        with pytest.raises(Refusal, match=f"points of type {np.dtype(kind)} of shape .*; give 64-"):
            entrance(x)


@pytest.mark.parametrize("sent", [RandK(2), Natural()])
@pytest.mark.parametrize("numbers", [(N, 3, RUNS), (N, 2), (2, 2, RUNS), (N, 2, 4), (0, 2, RUNS)])
def test_messages_refuse_other_random_numbers(sent, numbers):
    with use_extensions("always"), pytest.raises(Refusal, match="uniforms of type float64 of"):
        received(sent, np.ones((N, D, RUNS)), np.full(numbers, 0.5))


def test_an_index_outside_of_the_rows_is_refused():
    rows = scipy.sparse.csr_array(ROWS)
    rows.indices[3] = 10**6
    with pytest.raises(ValueError, match="indices"):
        FusedGradients.of(rows, N)


class TwoPoints(GD):
    """Gradients at the points of two clients."""

    def communicate(self, s, problem, channel):
        channel.send(problem.grad(s.x + np.zeros((2, 1, 1))))
        return s


class SwappedAxes(GD):
    """Gradients at points whose features and runs are swapped."""

    def communicate(self, s, problem, channel):
        channel.send(problem.grad(s.x.transpose(0, 2, 1)))
        return s


@pytest.mark.parametrize("use", ["always", "never"])
@pytest.mark.parametrize("method", [TwoPoints(0.1), SwappedAxes(0.1)])
def test_a_run_with_wrong_shapes_is_refused(method, use):
    with use_extensions(use), pytest.raises(Refusal, match=rf"shape \({N}, {D}, {RUNS}\)"):
        run(method, SOLVED, seeds=RUNS, budget=Budget(rounds=3))
