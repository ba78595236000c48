"""Traces on disk: whole or not at all, loaded instead of computed, recomputed where corrupt."""

import html
import json
from dataclasses import replace

import numpy as np
import pytest
from worlds import simulate

import certibit.solvers.store.store as store_module
from certibit import Budget, Experiment, Quadratic, Record, Store, compressor, parameters
from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import save_arrays
from certibit.solvers.runs import engine
from certibit.solvers.runs.trace import COLUMNS, Trace

RAND_2 = compressor("rand-k:2")
OPTIONS = {"seeds": 2, "budget": Budget(rounds=20)}


@pytest.fixture(scope="module")
def problem():
    return Quadratic.random(3, 5, mu=1.0, L=20.0, seed=0)


@pytest.fixture(scope="module")
def method(problem):
    return parameters("diana", problem, RAND_2)


@pytest.fixture
def counted(monkeypatch):
    """Count how often the store runs a method."""
    calls = []

    def counting(*arguments, **options):
        calls.append(arguments)
        return engine.simulate(*arguments, **options)

    monkeypatch.setattr(store_module, "simulate", counting)
    return calls


def equal(a: Trace, b: Trace) -> bool:
    same = all(np.array_equal(a.columns[name], b.columns[name], equal_nan=True) for name in COLUMNS)
    return same and a.ending == b.ending and a.specification == b.specification


def test_the_specification_is_json_and_complete(problem, method):
    settings = simulate(method, problem, RAND_2, **OPTIONS).specification
    again = json.loads(json.dumps(settings))
    assert again == settings
    assert again["method"]["parameters"] == pytest.approx(vars(method))
    assert again["compressor"] == "rand-k:2"
    assert again["problem"]["fingerprint"] == problem.fingerprint
    assert again["seeds"] == [0, 1]


@pytest.mark.parametrize(
    ("gaps", "bits", "lines"),
    [
        ([1e-6, 3e-7], [64, 96], ["last f - f*: 3e-07 to 1e-06", "per client: 64 to 96"]),
        ([1e-6, np.nan], [64, 64], ["last f - f*: 1e-06", "per client: 64"]),
        ([np.nan, np.nan], [1, 2], ["last f - f*: nan", "per client: 1 to 2"]),
    ],
)
def test_the_ends_of_a_trace_are_told(problem, method, gaps, bits, lines):
    trace = simulate(method, problem, RAND_2, **OPTIONS)
    at = np.searchsorted(trace.columns["run"], [0, 1], side="right") - 1
    columns = {name: column.copy() for name, column in trace.columns.items()}
    columns["gap"][at], columns["uplink_bits"][at] = gaps, bits
    told = repr(replace(trace, columns=columns, ending=("rounds", "diverged"))).splitlines()
    assert trace._repr_html_() == f"<pre>{html.escape(repr(trace))}</pre>"
    assert told[0] == "Trace of diana on quadratic:d=5@3, rand-k:2"
    assert told[1] == "runs: 2, ended by rounds (1), diverged (1)"
    assert all(line.endswith(end) for line, end in zip(told[2:], lines, strict=True))


@pytest.mark.parametrize(
    "change",
    [
        {"seeds": 3},
        {"budget": Budget(rounds=21)},
        {"record": Record(ratio=2)},
        {"wire": True},
        {"dtype": "float32"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_option_is_another_trace(problem, method, tmp_path, change):
    store = Store(tmp_path)
    options = {**OPTIONS, **change}
    experiment = Experiment.of(method, problem, RAND_2)
    assert store.path(experiment, **OPTIONS) != store.path(experiment, **options)


def test_another_part_is_another_trace(problem, method, tmp_path):
    path = Store(tmp_path).path
    other_problem = Quadratic.random(3, 5, mu=1.0, L=20.0, seed=1)
    paths = {
        path(Experiment.of(method, problem, RAND_2), **OPTIONS),
        path(Experiment.of(replace(method, gamma=method.gamma / 2), problem, RAND_2), **OPTIONS),
        path(Experiment.of(method, problem, compressor("rand-k:3")), **OPTIONS),
        path(Experiment.of(method, other_problem, RAND_2), **OPTIONS),
    }
    assert len(paths) == 4


def damaged(trace, path, damage):
    """Put a damaged version of a trace into its file."""
    good = path.read_bytes()
    columns = {name: column.copy() for name, column in trace.columns.items()}
    specification = json.loads(json.dumps(trace.specification))
    header = {"specification": specification, "ending": list(trace.ending)}
    if isinstance(damage, bytes):
        path.write_bytes(damage)
    elif damage == "cut":
        path.write_bytes(good[: len(good) // 2])
    elif damage == "flipped":
        path.write_bytes(good[:40] + bytes([good[40] ^ 4]) + good[41:])
    else:
        if not isinstance(damage, str):
            damage(columns, header)
            damage = json.dumps(header)
        save_arrays(path, {"header": np.array(damage), **columns})


DAMAGES = {
    "empty": b"",
    "not an archive": b"not an archive",
    "its first bytes": b"PK\x03\x04",
    "cut": "cut",
    "flipped": "flipped",
    "without a column": lambda columns, header: columns.pop("gap"),
    "another column": lambda columns, header: columns.update(loss=columns["gap"]),
    "no ending": lambda columns, header: header.pop("ending"),
    "words": "words",
    "a list": "[]",
}
FOREIGN = {
    "another specification": lambda columns, header: header["specification"].update(
        dtype="float32"
    ),
    "other seeds": lambda columns, header: header["specification"].update(seeds=[0, 2]),
}
"""What is a trace, of another run."""


@pytest.mark.parametrize("damage", ["cut", "no ending", *FOREIGN])
def test_a_damaged_file_is_told_set_aside_and_computed_again(
    problem, method, tmp_path, counted, damage
):
    store, experiment = Store(tmp_path), Experiment.of(method, problem, RAND_2)
    first = store.trace(experiment, **OPTIONS)
    path = store.path(experiment, **OPTIONS)
    damaged(first, path, (DAMAGES | FOREIGN)[damage])
    found = path.read_bytes()
    aside = path.with_name(f"{path.name}.damaged")
    sentence = rf"{path} is damaged \(.*\); it is set aside as {aside.name} and computed again"
    with pytest.warns(UserWarning, match=sentence):
        second = store.trace(experiment, **OPTIONS)
    assert len(counted) == 2
    assert equal(first, second)
    assert equal(first, store.trace(experiment, **OPTIONS))
    assert aside.read_bytes() == found
    assert len(counted) == 2


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_by_one_error(problem, method, tmp_path, damage):
    trace, path = simulate(method, problem, RAND_2, **OPTIONS), tmp_path / "trace.npz"
    trace.save(path)
    damaged(trace, path, damage)
    with pytest.raises(DamagedFileError, match=rf"^{path} is damaged \(") as error:
        Trace.load(path)
    assert "\n" not in str(error.value)


def test_no_file_is_no_damage(problem, method, tmp_path):
    with pytest.raises(FileNotFoundError):
        Trace.load(tmp_path / "none.npz")
    assert Store(tmp_path / "none").find(Experiment.of(method, problem, RAND_2), **OPTIONS) is None
