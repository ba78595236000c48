"""The code of the pages on certificates runs, and what they say about it is so."""

import math
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[3] / "docs"


def names_of(page):
    """Run the blocks of a page one after the other; return the names they define."""
    text = (DOCS / page).read_text(encoding="utf-8")
    names: dict = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(compile(block, page, "exec"), names)
    return names


@pytest.mark.long
def test_a_method_of_ones_own(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = names_of("certify.md")
    certificate = names["certificate"]
    assert certificate.factor < 1
    assert certificate.verify()
    assert certificate.bound - certificate.decrease <= 1e-8 * certificate.decrease
    assert (tmp_path / "momentum_diana.json").exists()
    assert "Theorem certified" in (tmp_path / "momentum_diana.v").read_text(encoding="utf-8")
    assert names["mixed"].decrease >= certificate.decrease * (1 - 1e-6)
    assert names["chain"].steps == 1000
    assert names["chain"].decrease >= certificate.decrease * (1 - 1e-12)
    said = capsys.readouterr().out
    assert "works up to gamma" in said
    assert "attained on worst case@5" in said
    assert "f - f* grows" in said
    worst, gentle = names["worst"].step(), names["gentle"]
    assert abs(worst.factor - gentle.factor) < 1e-6 * abs(gentle.decrease)


@pytest.mark.long
def test_classes_of_functions(capsys):
    names = names_of("certify-classes.md")
    assert names["better"].verify()
    assert names["better"].c > names["proof"].c
    assert names["iterations"] == pytest.approx(2.0 / (names["proof"].c * 1e-3))
    assert "Psi - 0.19" in capsys.readouterr().out
    assert names["descent"].verify()
    assert names["descent"].c > 0
    seen = [one for one in names["examination"].verdicts if one.check == "descent along a run"]
    assert seen
    assert all(one.holds for one in seen)
    published, clipped = names["published"].c, names["clipped"]
    assert published == pytest.approx(1 - (2 + math.e - 1) / 8, rel=1e-9)
    assert clipped.c == pytest.approx(1 - 2 * (math.expm1(-0.25) + 0.25) / 0.25, rel=1e-9)
    assert clipped.verify(), "the page says that it is checked"
