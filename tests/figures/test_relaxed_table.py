"""The table of certified steps on (L0, L1)-smooth functions."""

from pathlib import Path

import pytest

import certibit
from certibit.cli import main
from certibit.figures.certified.classes import relaxed_table
from certibit.figures.certified.classes.relaxed_table import fewer_rounds, relaxed_row
from certibit.theory.catalogue.catalogue import CARDS

PAGE = Path(certibit.__file__).parents[1] / "docs/certified.md"


@pytest.mark.long
def test_the_page_has_the_table(capsys, tmp_path):
    assert main(["figures", "certified", "--class", "relaxed", "--output", str(tmp_path)]) == 0
    written = (tmp_path / "relaxed.txt").read_text(encoding="utf-8")
    (rows,) = (part for part in written.split("\n\n") if part.startswith("n, kappa"))
    page = PAGE.read_text(encoding="utf-8")
    shown = [line.strip().split() for line in page.splitlines() if line.startswith("    ")]
    for row in rows.splitlines():
        assert row.split() in shown, row
    assert "n, kappa, rho, sigma" in capsys.readouterr().out


def test_a_row_has_the_step_of_the_paper_and_more():
    cells, account, _ = relaxed_row(CARDS["clipped-sgd"], 10, 1.0, 2.0, 0.0)
    assert account.published.holds
    assert cells[1:4] == ("0.25, 0.291", "0.5", "0.7539")
    assert fewer_rounds(account) == pytest.approx(account.best * account.best_c / 0.5, rel=1e-6)


def test_a_method_that_is_not_covered_has_a_sentence():
    cells, account, reason = relaxed_row(CARDS["celgc"], 10, 1.0, 2.0, 0.1)
    assert account is None
    assert reason.endswith("clip v at gamma/eta")
    assert set(cells[1:]) == {"-"}


def test_the_header_fits_the_cells():
    cells, _, _ = relaxed_row(CARDS["normalised-ef21"], 1, 0.0, 1.0, 0.0)
    assert len(cells) == len(relaxed_table.HEADER)
