"""The commands certify and certified, their tables and figures."""

import math
from dataclasses import replace

import numpy as np
import pytest

from certibit import Budget, FunctionClass, Refusal, Setting, certify, compressor, run
from certibit.data.files.archive import read_record
from certibit.data.terminal import text_columns
from certibit.figures.certified import comparison, potential_gains
from certibit.figures.certified.comparison import certified_comparison, measured_table, rates_table
from certibit.figures.certified.measured_bits import Runs, quadratic_of
from certibit.figures.certified.potential_gains import (
    SEARCHED,
    family_setting,
    gains_of,
    potential_gain,
)
from certibit.figures.certified.rates import compared_rate, rates_of
from certibit.figures.certified.variants import variants
from certibit.figures.pool import Work
from certibit.figures.text.tables import ABSENT, short_cost
from certibit.solvers.store.store import CutWarning, Store
from certibit.theory.card import LOWER_BOUND
from certibit.theory.catalogue.catalogue import CARDS, METHODS
from certibit.theory.certificates.summary import class_setting


@pytest.fixture
def bare(monkeypatch, tmp_path):
    """Return a machine without any LibSVM file."""
    monkeypatch.delenv("CERTIBIT_DATA", raising=False)
    monkeypatch.setenv("CERTIBIT_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_a_rate_in_one_family():
    found = compared_rate("scaffnew", "best", 10, 100.0, 9.0)
    assert found.verdict == "tight"
    assert found.published == pytest.approx(1 - (1 - 2 / 101) ** 2)
    assert compared_rate("scaffold", "published", 10, 100.0, 9.0).verdict.startswith(
        "loose by a factor 4"
    )
    assert compared_rate("5gcs-cc", "ours-adaptive", 10, 100.0, 9.0).looseness > 1


@pytest.mark.long
def test_versions_and_classes_have_rows_of_their_own():
    names = {name: set(variants(card)) - set(card.rules) for name, card in CARDS.items()}
    assert names["adiana"] == {"published, II", "refined, II", "best, II"}
    assert names["gradskip"] == {"published, 2 classes"}
    assert not any(found for name, found in names.items() if name not in ("adiana", "gradskip"))
    rows = [rate for name in ("adiana", "gradskip") for rate in rates_of(name)]
    asked = variants(CARDS["adiana"]) | variants(CARDS["gradskip"])
    assert {rate.rule for rate in rows} == set(asked)
    for rate in rows:
        assert rate.certified >= rate.published * (1 - 1e-5), rate.rule


def test_clients_of_two_classes_have_their_own_parameters():
    """Those that are less curved skip gradients; no certificate takes them to be alike."""
    card = CARDS["gradskip"]
    variant = variants(card)["published, 2 classes"]
    where = variant.setting(class_setting(card.method, 10, 100.0, None, None, 4))
    method = variant.method(card, where)
    assert len(set(method.q)) == 2
    assert [one.count for one in variant.functions(where).kinds] == [2, 8]
    solved = quadratic_of(card.method, where)
    np.testing.assert_allclose(solved.constants.L_i, where.constants.L_i)
    with pytest.raises(Refusal):  # q_i of clients that are taken to be alike
        certify(method, FunctionClass.of(where))


def test_a_table_of_rates():
    measured = [
        compared_rate(name, next(iter(METHODS[name].rules)), 10, 30.0, 9.0)
        for name in ("gd", "diana", "scaffold")
    ]
    short = replace(
        measured[0], method="5gcs-cc", rule="ours-adaptive", reason="too few local steps"
    )
    text = rates_table([*measured, short])
    assert "tight" in text
    assert "loose by a factor" in text
    assert "5GCS-CC, ours-adaptive: too few local steps" in text
    assert all(len(line) <= 80 for line in text.splitlines())


@pytest.mark.long
def test_what_is_found_is_between_promised_and_attained(tmp_path):
    runs = Runs(1, Store(tmp_path))
    gains = [
        potential_gain("locodl", "published", 3, 100.0, 4.0, runs),
        potential_gain("ef", "best", 3, 20.0, 1.0, runs),
    ]
    for gain in gains:
        assert gain.promised <= gain.certified * (1 + 2e-3)
        assert gain.found >= 0.998 * gain.certified
        assert gain.found <= gain.attained
    assert gains[1].attained == pytest.approx(gains[1].found, rel=1e-3)
    assert gains[0].found > 1.005 * gains[0].certified


@pytest.mark.long(keep=2)
@pytest.mark.parametrize("name", ["diana", "locodl", "ef", "gd", "compressed-gd"])
def test_bits_are_measured_at_the_constants_that_are_certified(tmp_path, name):
    card, runs = CARDS[name], Runs(3, Store(tmp_path), downlink=0.5)
    n = 1 if name == "compressed-gd" else 3
    gain = potential_gain(name, next(iter(card.rules)), n, 20.0, 1.0, runs)
    where = family_setting(card, n, 20.0, 1.0)
    assert (where.mu, where.L, where.constants.L_f, where.d) == (1, 20, 20, 10)
    method, solved = card.at(where), quadratic_of(card.method, where)
    seen = Setting.of(card.method, solved, where.compressor)
    assert (seen.mu, seen.L) == (1, 20)
    assert np.linalg.eigvalsh(solved.H.mean(axis=0))[[0, -1]] == pytest.approx(
        (2, 21) if card.method.needs.composite else (1, 20)
    )
    gap = 1e-6 * float(solved.gap(solved.x_0)[0])
    trace = run(method, solved, where.compressor, seeds=3, budget=Budget(gap=gap))
    up, down = trace.bits_to(gap), trace.cost_to(gap, "downlink_bits")
    medians = [float(np.median(bits)) for bits in (up, down, up + 0.5 * down)]
    assert [gain.bits.up, gain.bits.down, gain.bits.total] == medians
    assert gain.promised > 0
    assert math.isfinite(gain.bits.total)


@pytest.mark.long
def test_searched_parameters_need_fewer_certified_bits_than_rules(tmp_path):
    gains = [
        potential_gain("diana", rule, 3, 20.0, 1.0, Runs(2, Store(tmp_path)))
        for rule in ("a", SEARCHED)
    ]
    assert gains[1].found > 1.5 * gains[0].found
    assert gains[1].bits.up < gains[0].bits.up
    text = measured_table(gains)
    assert "DIANA, searched" in text
    floor = next(line for line in text.splitlines() if line.startswith("lower bound"))
    rounds = LOWER_BOUND.rounds(3, 10, 20.0, 1.0) * math.log(1e6)
    assert floor.split()[-2:] == [short_cost(rounds * compressor("rand-k:5").bits(10)), ABSENT]
    assert "total" not in text
    weighed = measured_table(gains, 0.1)
    assert "total = up + 0.1 down" in weighed.replace("\n", " ")
    assert weighed.splitlines()[-1].startswith(text.splitlines()[-1])
    assert all(len(line) <= text_columns() for line in weighed.splitlines())


def test_what_has_no_certificate_is_measured(tmp_path, monkeypatch):
    """And no parameters are searched for it."""

    def refused(*about, **options):
        raise Refusal("no certificate")

    monkeypatch.setattr(potential_gains, "certify", refused)
    monkeypatch.setattr(potential_gains, "FAMILIES", ((2, 10.0, 1.0),))
    gains = gains_of("gd", Runs(1, Store(tmp_path)))
    assert [gain.rule for gain in gains] == ["1/L", "optimal"]
    assert all(math.isnan(gain.found) for gain in gains)
    assert all(gain.bits.up > 0 for gain in gains)
    assert "GD, optimal" in measured_table(gains)


@pytest.mark.long
def test_limits_end_runs_before_the_accuracy(bare, serial, monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", {"gd": METHODS["gd"]})
    monkeypatch.setattr(comparison, "SHARED_MINIMISER", {})
    monkeypatch.setattr(potential_gains, "FAMILIES", ((2, 10.0, 1.0),))
    with pytest.warns(CutWarning, match="1 of 1 runs of gd .* were cut at 2 iterations"):
        certified_comparison(Work(bare, 1, limits=Budget(iterations=2), tell=lambda write: None))
    found = read_record(bare / "potentials.json")
    assert all(gain["bits"]["up"] is None for gain in found)


@pytest.mark.long
def test_everything_is_written(bare, serial, monkeypatch):
    monkeypatch.setattr(comparison, "METHODS", {"gd": METHODS["gd"]})
    monkeypatch.setattr(comparison, "SHARED_MINIMISER", {})
    monkeypatch.setattr(potential_gains, "FAMILIES", ((2, 10.0, 1.0),))
    told = []
    paths = certified_comparison(
        Work(bare / "out", 1, processes=1, tell=lambda write: told.append(write()))
    )
    assert all(path.is_file() for path in paths)
    found = read_record(bare / "out" / "potentials.json")
    assert {gain["rule"] for gain in found} == {"1/L", "optimal", "searched"}
    assert all(gain["bits"]["up"] > 0 for gain in found)
    assert read_record(bare / "out" / "rates.json")[0]["method"] == "gd"
    assert "tight" in "\n".join(told)
