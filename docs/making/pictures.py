"""The pictures of README and papers page, each with its numbers inside: ``make pictures``.

The numbers are a text of the PNG file, so that a test can hold the pages against their pictures.
"""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, PngImagePlugin

from certibit.data.files.archive import read_record
from certibit.figures.locodl.recipes import demonstration, paper_figure
from certibit.figures.locodl.reproduction import reproduce
from certibit.figures.pool import Work
from certibit.figures.text.tables import count_text, late_median

DOCS = Path(__file__).resolve().parents[1]
NUMBERS = "certibit"
"""The name of the text in a picture."""


def numbers(record: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return by curve of a figure's record its medians, as a table has them.

    They are the bits to each target, and the rounds and gradients to the finest.
    """
    return {
        name(curve): {
            **{target: _median(costs["bits"]) for target, costs in curve["costs"].items()},
            **{
                counted: _median(curve["costs"][panel["targets"][-1]][counted])
                for counted in ("rounds", "gradients")
            },
        }
        for panel in record["panels"]
        for curve in panel["curves"]
    }


def name(curve: dict[str, Any]) -> str:
    """Return how a curve is called, such as ``locodl[paper] rand-k:1+natural``."""
    rule = f"[{curve['rule']}]" if curve["rule"] else ""
    return f"{curve['method']}{rule} {curve['specification']['compressor']}"


def _median(costs: list[float | None]) -> str:
    return count_text(late_median(np.array(costs, dtype=float)))


def stamped(picture: Path, record: Path, target: Path) -> None:
    """Write a picture with the numbers of its record in it."""
    text = PngImagePlugin.PngInfo()
    text.add_text(NUMBERS, json.dumps(numbers(read_record(record))))
    with Image.open(picture) as image:
        image.save(target, pnginfo=text, dpi=image.info.get("dpi"))


def numbers_of(picture: Path) -> dict[str, dict[str, str]]:
    """Return the numbers that a picture has in it."""
    with Image.open(picture) as image:
        read: dict[str, dict[str, str]] = json.loads(image.info[NUMBERS])
    return read


def main(results: Path) -> None:
    """Draw the pictures from what has been run; what is missing is run."""
    paper = paper_figure(1, "paper")
    shown = {
        "demo": demonstration(),
        "figure1": replace(paper, name="picture-figure1", panels=paper.panels[1:]),
    }
    for picture, figure in shown.items():
        reproduce([figure], Work(results))
        drawn = results / figure.name
        stamped(drawn.with_suffix(".png"), drawn.with_suffix(".json"), DOCS / f"{picture}.png")
    shutil.copy(results / "episode" / "episode-figure3.png", DOCS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
