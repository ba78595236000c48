"""The table of convex functions and of the Polyak-Lojasiewicz condition."""

import pytest

from certibit import METHODS
from certibit.figures.certified.classes import rule_tables


def test_rows_and_sentences(monkeypatch):
    few = {name: METHODS[name] for name in ("gd", "locodl")}
    monkeypatch.setattr(rule_tables, "METHODS", few)
    monkeypatch.setattr(rule_tables, "STOCHASTIC", {})
    text = rule_tables.convex_table()
    words = [line.split() for line in text.splitlines()]
    assert ["GD", "1/L", "2", "2", "at", "1", "1.49", "at", "1"] in words
    assert ["LoCoDL", "published", "-", "-", "-"] in words
    assert "LoCoDL (convex, PL): locodl solves min f + g with a strongly convex g" in text
    shown = " ".join(text.split())
    assert "holds: GD with gamma = 1/L: f(x_T) - f* <= L |x_0 - x*|^2/(4 T + 2)" in shown


@pytest.mark.long
def test_what_is_certified_beside_what_is_stated():
    (rule, stated, certified, gradual), reasons = rule_tables.convex_cells(METHODS["diana"], 10, 1)
    assert (rule, reasons) == ("convex", {})
    assert gradual.endswith("(nonconvex)")
    assert float(stated) < float(certified.split()[0]) < 1.2 * float(stated)
