"""A comparison that is kept for the report: its numbers are those of the comparison."""

import numpy as np
import pytest
from compared import NAMES

from certibit import ClippedSGD, Quadratic, Refusal, compare
from certibit.data.files.archive import read_record
from certibit.figures.comparison.compare import keep_comparison
from certibit.figures.report.page import page, read_parts


def test_the_page_shows_what_the_comparison_found(found, tmp_path):
    path = keep_comparison(found, "mine-5", tmp_path)
    (panel,) = read_record(path)["panels"]
    assert [curve["method"] for curve in panel["curves"]] == NAMES
    for counted in ("bits", "downlink bits", "rounds", "gradients"):
        costs = found.costs(by=counted).values()
        for curve, expected in zip(panel["curves"], costs, strict=True):
            kept = np.array(curve["costs"]["1e-5"][counted], dtype=float)
            np.testing.assert_array_equal(kept, expected)
    parts = read_parts(tmp_path)
    assert [part.anchor for part in parts if part.blocks] == ["compared"]
    text = page(parts)
    assert "<h4>mine-5</h4>" in text
    for contestant in found.contestants:
        assert contestant.label in text


@pytest.mark.parametrize("name", ["", "a b", "../a", "a/b", "a" * 99])
def test_a_name_that_is_no_file_is_refused(found, name, tmp_path):
    with pytest.raises(Refusal, match="is no name for the report; give letters"):
        keep_comparison(found, name, tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_method_that_sends_nothing_is_refused(tmp_path):
    one = Quadratic.random(1, 4, mu=1.0, L=10.0)
    alone = compare(one, [ClippedSGD(eta=0.1, gamma=1.0)], target=1e-2, seeds=1)
    with pytest.raises(Refusal, match="sends nothing, and the report draws against bits"):
        keep_comparison(alone, "alone", tmp_path)
