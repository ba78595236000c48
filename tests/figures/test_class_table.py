"""The table of all methods by classes of functions."""

from dataclasses import replace

import pytest

from certibit import CARDS
from certibit.figures.certified.classes.class_table import CLASSES, class_cells, class_table


def test_marks_and_sentences():
    few = {name: CARDS[name] for name in ("gd", "locodl", "episode", "clip21")}
    lines = class_table(few).splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines if line.split()}
    assert rows["GD"] == ["Tc", "1", "Tc", "c", "Tc", "1", "2"]
    assert rows["LoCoDL"] == ["Tc", "1", "3", "3", "3", "3", "2"]
    assert rows["EPISODE"] == [*["4"] * 6, "Tc"]
    assert rows["Clip21"] == ["c", *["4"] * 5, "t"]  # in a ball, of strongly convex functions
    assert rows["1:"] == ["it", "samples", "no", "gradients."]


def test_factors_with_noise_have_a_column():
    columns = {}
    for name in ("sgd", "local-sgd", "l-svrg", "vr-diana", "gd"):
        cells = dict(zip(CLASSES, class_cells(CARDS[name]), strict=True))
        columns[name] = cells["strongly convex, stochastic"]
    marks = {name: cell.marks for name, cell in columns.items()}
    assert marks == {"sgd": "Tc", "local-sgd": "c", "l-svrg": "tc", "vr-diana": "tc", "gd": ""}
    assert columns["gd"].reason == "it samples no gradients"


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
    wrong = replace(card, theorems=(), descents=(), rules={"enormous": enormous})
    cells = dict(zip(CLASSES, class_cells(wrong), strict=True))
    assert "no finite factor" in cells["strongly convex"].reason
    assert "no descent" in cells["nonconvex"].reason
