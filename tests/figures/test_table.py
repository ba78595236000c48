import math

import numpy as np
import pytest

from certibit.data.terminal import text_columns
from certibit.figures.locodl.recipes import all_rules
from certibit.figures.locodl.reproduction import table_2
from certibit.theory.card import LOWER_BOUND
from certibit.theory.catalogue.catalogue import METHODS

# Table 2 of arXiv:2403.04348 at d = 9, n = 4, kappa = 16, written out
TABLE_2 = {
    "diana": (1 + 9 / 4) * 16 + 9,
    "ef21": 9 * 16,
    "5gcs-cc": (3 + 9 / 2) * 4 + 9,
    "adiana": (1 + 9 / 2) * 4 + 9,
    "compressed-scaffnew": (3 + 9 / 2) * 4 + 9,
    "fedcomgate": 9 * 16,
    "locodl": (3 + 9 / 2) * 4 + 9,
}


@pytest.mark.parametrize("method", TABLE_2)
def test_leading_orders_are_those_of_the_paper(method):
    assert METHODS[method].orders.reals(4, 9, 16) == TABLE_2[method]


def test_every_method_has_an_order():
    assert all(card.orders for card in METHODS.values() if card.about("potential"))


@pytest.mark.parametrize("n", [1, 10, 1000])
@pytest.mark.parametrize("kappa", [2.0, 1e3])
def test_no_method_promises_less_than_the_lower_bound(n, kappa):
    orders = {name: card.orders for name, card in METHODS.items() if card.orders}
    unbiased = [name for name in orders if METHODS[name].method.needs.compressor == "unbiased"]
    assert "adiana" in unbiased
    for name in unbiased:
        assert orders[name].reals(n, 30, kappa) >= LOWER_BOUND.reals(n, 30, kappa) / 2
        for omega in (0.0, 9.0):
            least = LOWER_BOUND.rounds(n, 30, kappa, omega)
            assert orders[name].rounds(n, 30, kappa, omega) >= least / 4
    assert orders["adiana"].reals(n, 30, kappa) <= 2 * LOWER_BOUND.reals(n, 30, kappa)


def test_the_servers_compression_is_in_the_order():
    order = METHODS["ef21p-diana"].orders.reals
    assert order(10, 30, 1e3, alpha_down=0.1) > order(10, 30, 1e3) + 8e3


def test_table_has_a_row_per_curve_with_its_numbers(made):
    panel = all_rules()
    bits = np.array([0.0, 320_000, 640_000])
    reached = made([bits] * 3, [np.array([1, 1e-2, 1e-5])] * 3)
    never = made([bits] * 3, [np.array([1, 1e-2, 1e-4])] * 3)
    traces = {curve: never if curve.method == "gd" else reached for curve in panel.curves}
    text = table_2(panel, traces)
    assert max(map(len, text.splitlines())) <= text_columns()
    rows = [line.split() for line in text.splitlines() if line.startswith(("LoCoDL  ", "GD"))]
    letter = next(line[0] for line in text.splitlines() if line.endswith(" = d*kappa"))
    assert [row[:3] for row in rows] == [
        ["LoCoDL", "published", "A"],
        ["LoCoDL", "ours", "A"],
        ["GD", "1/L", letter],
        ["GD", "optimal", letter],
    ]
    bound = next(line.split() for line in text.splitlines() if line.startswith("lower bound"))
    assert bound[3:5] == [f"{((1 + 10) * math.sqrt(1e3) + 30) * math.log(1e5):,.0f}", "-"]
    order = ((math.sqrt(30) + 10) * math.sqrt(1e3) + 30) * math.log(1e5)
    for row in rows[:2]:
        promised = float(row[4].replace(",", ""))
        assert row[3] == f"{order:,.0f}"
        assert row[5] == "20,000"
        assert float(row[6]) == pytest.approx(20_000 / promised, abs=6e-4)
        assert row[7] == "6"
    assert [row[5:] for row in rows[2:]] == [["-", "-", "-"]] * 2
    assert "A = (sqrt(d) + d/sqrt(n))*sqrt(kappa) + d" in text


def test_published_parameters_that_diverge_are_shown(made):
    """FedCOMGATE's own ones, on rand-k with omega > 1; the damped ones beside them converge."""
    panel = all_rules()
    bits = np.array([0.0, 320_000])
    ends = {"published": "diverged", "damped": "gap"}
    traces = {
        curve: made([bits], [np.array([1, 1e-6])], [ends[curve.rule]])
        for curve in panel.curves
        if curve.method == "fedcomgate"
    }
    rows = [line.split() for line in table_2(panel, traces).splitlines()]
    measured = {row[1]: row[5] for row in rows if row and row[0] == "FedCOMGATE"}
    assert measured == {"published": "diverges", "damped": "10,000"}
