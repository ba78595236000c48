"""``--quick`` leaves out what is marked ``long``, but for so many cases of each test."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS = """
import pytest

def test_short(): pass

@pytest.mark.long
def test_long(): pass

@pytest.mark.long(keep=2)
@pytest.mark.parametrize("case", "abcd")
def test_kept(case): pass

@pytest.mark.parametrize("case", ["a", pytest.param("b", marks=pytest.mark.long), "c"])
def test_of_a_case(case): pass

@pytest.mark.long(keep=1)
class TestOfAClass:
    def test_one(self): pass
    def test_other(self): pass
"""
SHORT = ["test_short", "test_of_a_case[a]", "test_of_a_case[c]"]
KEPT = ["test_kept[a]", "test_kept[c]", "TestOfAClass::test_one", "TestOfAClass::test_other"]
LONG = ["test_long", "test_kept[b]", "test_kept[d]", "test_of_a_case[b]"]


@pytest.mark.parametrize(
    ("options", "left"),
    [(["--quick"], SHORT + KEPT), pytest.param([], SHORT + KEPT + LONG, marks=pytest.mark.long)],
)
def test_what_is_long_is_left_out(tmp_path, options, left):
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_some.py").write_text(TESTS, encoding="utf-8")
    settings = ["-c", str(ROOT / "pyproject.toml"), "--rootdir", str(tmp_path)]
    words = ["--collect-only", "-q", "-p", "no:cacheprovider", "test_some.py", *settings, *options]
    run = [sys.executable, "-m", "pytest", *words]
    told = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    found = [line.partition("::")[2] for line in told.splitlines() if "::" in line]
    assert sorted(found) == sorted(left)
