"""The pictures of README and papers page, and what these say of figures: ``make pictures``.

The numbers are a text of the PNG files, so that a test can hold the pages against them.
"""

import json
import re
import shutil
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, PngImagePlugin

from certibit.data.files.archive import read_record
from certibit.data.terminal import paragraph
from certibit.figures.locodl.claims import DEPENDS, bits_table, claim_groups
from certibit.figures.locodl.recipes import FIGURES, demonstration, paper_figure
from certibit.figures.locodl.reproduction import reproduce, reproduce_paper
from certibit.figures.pool import Work
from certibit.figures.text.tables import count_text, late_median
from certibit.figures.text.verdicts import OWN, SUPPORTED
from certibit.theory.verdict import FAILS, UNDECIDED

DOCS = Path(__file__).resolve().parents[1]
NUMBERS, VERDICTS = "certibit", "certibit verdicts"
"""The names of the texts in a picture."""
FASTEST = "LoCoDL with rand-k and natural compression needs fewer bits"


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
    """Return how a curve is called, such as ``locodl[published] rand-k:1+natural``."""
    rule = f"[{curve['rule']}]" if curve["rule"] else ""
    return f"{curve['method']}{rule} {curve['specification']['compressor']}"


def _median(costs: list[float | None]) -> str:
    return count_text(late_median(np.array(costs, dtype=float)))


def verdicts(judgement: dict[str, Any]) -> list[dict[str, Any]]:
    """Return of every judged figure its table of bits, and panels, claims and verdicts."""
    return [
        {
            "figure": figure["figure"],
            "table": bits_table(figure),
            "claims": [
                {"panel": name, **{key: each[key] for key in ("claim", "outcome", "verdict")}}
                for name, claims in claim_groups(figure)
                for each in claims
                if each["source"] != OWN.place
            ],
        }
        for figure in judgement["figures"]
    ]


SHORT = {
    " to 1e-3 and 1e-5": "",
    "with rand-k and natural compression needs fewer bits than all other algorithms":
        "needs the fewest bits",
    " with the same kind of compressor": "",
    ": within a factor of 1.25 to 1e-5": "",
    " needs fewer bits to 1e-5 for larger n": "",
    "constants of 5GCS for 5GCS-CC": "5GCS-CC (5GCS)",
    "our constants for 5GCS-CC": "5GCS-CC (ours)",
    "constants of arXiv:1905.11261 for DIANA": "DIANA",
    "constants of arXiv:1901.09269 for DIANA": "DIANA (b)",
    "bits of the ": "",
    " of ADIANA": "",
    " data": "",
}  # fmt: skip
"""What a page leaves out of claims and verdicts, or explains before them."""


def _listed(figure: dict[str, Any]) -> list[str]:
    """Return a line for every claim and verdict of a figure, with the panels that have it."""
    panels: dict[str, list[str]] = {}
    larger: dict[str, list[str]] = {}
    for each in figure["claims"]:
        claim, verdict = each["claim"], each["verdict"]
        for long, short in SHORT.items():
            claim, verdict = claim.replace(long, short), verdict.replace(long, short)
        verdict = re.sub(r" under all \d+ choices", "", verdict)
        if each["panel"].startswith("("):
            panels.setdefault(f"{claim}: *{verdict}*", []).append(each["panel"].split(" ")[0])
        else:
            larger.setdefault(verdict, []).append(claim)
    return [
        *(f"* {' '.join(names)} {verdict}" for verdict, names in panels.items()),
        *(f"* fewer bits for larger n, {', '.join(c)}: *{v}*" for v, c in larger.items()),
    ]


def blocks(figures: list[dict[str, Any]]) -> dict[str, str]:
    """Write what README and papers page say of judged figures, by the name of the block."""
    parts, names = [], [figure["figure"].split("-")[0].removeprefix("figure") for figure in figures]
    for name, figure in zip(names, figures, strict=True):
        rows = [f"    {line}".rstrip() for line in figure["table"].splitlines()]
        parts.append("\n".join([f"**Figure {name}**", "", *rows, "", *_listed(figure)]))
    claims = [each for figure in figures for each in figure["claims"]]
    counts = Counter(each["outcome"] for each in claims)
    fastest = Counter(each["outcome"] for each in claims if each["claim"].startswith(FASTEST))
    told = (
        f"Of {len(claims)} claims about the {fastest.total()} panels of Figures "
        f"{', '.join(names)}, {counts[SUPPORTED]} are supported under every choice "
        "that the paper leaves open, "
        f"{counts[DEPENDS]} depend on a choice, {counts[FAILS]} fail under every one, and "
        f"{counts[UNDECIDED]} are undecided. That LoCoDL with rand-k and natural compression needs "
        f"the fewest bits is supported in {fastest[SUPPORTED]} panels, depends on a choice in "
        f"{fastest[DEPENDS]}, and fails in {fastest[FAILS]}."
    )
    return {"figures": "\n\n".join(parts), "claims": paragraph(told)}


def filled(page: str, texts: dict[str, str]) -> str:
    """Return a page with its generated blocks written anew, each between two comments."""
    for name, text in texts.items():
        ends = rf"(<!-- {name}: make pictures -->\n).*?(<!-- end -->)"
        page = re.sub(
            ends, lambda found, text=text: f"{found[1]}{text}\n{found[2]}", page, flags=re.DOTALL
        )
    return page


def stamped(picture: Path, record: Path, target: Path, said: Any = None) -> None:
    """Write a picture with the numbers of its record in it, and what is said of figures."""
    text = PngImagePlugin.PngInfo()
    text.add_text(NUMBERS, json.dumps(numbers(read_record(record))))
    if said is not None:
        text.add_text(VERDICTS, json.dumps(said))
    with Image.open(picture) as image:
        image.save(target, pnginfo=text, dpi=image.info.get("dpi"))


def numbers_of(picture: Path, name: str = NUMBERS) -> Any:
    """Return the numbers that a picture has in it, or what is said of figures."""
    with Image.open(picture) as image:
        return json.loads(image.info[name])


def main(results: Path) -> None:
    """Draw the pictures from what has been run; what is missing is run."""
    reproduce_paper(FIGURES, Work(results), versions=["paper"])
    said = verdicts(read_record(results / "verdicts.json"))
    paper = paper_figure(1, "paper")
    shown = {
        "demo": demonstration(),
        "figure1": replace(paper, name="picture-figure1", panels=paper.panels[1:]),
    }
    for picture, figure in shown.items():
        reproduce([figure], Work(results))
        drawn = results / figure.name
        told = said if picture == "figure1" else None
        png, record = drawn.with_suffix(".png"), drawn.with_suffix(".json")
        stamped(png, record, DOCS / f"{picture}.png", told)
    for page in (DOCS / "papers.md", DOCS.parent / "README.md"):
        page.write_text(filled(page.read_text(encoding="utf-8"), blocks(said)), encoding="utf-8")
    shutil.copy(results / "episode" / "episode-figure3.png", DOCS)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
