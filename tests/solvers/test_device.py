"""On a device: the same numbers as on the host, and nobody waits for it inside the engine.

The device is that of the strict stand-in, whose arrays refuse to become arrays of numpy."""

import ctypes
import shutil
import subprocess
from collections import Counter
from functools import wraps

import array_api_strict
import numpy as np
import pytest
from comparisons import assert_same_columns
from worlds import CASES, LIBRARIES, PROBLEMS, fitted, simulate

from certibit import EPISODE, GD, Budget, Quartics, Record, Uniform, compressor, parameters
from certibit.data.noise import Ball
from certibit.solvers import libraries, local_solve
from certibit.solvers.compressors import natural, selection
from certibit.solvers.device.device_runs import DeviceStreams
from certibit.solvers.runs import engine
from certibit.solvers.simulation import randomness
from certibit.solvers.simulation.channel import Channel
from certibit.solvers.simulation.randomness import Stream, generator, key, uniform_numbers

DEVICE = array_api_strict.Device("device1")
EXACT = {"rtol": 1e-9, "atol": 1e-300}


def on_device(x):
    return array_api_strict.asarray(x, device=DEVICE)


def keyed(seeds, count):
    """Return the words of the keys of some seeds, and the first places of their streams."""
    keys = np.array([key(seed, "coin") for seed in seeds])
    places = np.arange(count, dtype=np.uint64)[:, None] + np.zeros(len(seeds), dtype=np.uint64)
    return keys[:, 0], keys[:, 1], places


def in_torch(x):
    return libraries.like(libraries.namespace("torch").asarray(0), x)


@pytest.mark.parametrize(
    "put",
    [np.asarray, on_device, pytest.param(in_torch, marks=LIBRARIES[1].marks)],
    ids=["numpy", "device", "torch"],
)
def test_the_numbers_are_those_of_numpy(put):
    seeds = [0, 1, 2**31]
    found = libraries.host(uniform_numbers(*map(put, keyed(seeds, 1001))))
    expected = [generator(seed, "coin").random(1001) for seed in seeds]
    np.testing.assert_array_equal(found, np.stack(expected, axis=1))


@pytest.mark.parametrize("place", [2**31, 2**32 - 1, 2**33 + 2, 2**40 + 3])
def test_far_numbers_of_a_stream_too(place):
    first, second, _ = keyed([3], 1)
    found = uniform_numbers(first, second, np.array([[place]], dtype=np.uint64))
    assert found.item() == generator(3, "coin", place).random()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_the_kernel_gives_the_same_numbers(tmp_path):
    """As C on the host; `make gpu` runs it on a device."""
    program = f"""
    #define __umul64hi(a, b) ((unsigned long long)(((unsigned __int128)(a) * (b)) >> 64))
    double drawn(unsigned long long place, unsigned long long first, unsigned long long second)
    {{ double number; {randomness.KERNEL} return number; }}"""
    (tmp_path / "kernel.c").write_text(program)
    library = tmp_path / "kernel.so"
    subprocess.run(
        ["cc", "-O1", "-shared", "-fPIC", "-o", library, tmp_path / "kernel.c"], check=True
    )
    drawn = ctypes.CDLL(str(library)).drawn
    drawn.restype, drawn.argtypes = ctypes.c_double, [ctypes.c_uint64] * 3
    first, second, places = keyed([7], 1000)
    words = int(first[0]), int(second[0])
    found = [drawn(int(place), *words) for place in places[:, 0]]
    np.testing.assert_array_equal(found, generator(7, "coin").random(1000))


WHERE = {
    "looks": (engine.Loop, "_look"),
    "keys": (DeviceStreams, "_begin"),
    "coins": (DeviceStreams, "turn"),
    "constants": (Channel, "_once"),
    "local work": (local_solve, "until_done"),
    "the loop": (engine, "advance"),
}
"""What may move numbers, or wait for the device, innermost first."""


@pytest.fixture
def transfers(monkeypatch):
    """Count where numbers leave the device or get there, or are asked for by Python."""
    found, inside = Counter(), []

    def within(name, whole):
        @wraps(whole)
        def entered(*arguments, **options):
            inside.append(name)
            try:
                return whole(*arguments, **options)
            finally:
                inside.pop()

        return entered

    def counted(whole):
        @wraps(whole)
        def noted(*arguments):
            found[next((name for name in WHERE if name in inside), "the engine")] += 1
            return whole(*arguments)

        return noted

    for name, (owner, function) in WHERE.items():
        monkeypatch.setattr(owner, function, within(name, getattr(owner, function)))
    for name in ("fetched", "moved"):
        monkeypatch.setattr(libraries, name, counted(getattr(libraries, name)))
    strict = type(on_device(np.zeros(1)))
    for name in ("__bool__", "__int__", "__float__", "__index__"):
        monkeypatch.setattr(strict, name, counted(getattr(strict, name)))
    monkeypatch.setattr(engine.Loop, "__init__", within("looks", engine.Loop.__init__))
    return found


ITERATIONS = 24
SHORT = {"seeds": 3, "budget": Budget(iterations=ITERATIONS), "record": Record(1.2)}


def same_on_device(method, problem, sent, transfers, library="array-api-strict", **options):
    """Run both ways, compare all columns and return what was moved, and where."""
    ours = simulate(method, problem, sent, **options)
    transfers.clear()
    theirs = simulate(method, problem, sent, library=library, **options)
    assert ours.ending == theirs.ending
    for name in ("run", "iteration", "rounds", "uplink_bits", "downlink_bits", "gradients"):
        np.testing.assert_array_equal(ours.columns[name], theirs.columns[name])
    assert_same_columns(theirs.columns, ours.columns, **EXACT)
    return transfers


def assert_nobody_waits(moved, iterations):
    """Coins of 64 iterations at once, keys of at most five purposes, looks every 16 iterations."""
    assert not moved["the loop"]
    assert not moved["the engine"]
    assert moved["coins"] <= 1 + iterations // 64
    assert moved["keys"] <= 5 * 3
    assert moved["constants"] <= 2


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_method_and_compressor_is_the_same_and_nobody_waits(case, transfers):
    experiment = fitted(case)
    moved = same_on_device(
        experiment.method, experiment.problem, experiment.compressor, transfers, **SHORT
    )
    assert_nobody_waits(moved, ITERATIONS)
    if not getattr(experiment.method, "adaptive", False):
        assert not moved["local work"]


@pytest.mark.parametrize(
    "looked_at",
    [
        lambda s: bool(s.x[0, 0, 0] < 1e9),
        lambda s: float(s.x[0, 0, 0]),
        lambda s: libraries.host(s.x),
    ],
    ids=["bool", "float", "host"],
)
def test_a_method_that_waits_is_seen(transfers, monkeypatch, looked_at):
    """Once in every round."""
    whole = GD.communicate

    def waits(self, s, problem, channel):
        looked_at(s)
        return whole(self, s, problem, channel)

    monkeypatch.setattr(GD, "communicate", waits)
    moved = same_on_device(GD(0.01), PROBLEMS["quadratic"](), None, transfers, **SHORT)
    assert moved["the loop"] == ITERATIONS


@pytest.mark.parametrize("put", [np.asarray, on_device], ids=["numpy", "device"])
@pytest.mark.parametrize("k", [1, 3, 4, 17])
def test_the_largest_entries_are_found_by_passes_and_by_sorting(k, put, monkeypatch):
    """Of equal ones the first, and what is not a number at last."""
    x = np.array([0.0, 2.0, -2.0, np.nan, 1.0, -np.inf, 2.0, -1.0, 0.0])
    x = np.stack([[*x, *x], [*x[::-1], *x], [np.nan] * 17 + [1.0]], axis=1)[None]
    monkeypatch.setattr(selection, "_LARGE", 0)
    found, _ = compressor(f"top-k:{k}").message(put(x), put(x[:, :0, :]))
    order = np.argsort(-np.abs(x), axis=1, stable=True)[:, :k, :]
    np.testing.assert_array_equal(libraries.host(found), order)


def test_a_device_needs_no_hash():
    """Those of cupy have none."""

    class Place(str):
        __hash__ = None

    assert natural.multipliers(np, Place("cpu"), 3) is natural.multipliers(np, Place("cpu"), 3)


def test_what_is_not_asked_for_is_refused():
    """The stand-in does not become an array of numpy unseen."""
    with pytest.raises((RuntimeError, TypeError)):
        np.asarray(on_device(np.zeros(3))).sum()


@pytest.mark.long(keep=1)
@pytest.mark.parametrize(
    ("name", "selector", "budget"),
    [
        ("locodl", "rand-k:2", Budget(bits=1500)),
        ("compressed-scaffnew", None, Budget(bits=1500)),
        ("marina", "natural", Budget(bits=2000)),
        ("gradskip", None, Budget(gradients=60)),
        ("scaffnew", None, Budget(rounds=9)),
        ("adiana", "rand-k:2", Budget(gap=1e-2)),
    ],
)
def test_runs_end_where_they_end_on_the_host(name, selector, budget, transfers):
    """Each at its own iteration; what is spent is looked at where a bound of it is too large."""
    problem, sent = PROBLEMS["quadratic"](), compressor(selector) if selector else None
    method = parameters(name, problem, sent)
    moved = same_on_device(method, problem, sent, transfers, seeds=4, budget=budget)
    assert not moved["the loop"]


@pytest.mark.parametrize("library", ["numpy", "array-api-strict"])
def test_a_callback_is_asked_before_the_runs_go_on(monkeypatch, library):
    """It may look at a clock, or end the runs: nothing is computed beyond what it is shown."""
    whole, done, shown = GD.communicate, [], []

    def counted(self, s, problem, channel):
        done.append(len(done) + 1)
        return whole(self, s, problem, channel)

    def callback(point):
        shown.append((int(point["rounds"].max()), len(done)))

    monkeypatch.setattr(GD, "communicate", counted)
    options = SHORT | {"library": library, "callback": callback}
    simulate(GD(0.01), PROBLEMS["quadratic"](), None, **options)
    assert len(shown) > 9
    assert all(rounds == computed for rounds, computed in shown)


def test_coins_are_tossed_for_64_iterations_at_once(transfers):
    problem, sent = PROBLEMS["quadratic"](), compressor("rand-k:2")
    method = parameters("locodl", problem, sent)
    moved = same_on_device(
        method, problem, sent, transfers, seeds=2, budget=Budget(iterations=129), record=Record(2.0)
    )
    assert_nobody_waits(moved, 129)
    assert moved["coins"] == 3


def test_runs_that_diverge_do_not_spoil_others(transfers):
    gamma = np.array([[[0.01, 1e6, 0.02]]])
    options = {"seeds": [0, 0, 1], "budget": Budget(rounds=60)}
    same_on_device(GD(gamma), PROBLEMS["quadratic"](), None, transfers, **options)


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("law", [Uniform(0.5), Ball(0.5)], ids=repr)
def test_noise_is_made_on_the_device(law, library, transfers):
    """Runs of one seed share it there too."""
    problem = Quartics.of(H=2.0, noise=law)
    method, options = EPISODE(0.01, 0.05, 2), SHORT | {"seeds": [3, 5, 6]}
    moved = same_on_device(method, problem, None, transfers, library, **options)
    assert_nobody_waits(moved, ITERATIONS)


def numbers(seed, count, purpose="coin"):
    return generator(seed, purpose).random(count)


@pytest.mark.parametrize("cuts", [[1] * 10, [3, 7, 5000, 2, 9000, 1], [100_000, 4096, 4096]])
def test_a_stream_is_its_generator_however_it_is_cut(cuts):
    stream = Stream([4, 9], "coin")
    drawn = np.concatenate([stream.draw(np.array([0, 1]), count) for count in cuts])
    np.testing.assert_array_equal(drawn[:, 0], numbers(4, sum(cuts)))
    np.testing.assert_array_equal(drawn[:, 1], numbers(9, sum(cuts)))


def test_runs_that_draw_at_different_times_keep_their_own_numbers():
    rng = np.random.default_rng(0)
    stream, got = Stream(range(5), "coin"), [[] for _ in range(5)]
    for _ in range(400):
        runs = np.flatnonzero(rng.random(5) < 0.4)
        drawn = stream.draw(runs, int(rng.integers(1, 300)))
        for place, run in enumerate(runs):
            got[run].append(drawn[:, place])
    for seed, pieces in enumerate(got):
        together = np.concatenate(pieces)
        np.testing.assert_array_equal(together, numbers(seed, together.size))
