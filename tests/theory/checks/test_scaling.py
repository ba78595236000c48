"""Scaling laws: the fit is that of exact power laws, and one law is measured."""

from dataclasses import replace

import numpy as np
import pytest

from certibit.cli import main
from certibit.figures.theory_results import (
    draw_scaling,
    fit_summary,
    scaling_setting,
    scaling_table,
)
from certibit.solvers.runs.budget import Budget
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.scaling import LAWS, TOLERANCE, Law, fit, measured_law

GD = Law("gd", "1/L", "kappa", (10.0, 30.0, 90.0), n=3, d=4, compressed=False)


@pytest.mark.parametrize("exponent", [-1.0, 0.5, 1.0])
def test_exact_power_law(exponent):
    bits = 7 * np.array(GD.values)[:, None] ** exponent * np.ones((1, 4))
    found = fit(GD, bits)
    assert found.exponent == pytest.approx(exponent)
    assert found.error == pytest.approx(0, abs=1e-6)
    assert found.table == pytest.approx(1)
    assert found.holds


def test_a_larger_exponent_fails_and_noise_is_allowed_for():
    x = np.array(GD.values)[:, None]
    assert not fit(GD, x ** (1 + 2 * TOLERANCE) * np.ones((1, 4))).holds
    noise = np.exp(np.random.default_rng(0).normal(scale=0.3, size=(3, 4)))
    found = fit(GD, x * noise)
    assert abs(found.exponent - 1) < found.error


def test_what_a_limit_has_cut_is_not_tested_and_what_never_arrives_fails(tmp_path):
    found = measured_law(GD, seeds=2, limits=Budget(iterations=5))
    assert not found.tested
    assert found.holds
    assert "not tested: 6 of 6 runs were cut" in scaling_table([found])
    assert fit_summary(found)["bits"] == [None] * 3
    assert draw_scaling([found], tmp_path) == []
    whole = measured_law(GD, seeds=2, limits=Budget(iterations=399_999))
    assert whole.tested
    never = fit(GD, np.full((3, 2), np.inf))
    assert never.tested
    assert not never.holds


@pytest.mark.parametrize("law", LAWS, ids=lambda law: f"{law.method} in {law.quantity}")
def test_laws_have_a_table_and_points_that_exist(law):
    assert len(law.values) >= 3
    for value in law.values:
        n, d, _, k = law.at(value)
        assert 1 <= k <= d
        assert n >= 2
        assert law.order(value) > 0
        if law.quantity == "1 + omega":
            assert d / k == value


def test_tables_of_pure_regimes():
    """Far out the fitted table exponents are the leading ones."""
    local = next(law for law in LAWS if (law.method, law.quantity) == ("locodl", "kappa"))
    far = replace(local, values=(1e8, 1e9, 1e10))
    assert fit(far, np.ones((3, 1))).table == pytest.approx(0.5, abs=1e-3)
    diana = next(law for law in LAWS if (law.method, law.quantity) == ("diana", "kappa"))
    far = replace(diana, values=(1e8, 1e9, 1e10))
    assert fit(far, np.ones((3, 1))).table == pytest.approx(1, abs=1e-3)


def test_gradient_descent_is_measured(tmp_path):
    found = measured_law(GD, seeds=2)
    assert found.bits.shape == (3, 2)
    assert found.exponent == pytest.approx(1, abs=0.1)
    paths = draw_scaling([found], tmp_path)
    assert all(path.stat().st_size > 1000 for path in paths)


FIXED = {
    "kappa": "n = 10, d = 20",
    "d": "n = 4, kappa = 300",
    "n": "d = 32, kappa = 300",
    "1 + omega": "DIANA: n = 2, d = 64, kappa = 30; LoCoDL: n = 10, d = 32, kappa = 300",
}


@pytest.mark.parametrize("seeds", ["one seed", "4 seeds"])
def test_captions_name_what_is_fixed(seeds):
    number = 4 if seeds == "4 seeds" else 1
    fits = [fit_summary(fit(law, np.ones((len(law.values), number)))) for law in LAWS]
    for quantity, told in FIXED.items():
        some = [each for each in fits if each["quantity"] == quantity]
        assert "; ".join(scaling_setting(some)) == f"{told}; {seeds}"


@pytest.mark.parametrize(("exponent", "code", "word"), [(1.0, 0, "measured"), (1.5, 1, "FAILS")])
def test_command(monkeypatch, capsys, tmp_path, exponent, code, word):
    found = fit(GD, 7 * np.array(GD.values)[:, None] ** exponent * np.ones((1, 2)))
    monkeypatch.setattr("certibit.cli.commands.results.results", lambda calls, processes: [found])
    assert main(["scaling", "--output", str(tmp_path)]) == code
    text = capsys.readouterr().out
    assert text.splitlines()[-1].split() == [
        "kappa", "gd", "10", "to", "90", f"{exponent:.2f}", "+-", "0.00", "1.00", word,
    ]  # fmt: skip
    assert (tmp_path / "scaling.txt").read_text() == text
    assert (tmp_path / "scaling.svg").exists()
    monkeypatch.setenv("COLUMNS", "40")
    assert main(["scaling", "--output", str(tmp_path)]) == code
    lines = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in lines) <= 40
    assert (tmp_path / "scaling.txt").read_text() == text


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("weight", [0.0, 0.5, 3.0])
def test_received_bits_count_by_their_weight(weight, tmp_path):
    alone, found = (measured_law(GD, seeds=1, downlink=c) for c in (0.0, weight))
    np.testing.assert_allclose(found.bits, (1 + weight) * alone.bits)
    assert found.downlink == weight
    assert found.table == pytest.approx(alone.table)
    text = scaling_table([found])
    assert (f"total = up + {weight:g} down" in text) == bool(weight)
    assert fit_summary(found)["downlink_weight"] == weight


def test_a_broadcast_hides_what_is_saved_on_the_way_up():
    law = next(law for law in LAWS if (law.method, law.quantity) == ("diana", "d"))
    n, d, kappa, k = law.at(64.0)
    rounds = METHODS["diana"].orders.rounds(n, d, kappa, d / k - 1)
    assert law.order(64.0) == 2 * k * rounds
    assert law.order(64.0, 0.5) == (2 * k + 32) * rounds
