"""The benchmark in its quickest form: its record, and that something slow shows in its ratio."""

import time
from dataclasses import fields, replace
from itertools import islice

import gpu
import numpy as np
import pytest
from bare import bare_gradients
from bench import comparison, main
from iterations import Iterations
from measurements import GRADIENT, ITERATION, LOOP, TRICK
from plain_loops import LOOPS, Clients
from ratios import Ratio, slower, slower_throughout, tables
from record import Record, last
from timing import Spread, compared
from tricks import TRICKS, experiment_of

import certibit
from certibit import METHODS
from certibit.data.files.archive import read_record

pytestmark = pytest.mark.long

PROBLEM = "breast-cancer@9"
WORDS = ["--quick", "--problems", PROBLEM, "--seconds", "0.001"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("bench")


@pytest.fixture(scope="module")
def record(folder):
    return main([*WORDS, "--output", str(folder)])


@pytest.fixture(scope="module")
def small():
    return certibit.problem(PROBLEM, kappa=1e3)


def test_the_record_is_complete(record, folder):
    (path,) = folder.glob("*.json")
    content = read_record(path)
    assert set(content) == {field.name for field in fields(Record)}
    assert {"python", "numpy", "scipy", "numba"} <= set(content["versions"])
    assert content["hardware"]["processor"]
    assert all(set(ratio) == {field.name for field in fields(Ratio)} for ratio in content["ratios"])
    assert last(folder) == record


def test_a_device_is_measured():
    """On the stand-in, whose memory is not known."""
    found = list(gpu.measured(gpu.made("dense", 3, 4, 5), 2, "array-api-strict"))
    assert [one["what"] for one in found] == ["products", *gpu.METHODS]
    assert all(one["device"] > 0 for one in found)
    assert all(one["host"] > 0 for one in found[1:])


def test_every_subject_is_measured(record):
    assert all(0 < ratio.low <= ratio.value <= ratio.high for ratio in record.ratios)
    assert len({ratio.key for ratio in record.ratios}) == len(record.ratios)
    assert {ratio.runs for ratio in record.ratios} == {1, 16}
    subjects = {ratio.subject for ratio in record.ratios}
    assert subjects == {GRADIENT, ITERATION, LOOP, TRICK}
    names = {ratio.name.split()[0] for ratio in record.ratios if ratio.subject == ITERATION}
    assert names == set(METHODS)
    assert {ratio.name for ratio in record.ratios if ratio.subject == TRICK} == set(TRICKS)


def test_the_tables_have_every_ratio(record):
    text = tables(record.ratios)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    headings = len({(ratio.subject, ratio.runs) for ratio in record.ratios})
    assert text.count("###") == headings
    assert len(lines) == len(record.ratios) + 2 * headings


def test_a_slow_step_shows(small, monkeypatch):
    experiment = experiment_of(small, "gd")
    bare = bare_gradients(small, 1)["scipy"]
    one = Iterations(experiment, 1)
    before = compared(one, bare, 0.05)
    whole = type(experiment.method).communicate

    def communicate(self, s, problem, channel):
        end = time.process_time() + 1e-3
        while time.process_time() < end:
            pass
        return whole(self, s, problem, channel)

    monkeypatch.setattr(type(experiment.method), "communicate", communicate)
    after = compared(one, bare, 0.05)
    old, new = (Ratio.of(ITERATION, PROBLEM, 1, "gd", spread) for spread in (before, after))
    ((ratio, factor),) = slower([new], [old])
    assert ratio == new
    assert factor > 2
    assert slower([old], [new]) == []
    assert slower([new], [new]) == []
    assert slower([new], [replace(old, runs=5)]) == []


def test_what_may_be_noise_is_not_reported(record):
    quiet, wide = (Spread(0.9, 1.0, 1.1), Spread(1.0, 1.3, 1.5))
    old, new = (Ratio.of(ITERATION, PROBLEM, 1, "gd", spread) for spread in (quiet, wide))
    assert slower([new], [old]) == []
    before = replace(record, ratios=[old])
    assert "apart: 0 of 1" in comparison(replace(record, ratios=[new]), before)
    text = comparison(replace(record, ratios=[replace(new, low=1.2)]), before)
    assert f"1.30 times: {ITERATION} / {PROBLEM} / 1 / gd, now 1.30" in text


def test_what_is_slower_throughout_is_told_apart():
    """By the median over the problems: one of three that is slow is not enough, two are."""
    old = [Ratio(ITERATION, problem, 1, "gd", 1.0, 1.0, 1.0) for problem in "abc"]
    new = [replace(ratio, value=1.3) for ratio in old]
    assert slower_throughout([new[0], *old[1:]], old) == []
    assert slower_throughout([*new[:2], old[2]], old) == [((ITERATION, "gd"), 1.3)]
    assert slower_throughout([replace(ratio, name="agd") for ratio in new], old) == []


@pytest.mark.parametrize("runs", [1, 3])
def test_the_yardstick_is_the_gradient(small, runs):
    """Both ways give what the problem gives, but for the ridge."""
    scipy, blas = (action().reshape(9, 30, runs) for action in bare_gradients(small, runs).values())
    x = np.random.default_rng(1).standard_normal((9, 30, runs)) / np.sqrt(30)
    expected = small.grad(x) - small.ridge_f * x
    np.testing.assert_allclose(scipy, expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(blas, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", LOOPS)
def test_the_plain_loop_is_the_method(small, name):
    """With everything sent nothing is random but the coin, which is made sure; shifts lag."""
    experiment = experiment_of(small, name, f"rand-k:{small.d}")
    sure = {"alpha": 0.3} | ({"p": 1.0} if name == "adiana" else {})
    experiment = replace(experiment, method=replace(experiment.method, **sure))
    one = Iterations(experiment, 1)
    for x in islice(LOOPS[name](Clients(experiment.problem, small.d), experiment.method), 10):
        one()
        np.testing.assert_allclose(one.method.model(one.state).ravel(), x, rtol=1e-10, atol=1e-13)
