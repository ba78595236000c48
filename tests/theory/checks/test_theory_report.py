"""The report on all theorems: its rows, its JSON; and a failing row."""

import json
import math
from dataclasses import replace

import pytest

from certibit.cli import main
from certibit.data.files.archive import read_record
from certibit.figures.theory_results import row_summary
from certibit.theory.checks import standard as report
from certibit.theory.checks.standard import TheoremRow, rows, tasks
from certibit.theory.theorem import Condition
from certibit.theory.verdict import Verdict

ROW = TheoremRow(
    "a theorem", "logistic", "published", "natural", (Verdict("a check", 0.5, 1.0),),
    Condition("gamma <= 1/L", 1.0, 2.0), 1.2, 0.99, 1.3, 2.0, 2,
)  # fmt: skip


@pytest.fixture(scope="module")
def examined():
    """Return the rows of two methods."""
    methods = {name: report.METHODS[name] for name in ("gd", "diana")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "METHODS", methods)
        return [rows(place, seeds=2, accuracy=1e-3) for place in range(len(tasks()))]


@pytest.mark.long
def test_rows(examined):
    found = [row for some in examined for row in some]
    assert all(row.holds for row in found)
    assert {row.theorem for row in found} == {
        "gradient descent, classical", "DIANA, f strongly convex",
        "DIANA, every f_i strongly convex", "DIANA, every f_i strongly convex, coupled weights",
    }  # fmt: skip
    tight = [row for row in found if row.theorem == "gradient descent, classical"]
    assert all(row.worst == pytest.approx(1) for row in tight)
    assert all(row.bits > 1 and row.step >= 1 - 1e-9 for row in found)


@pytest.mark.long
def test_command(monkeypatch, capsys, tmp_path, examined):
    monkeypatch.setattr("certibit.cli.commands.results.results", lambda calls, processes: examined)
    words = ["figures", "theory", "--seeds", "2", "--output", str(tmp_path)]
    assert main(words) == 0
    text = capsys.readouterr().out
    assert (tmp_path / "report.txt").read_text().strip() == text.strip()
    found = read_record(tmp_path / "report.json")
    assert all(row["holds"] for row in found)
    assert f"0 of {len(found)} rows fail" in text
    monkeypatch.setenv("COLUMNS", "40")
    assert main(words) == 0
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) <= 40
    assert (tmp_path / "report.txt").read_text().strip() == text.strip()


def test_a_failing_row_is_told(monkeypatch, capsys, tmp_path):
    wrong = replace(ROW, verdicts=(Verdict("a check", 1.5, 1.0), *ROW.verdicts))
    monkeypatch.setattr(
        "certibit.cli.commands.results.results", lambda calls, processes: [[ROW, wrong]]
    )
    assert main(["figures", "theory", "--output", str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "1 of 2 rows fail" in text
    assert "a check is 1.5 and may be 1" in text


def test_json_is_strict():
    text = json.dumps(row_summary(replace(ROW, bits=math.nan, rate=math.inf)), allow_nan=False)
    assert json.loads(text)["bits, promised / measured"] is None
