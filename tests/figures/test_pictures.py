"""Pictures of the README show what the README says, in colours that differ."""

import json
import re
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Canvas

from certibit.theory.cards.catalogue import METHODS

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs" / "making"))
from pictures import numbers_of, stamped  # noqa: E402  (a script beside the docs)

ROW = re.compile(
    r"^    ([a-z0-9-]+) +([a-z-]+:\S+|-) +([\d,]+) +([\d,]+|-) +[\d,]+ +[\d,]+$", re.MULTILINE
)


def test_the_table_of_the_readme_is_that_of_its_picture():
    rows = ROW.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(rows) == 5
    shown = numbers_of(ROOT / "docs" / "demo.png")
    for method, sent, coarse, fine in rows:
        (curve,) = (
            costs for name, costs in shown.items()
            if name == f"{method} {sent}" or (sent == "-" and name.startswith(f"{method} "))
        )  # fmt: skip
        assert curve == {"1e-3": coarse, "1e-6": fine}, method


def test_numbers_in_a_picture_are_those_of_its_record(tmp_path):
    costs = {"1e-3": {"bits": [1000.0, 3000.0, None]}, "1e-6": {"bits": [None, None, 1.0]}}
    curve = {"method": "gd", "specification": {"compressor": "identity"}, "costs": costs}
    (tmp_path / "a.json").write_text(json.dumps({"panels": [{"curves": [curve]}]}))
    Canvas().savefig(tmp_path / "a.png")
    stamped(tmp_path / "a.png", tmp_path / "a.json", tmp_path / "b.png")
    assert numbers_of(tmp_path / "b.png") == {"gd identity": {"1e-3": "3,000", "1e-6": "-"}}


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


def test_methods_of_one_figure_have_colours_that_differ():
    seen = {name: oklab(card.colour) for name, card in METHODS.items()}
    alike = [
        (one, other)
        for one, other in combinations(seen, 2)
        if np.linalg.norm(seen[one] - seen[other]) < 0.06
    ]
    assert not alike
