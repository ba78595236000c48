"""Pictures of the README show what the README says, in colours that differ."""

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from making.pictures import VERDICTS, blocks, filled, numbers_of, stamped
from matplotlib.figure import Figure as Canvas

from certibit.data.files.archive import write_record
from certibit.figures.locodl.recipes import FIGURES
from certibit.theory.catalogue.catalogue import CLIPPING, METHODS

ROOT = Path(__file__).resolve().parents[2]

ROW = re.compile(
    r"^    ([a-z0-9-]+) +([a-z-]+:\S+|-) +([\d,]+) +([\d,]+|-) +([\d,]+) +([\d,]+)$", re.MULTILINE
)
COLUMNS = ("1e-3", "1e-6", "rounds", "gradients")


def test_the_table_of_the_readme_is_that_of_its_picture():
    rows = ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(rows) == 5
    shown = numbers_of(ROOT / "docs" / "demo.png")
    for method, sent, *told in rows:
        (costs,) = (
            costs for name, costs in shown.items()
            if name == f"{method} {sent}" or (sent == "-" and name.startswith(f"{method} "))
        )  # fmt: skip
        assert costs == dict(zip(COLUMNS, told, strict=True)), method


def test_the_demonstration_shows_every_method():
    shown = numbers_of(ROOT / "docs" / "demo.png")
    assert sorted(name.split()[0] for name in shown) == sorted(METHODS)


@pytest.fixture
def figure_1():
    """The medians of Figure 1 (b), infinite where a curve does not arrive."""
    shown = numbers_of(ROOT / "docs" / "figure1.png")
    return {
        name: {key: float(told.replace(",", "").replace("-", "inf")) for key, told in costs.items()}
        for name, costs in shown.items()
    }


@pytest.mark.parametrize("page", ["README.md", "docs/papers.md"])
def test_what_pages_say_of_figures_is_what_was_judged(page):
    told = (ROOT / page).read_text(encoding="utf-8")
    figures = numbers_of(ROOT / "docs" / "figure1.png", VERDICTS)
    assert {figure["figure"] for figure in figures} <= {f"figure{k}-paper" for k in FIGURES}
    assert filled(told, blocks(figures)) == told
    assert told.count(": make pictures -->") == 1
    assert filled(told, dict.fromkeys(blocks(figures), "other")) != told


def test_what_the_readme_says_of_5gcs_cc_is_in_figure_1(figure_1):
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    locodl, others, ours = (
        figure_1[f"{name} rand-k:1+natural"]["1e-5"]
        for name in ("locodl[published]", "5gcs-cc[5gcs-adaptive]", "5gcs-cc[ours-adaptive]")
    )
    assert f"LoCoDL needs {locodl:,.0f} bits, 5GCS-CC {others:,.0f} with the constants" in readme
    assert f"and {ours:,.0f} with ours" in readme


def test_ours_and_theirs_are_both_in_figure_1(figure_1):
    constants = {"locodl": ("published", "ours"), "5gcs-cc": ("5gcs-adaptive", "ours-adaptive")}
    for method, rules in constants.items():
        for rule in rules:
            assert np.isfinite(figure_1[f"{method}[{rule}] rand-k:1+natural"]["1e-5"])


def test_numbers_in_a_picture_are_those_of_its_record(tmp_path):
    counted = {"rounds": [1.0, 2.0, 3.0], "gradients": [4.0, None, None]}
    costs = {"1e-3": {"bits": [1000.0, 3000.0, None]}, "1e-6": {"bits": [None, None, 1.0]}}
    costs = {target: each | counted for target, each in costs.items()}
    curve = {"method": "gd", "rule": None, "specification": {"compressor": "identity"}}
    panel = {"targets": ["1e-3", "1e-6"], "curves": [curve | {"costs": costs}]}
    write_record(tmp_path / "a.json", {"panels": [panel]})
    Canvas().savefig(tmp_path / "a.png")
    stamped(tmp_path / "a.png", tmp_path / "a.json", tmp_path / "b.png")
    told = {"1e-3": "3,000", "1e-6": "-", "rounds": "2", "gradients": "-"}
    assert numbers_of(tmp_path / "b.png") == {"gd identity": told}


def oklab(colour):
    """Return a colour where distances are those that people see (Ottosson, 2020)."""
    rgb = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    rgb = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    cones = np.array([[0.4122214708, 0.5363325363, 0.0514459929],
                      [0.2119034982, 0.6806995451, 0.1073969566],
                      [0.0883024619, 0.2817188376, 0.6299787005]])  # fmt: skip
    axes = np.array([[0.2104542553, 0.7936177850, -0.0040720468],
                     [1.9779984951, -2.4285922050, 0.4505937099],
                     [0.0259040371, 0.7827717662, -0.8086757660]])  # fmt: skip
    return axes @ np.cbrt(cones @ rgb)


@pytest.mark.parametrize("cards", [METHODS, CLIPPING])
def test_methods_of_one_figure_have_colours_that_differ(cards):
    seen = {name: oklab(card.colour) for name, card in cards.items()}
    pairs = combinations(seen, 2)
    assert not [pair for pair in pairs if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < 0.06]
