"""The table of all methods by classes of functions."""

from dataclasses import replace

import pytest

from certibit import CARDS, METHODS
from certibit.figures.certified.classes import rule_tables
from certibit.figures.certified.classes.class_table import CLASSES, class_cells, class_table


def test_marks_and_sentences():
    few = {name: CARDS[name] for name in ("gd", "locodl", "episode", "clip21")}
    lines = class_table(few).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.split()}
    assert rows["GD"] == ["Tkc", "c", "Tkc", "c", "Tkc", "c", "1"]
    assert rows["LoCoDL"] == ["Tkc", "c", *["2"] * 4, "1"]
    assert rows["EPISODE"] == [*["3"] * 6, "Tc"]
    assert rows["Clip21"] == ["c", *["3"] * 5, "t"]  # in a ball, of strongly convex functions
    assert rows["1:"] == ["its", "parameters", "are", "for", "L-smooth", "f_i."]


def test_factors_with_noise_have_a_column():
    columns = {}
    for name in ("sgd", "l-svrg", "vr-diana", "gd", "diana", "5gcs-cc"):
        (columns[name],) = class_cells(CARDS[name], ["strongly convex, stochastic"])
    marks = {name: cell.marks for name, cell in columns.items()}
    named = {"sgd": "Tkc", "l-svrg": "tkc", "vr-diana": "tc"}
    assert marks == {**named, "gd": "c", "diana": "c", "5gcs-cc": ""}
    assert "take fewer local steps" in columns["5gcs-cc"].reason


@pytest.mark.long
def test_each_cell_has_a_mark_or_a_sentence():
    for name in ("gd", "ef", "celgc"):
        cells = class_cells(CARDS[name])
        assert len(cells) == len(CLASSES)
        assert all(bool(one.marks) != bool(one.reason) for one in cells)


@pytest.mark.long
def test_a_step_that_is_never_certified_has_a_sentence():
    def enormous(setting):
        return card.method(gamma=1e9)

    card = CARDS["gd"]
    wrong = replace(card, theorems=(), rules={"enormous": enormous})
    factor, descent = class_cells(wrong, ["strongly convex", "nonconvex"])
    assert "no finite factor" in factor.reason
    assert "no descent" in descent.reason


def test_rows_and_sentences(monkeypatch):
    few = {name: METHODS[name] for name in ("gd", "locodl")}
    monkeypatch.setattr(rule_tables, "METHODS", few)
    monkeypatch.setattr(rule_tables, "STOCHASTIC", {})
    text = rule_tables.convex_table()
    words = [line.split() for line in text.splitlines()]
    assert ["GD", "1/L", "2", "2", "at", "1", "1.49", "at", "1"] in words
    assert ["LoCoDL", "published", "-", "-", "-"] in words
    assert "LoCoDL (convex, PL): locodl solves min f + g with a strongly convex g" in text


@pytest.mark.long
def test_what_is_certified_beside_what_is_stated():
    (rule, stated, certified, gradual), reasons = rule_tables.convex_cells(METHODS["diana"], 10, 1)
    assert (rule, reasons) == ("convex", {})
    assert gradual.endswith("(nonconvex)")
    assert float(stated) < float(certified.split()[0]) < 1.2 * float(stated)
