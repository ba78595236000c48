"""The pictures of the README, each with its numbers inside: ``make pictures``.

The numbers are a text of the PNG file, so that a test can hold the README against its pictures.
"""

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, PngImagePlugin

from certibit.figures.locodl.recipes import demonstration, paper_figure
from certibit.figures.locodl.reproduction import reproduce
from certibit.figures.text.tables import count_text, late_median

DOCS = Path(__file__).resolve().parents[1]
NUMBERS = "certibit"
"""The name of the text in a picture."""


def numbers(record: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return by curve of a figure's record its median bits to each target, as a table has them."""
    return {
        f"{curve['method']} {curve['specification']['compressor']}": {
            target: count_text(late_median(np.array(costs["bits"], dtype=float)))
            for target, costs in curve["costs"].items()
        }
        for panel in record["panels"]
        for curve in panel["curves"]
    }


def stamped(picture: Path, record: Path, target: Path) -> None:
    """Write a picture with the numbers of its record in it."""
    text = PngImagePlugin.PngInfo()
    text.add_text(NUMBERS, json.dumps(numbers(json.loads(record.read_text(encoding="utf-8")))))
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
    for name, figure in shown.items():
        reproduce([figure], results)
        drawn = results / figure.name
        stamped(drawn.with_suffix(".png"), drawn.with_suffix(".json"), DOCS / f"{name}.png")
    shutil.copy(results / "episode" / "episode-figure3.png", DOCS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
