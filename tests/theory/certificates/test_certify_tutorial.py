"""The tutorial's code runs, and what it says is so."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "certify-your-method.md"


@pytest.mark.long
def test_the_tutorial_runs(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) == 7
    names: dict = {"__name__": "tutorial"}
    for block in blocks:
        exec(compile(block, str(PAGE), "exec"), names)
    assert names["descent"].verify() == names["descent"].c > 0
    seen = [one for one in names["examination"].verdicts if one.check == "descent along a run"]
    assert seen
    assert all(one.holds for one in seen)
    certificate = names["certificate"]
    assert certificate.factor < 1
    assert certificate.verify() == certificate.factor
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
