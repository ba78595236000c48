"""The table of convex functions and of the Polyak-Lojasiewicz condition."""

from certibit import METHODS
from certibit.figures.certified.classes import convex_table


def test_rows_and_sentences(monkeypatch):
    few = {name: METHODS[name] for name in ("gd", "locodl")}
    monkeypatch.setattr(convex_table, "METHODS", few)
    text = convex_table.convex_table()
    words = [line.split() for line in text.splitlines()]
    assert ["GD", "1/L", "2", "at", "1", "1.49", "at", "1"] in words
    assert ["LoCoDL", "paper", "-", "-"] in words
    assert "LoCoDL (convex): locodl solves min f + g with a strongly convex g" in text
