"""Tables and paragraphs fit the terminal; in files they are the same everywhere."""

import re
import sys
from dataclasses import replace

import pytest
from command_lines import COMPARE, FAST, RUN

from certibit.cli import main
from certibit.data import terminal
from certibit.data.terminal import for_terminal, paragraph, table
from certibit.theory.audit.proofs import PROOFS

COMMANDS = {
    "list": ["list"],
    "run": RUN,
    "run, weighed": [*RUN, "--downlink-weight", "0.1"],
    "compare": [*COMPARE, "diana[a]+rand-k:2+natural"],
    "compare, by seconds": [*COMPARE, "--network", "lte"],
    "plan": ["plan", "breast-cancer@9", "--methods", "gd,diana,locodl", "--compressors", "natural"],
    "check": ["check", "quadratic:d=4@3", "gd", *FAST],
    "certify": ["certify", "locodl", "--n", "5", "--kappa", "100"],
    "certify, steps": ["certify", "diana", "--n", "3", "--kappa", "10", "--steps", "2"],
    "audit": ["audit", "locodl"],
}
COLUMNS = [40, 50, 80, 120]


@pytest.mark.long(keep=1)
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_fits_the_terminal_and_tells_the_same(name, capsys, monkeypatch):
    few = replace(PROOFS["locodl"], steps=PROOFS["locodl"].steps[:5])
    monkeypatch.setitem(PROOFS, "locodl", few)
    told = []
    for columns in COLUMNS:
        monkeypatch.setenv("COLUMNS", str(columns))
        assert main(COMMANDS[name]) == 0
        text = capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= columns
        told.append(_numbers(text))
    assert told == [told[0]] * len(COLUMNS)


def _numbers(text):
    """Return the numbers that stand in a text, but for those of a clock, which end in a unit."""
    line = " ".join(text.split())
    return sorted(set(re.findall(r"\d[\d,.]*(?:e-?\d+)?\b(?! m?s\b)", line)))


HEADER = ("method", "bits up", "rounds")
ROWS = [
    ("locodl with a long name", "3,948", "735"),
    ("a line of its own that is long",),
    ("gd", "-", "926"),
]
NATURAL = """\
method                   bits up  rounds
-----------------------  -------  ------
locodl with a long name    3,948     735
a line of its own that is long
gd                             -     926"""
WRAPPED = """\
method           bits up  rounds
---------------  -------  ------
locodl with a      3,948     735
long name
a line of its own that is long
gd                     -     926"""
BLOCKS = """\
method locodl with a
  long name
  bits up  3,948
  rounds   735
a line of its own that
  is long
method gd
  bits up  -
  rounds   926"""


@pytest.mark.parametrize(
    ("columns", "text"), [(200, NATURAL), (40, NATURAL), (32, WRAPPED), (24, BLOCKS)]
)
def test_a_table_is_wrapped_and_then_has_a_block_for_every_row(columns, text, monkeypatch):
    monkeypatch.setattr(terminal, "_NARROWEST", 10)
    monkeypatch.setenv("COLUMNS", str(columns))
    assert for_terminal(lambda: table(HEADER, ROWS, texts=1)) == text


@pytest.mark.parametrize("columns", COLUMNS)
def test_what_goes_into_a_file_is_the_same_everywhere(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    assert table(HEADER, ROWS, texts=1) == NATURAL
    assert max(map(len, paragraph("word " * 99).splitlines())) == 79


@pytest.mark.parametrize(("is_terminal", "longest"), [(True, 59), (False, 79)])
def test_without_columns_the_terminal_says_how_wide_it_is(is_terminal, longest, monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: is_terminal)
    monkeypatch.setattr(
        terminal.shutil, "get_terminal_size", lambda **_: terminal.os.terminal_size((60, 24))
    )
    assert max(map(len, for_terminal(lambda: paragraph("word " * 99)).splitlines())) == longest


def test_a_paragraph_is_not_wider_than_can_be_read(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert max(map(len, for_terminal(lambda: paragraph("word " * 99)).splitlines())) == 99


def test_other_long_lines_are_wrapped_behind_their_indentation(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    text = for_terminal(lambda: "short\n\n  one line that is longer than forty columns are")
    assert text == "short\n\n  one line that is longer than forty\n    columns are"
