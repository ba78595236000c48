"""Compressors of other packages have names; what is wrong with one is told."""

import pytest

from certibit import Refusal, compressor
from certibit.cli import main
from certibit.solvers.compressors.selector import GROUP

PACKAGE = """
from dataclasses import dataclass
from certibit.solvers.compressors.selection import RandK

@dataclass(frozen=True)
class Sparse(RandK):
    pass

NONE = 3
"""
POINTS = f"""
[{GROUP}]
sparse = packaged_compressors:Sparse
none = packaged_compressors:NONE
absent = packaged_compressors:Absent
"""


@pytest.fixture(autouse=True)
def other_package(tmp_path, monkeypatch):
    """Install a package with a compressor, and with entry points that are wrong in two ways."""
    (tmp_path / "packaged_compressors.py").write_text(PACKAGE, encoding="utf-8")
    information = tmp_path / "packaged_compressors-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Name: packaged-compressors\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)


def test_a_compressor_of_another_package_has_a_name(capsys):
    assert compressor("sparse:2").bits(16) == compressor("rand-k:2").bits(16)
    assert main(["list"]) == 0
    assert "two-way(UP;DOWN), absent, none, sparse" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("selector", "sentence"),
    [
        ("sparse", r"sparse = packaged_compressors:Sparse cannot be made of \(\)"),
        ("sparse:)", "cannot be made of"),
        ("none", "none = packaged_compressors:NONE is no class of a compressor"),
        ("absent", "absent = packaged_compressors:Absent cannot be loaded"),
        ("sprase:2", "no compressor is called 'sprase:2'"),
    ],
)
def test_refusals(selector, sentence):
    with pytest.raises(Refusal, match=sentence):
        compressor(selector)
