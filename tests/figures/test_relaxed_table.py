"""The table of certified steps on (L0, L1)-smooth functions."""

import re
from pathlib import Path

import pytest

import certibit
from certibit.cli import main
from certibit.figures.certified.classes import relaxed_table
from certibit.figures.certified.classes.relaxed_table import (
    fewer_rounds,
    published_method,
    relaxed_row,
)
from certibit.theory.catalogue.catalogue import CARDS
from certibit.theory.relaxed.clipped_account import clipped_account
from certibit.theory.relaxed.relaxed_functions import RelaxedFunctions

PAGE = Path(certibit.__file__).parents[1] / "docs/certified.md"


@pytest.mark.long
def test_the_page_has_the_table(capsys, tmp_path):
    assert main(["figures", "certified", "--class", "relaxed", "--output", str(tmp_path)]) == 0
    written = (tmp_path / "relaxed.txt").read_text(encoding="utf-8")
    (rows,) = (part for part in written.split("\n\n") if part.startswith("n, kappa"))
    page = PAGE.read_text(encoding="utf-8")
    shown = [line.split() for line in page.splitlines() if line.startswith("    ")]
    for row in rows.splitlines():
        named = re.sub("NaiveParallelClip|clipped minibatch SGD", "clipped SGD", row)
        assert named.split() in shown, row
    assert "n, kappa, rho, sigma" in capsys.readouterr().out


def test_a_row_has_the_step_of_the_paper_and_more():
    cells, reasons = relaxed_row(CARDS["clipped-sgd"], 10, 1.0, 2.0, 0.0)
    assert not reasons
    assert len(cells) + 1 == len(relaxed_table.HEADER)
    assert cells[:3] == ("0.25, 0.291", "0.5", "0.7539")
    functions = RelaxedFunctions(1.0, 1.0, 10, kappa=1.0, rho=2.0)
    account = clipped_account(published_method(CARDS["clipped-sgd"], functions), functions)
    assert account.published.holds
    assert fewer_rounds(account) == pytest.approx(account.best * account.best_c / 0.5, rel=1e-6)


def test_a_method_that_is_not_covered_has_a_sentence():
    cells, reasons = relaxed_row(CARDS["celgc"], 10, 1.0, 2.0, 0.1)
    assert not cells
    assert reasons[""].endswith("clip v at gamma/eta")
