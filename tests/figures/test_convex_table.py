"""The table of convex functions and of the Polyak-Lojasiewicz condition."""

from certibit import METHODS
from certibit.figures.certified.classes import convex_table


def test_rows_and_sentences(monkeypatch):
    few = {name: METHODS[name] for name in ("gd", "locodl", "diana")}
    monkeypatch.setattr(convex_table, "METHODS", few)
    monkeypatch.setattr(convex_table, "STOCHASTIC", {})
    text = convex_table.convex_table()
    words = [line.split() for line in text.splitlines()]
    assert ["GD", "1/L", "2", "2", "at", "1", "1.49", "at", "1"] in words
    (diana,) = (line for line in words if line[:1] == ["DIANA"])
    assert diana[:2] == ["DIANA", "convex"]
    stated, certified = float(diana[2]), float(diana[3])
    assert stated < certified < 1.2 * stated
    assert ["LoCoDL", "paper", "-", "-", "-"] in words
    assert "LoCoDL (convex, PL): locodl solves min f + g with a strongly convex g" in text
    shown = " ".join(text.split())
    assert "holds: GD with gamma = 1/L: f(x_T) - f* <= L |x_0 - x*|^2/(4 T + 2)" in shown
