"""Runs that are stopped and gone on with are, bit for bit, runs that were never stopped."""

import json
import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from certibit import EPISODE, GD, Budget, Quadratic, Quartics, Scaffnew, Store, Uniform, compressor
from certibit.data.files.archive import load_arrays, save_arrays
from certibit.data.problems.selector import problem as select_problem
from certibit.solvers.method import Method, Needs
from certibit.solvers.runs import checkpoint as checkpoints, engine
from certibit.solvers.runs.checkpoint import Checkpoint
from certibit.solvers.runs.engine import simulate
from certibit.solvers.runs.grid import Grid
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.store import store
from certibit.theory.catalogue.catalogue import parameters

QUADRATIC = Quadratic.random(4, 6, mu=1.0, L=30.0, seed=3)


class Stop(BaseException):
    """The end of a process."""


class Stopping(Checkpoint):
    """Writes after every few iterations, and is stopped a little later."""

    every, calls = 4, 0

    def __init__(self, trace, made_of, every=every):
        super().__init__(trace, made_of)
        self.every = every

    def write_if_due(self, batch, carried):
        self.calls += 1
        if self.calls % self.every == 0:
            self.write(batch, carried)
        if self.calls == 2 * self.every + 2:
            raise Stop


def stopped_and_gone_on_with(experiment, path, every, **options):
    """Return the trace of a run that is stopped again and again, and how often it was."""
    stops = 0
    while True:
        try:
            return simulate(experiment, checkpoint=Stopping(path, {}, every), **options), stops
        except Stop:
            stops += 1
            assert stops < 100, "it does not get on"


def assert_equal(found, expected):
    assert found.specification == expected.specification
    assert found.ending == expected.ending
    for name, column in expected.columns.items():
        assert found.columns[name].dtype == column.dtype
        np.testing.assert_array_equal(found.columns[name], column, err_msg=name)
    np.testing.assert_array_equal(found.x, expected.x)


def check(experiment, path, **options):
    options["keep_model"] = True
    expected = simulate(experiment, **options)
    counted = Stopping(path.with_name("counted.npz"), {}, every=1 << 62)
    assert_equal(simulate(experiment, checkpoint=counted, **options), expected)
    every, told = max(1, counted.calls // 8), []
    found, stops = stopped_and_gone_on_with(
        experiment, path, every, progress=told.append, **options
    )
    assert stops >= 2
    assert told[-1] == 1
    assert_equal(found, expected)


def test_noise_and_problems_on_the_run_axis(tmp_path):
    """Runs share the noise of their seed and drop out one after the other."""
    problem = replace(
        Quartics.of(np.array([1.0, 8.0, 2.0]), noise=Uniform(0.5)),
        x_0=np.array([[[1.0, 4.0, 2.0]]]),
    )
    experiment = Experiment.of(EPISODE(0.01, 0.05, 2), problem)
    budget = Budget(gap=0.05, rounds=400)
    check(experiment, tmp_path / "trace.npz", seeds=[3, 3, 5], budget=budget)


@pytest.mark.long(keep=1)
def test_new_samples_at_every_gradient(tmp_path):
    """Of runs with rounds at different iterations, where those of one seed share no noise."""
    problem, p = select_problem("breast-cancer@5:batch=4"), np.array([0.2, 0.7])[None, None, :]
    experiment = Experiment.of(Scaffnew(0.05, p), problem)
    check(experiment, tmp_path / "trace.npz", seeds=[3, 3], budget=Budget(rounds=40))


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("library", ["numpy", "array-api-strict"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_grids_of_which_runs_drop_out_and_diverge(tmp_path, library, dtype):
    sent = compressor("rand-k:2")
    method = parameters("locodl", QUADRATIC, sent)
    grid = Grid({"gamma": [method.gamma * scale for scale in (0.3, 1.0, 8.0)]}, seeds=2)
    experiment = Experiment.of(replace(method, gamma=grid["gamma"]), QUADRATIC, sent)
    check(
        experiment, tmp_path / "trace.npz", seeds=grid.runs, budget=Budget(gap=1e-3, rounds=100),
        library=library, dtype=dtype,
    )  # fmt: skip


def test_several_batches(tmp_path, monkeypatch):
    """Two runs at once: what is finished is not run again."""
    monkeypatch.setattr(engine, "_HELD", 2 * QUADRATIC.n * QUADRATIC.d)
    sent = compressor("rand-k:2")
    experiment = Experiment.of(parameters("locodl", QUADRATIC, sent), QUADRATIC, sent)
    check(experiment, tmp_path / "trace.npz", seeds=5, budget=Budget(rounds=20))


@dataclass(frozen=True)
class State:
    x: Any
    m: Any
    turned: Any


@dataclass(frozen=True)
class Sloppy(Method):
    """Keeps a message as it came, and an array whose axes lie otherwise in memory."""

    gamma: float

    name, needs = "sloppy", Needs(compressor="unbiased")

    def start(self, x, problem, channel):
        return State(x, np.broadcast_to(0 * x, (problem.n, *x.shape[1:])), x)

    def communicate(self, s, problem, channel):
        m = channel.uplink(problem.grad(s.x))
        turned = np.moveaxis(np.ascontiguousarray(np.moveaxis(problem.grad(s.x), 1, 2)), 2, 1)
        step = 0.5 * np.asarray(s.m).mean(axis=0, keepdims=True) + s.turned.mean(axis=(0,))
        return State(s.x - self.gamma * step, m, turned)


def test_states_hold_entries_and_arrays_in_any_order(tmp_path):
    experiment = Experiment.of(Sloppy(0.01), QUADRATIC, compressor("rand-k:2"))
    check(experiment, tmp_path / "trace.npz", seeds=3, budget=Budget(rounds=40))


EXPERIMENT = Experiment.of(GD(0.001), QUADRATIC)
OPTIONS: dict[str, Any] = {"seeds": 2, "budget": Budget(rounds=200)}


@pytest.fixture
def unfinished(tmp_path, monkeypatch):
    """A store in which a trace was stopped, and its file."""
    monkeypatch.setattr(store, "Checkpoint", Stopping)
    with pytest.raises(Stop):
        Store(tmp_path).trace(EXPERIMENT, **OPTIONS)
    monkeypatch.setattr(store, "Checkpoint", Checkpoint)
    (path,) = tmp_path.iterdir()
    return path


def iterations(monkeypatch):
    """Return a list that grows by the number of each iteration that is done."""
    done, advance = [], engine.advance

    def counted(method, state, problem, channel, iteration):
        done.append(int(iteration.max()))
        return advance(method, state, problem, channel, iteration)

    monkeypatch.setattr(engine, "advance", counted)
    return done


def test_a_store_goes_on_and_leaves_only_the_trace(unfinished, monkeypatch):
    done = iterations(monkeypatch)
    assert_equal(
        Store(unfinished.parent).trace(EXPERIMENT, **OPTIONS), simulate(EXPERIMENT, **OPTIONS)
    )
    assert done[0] == 9
    assert [path.suffix for path in unfinished.parent.iterdir()] == [".npz"]


def test_what_is_left_of_a_finished_trace_goes(unfinished):
    left = unfinished.read_bytes()
    Store(unfinished.parent).trace(EXPERIMENT, **OPTIONS)
    unfinished.write_bytes(left)
    Store(unfinished.parent).trace(EXPERIMENT, **OPTIONS)
    assert not unfinished.exists()


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def flipped(path):
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(bytes(content))


def changed(**changes):
    def damage(path):
        arrays = load_arrays(path)
        save_arrays(path, {n: x for n, x in (arrays | changes).items() if x is not None})

    return damage


DAMAGES = {
    "cut": cut,
    "flipped": flipped,
    "foreign": changed(header=np.array(json.dumps(["{}", 0]))),
    "headless": changed(header=None),
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_or_foreign_file_is_named_and_the_run_begins_anew(
    unfinished, monkeypatch, damage
):
    damage(unfinished)
    done = iterations(monkeypatch)
    with pytest.warns(UserWarning, match=rf"{unfinished} is damaged \(.*\); it is set aside as"):
        trace = Store(unfinished.parent).trace(EXPERIMENT, **OPTIONS)
    assert done[0] == 1
    assert_equal(trace, simulate(EXPERIMENT, **OPTIONS))
    assert unfinished.with_name(f"{unfinished.name}.damaged").is_file()


def test_other_experiments_have_other_files(unfinished, monkeypatch):
    done = iterations(monkeypatch)
    Store(unfinished.parent).trace(EXPERIMENT, **OPTIONS | {"seeds": 1})
    assert done[0] == 1
    assert unfinished.is_file()


def test_writing_takes_a_small_part_of_the_time(tmp_path, monkeypatch):
    """By a clock that only writing moves on, and each iteration by a tenth of a second."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    class Slow(Checkpoint):
        written = 0

        def write_if_due(self, batch, carried):
            now[0] += 0.1
            super().write_if_due(batch, carried)

    def slow(path, arrays):
        now[0] += 1.0
        Slow.written += 1

    monkeypatch.setattr(checkpoints, "save_arrays", slow)
    simulate(EXPERIMENT, checkpoint=Slow(tmp_path / "trace.npz", {}), seeds=1,
             budget=Budget(rounds=1600))  # fmt: skip
    assert Slow.written == 1 + 3 + 1  # after 2 s, then each 50 s of 160, and the end
