"""Draws what accuracies cost: a curve per contestant, named where it ends, the best on top."""

import textwrap
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.figure import Figure as Canvas

from certibit.figures.comparison.contestants import Contestant
from certibit.figures.costs import CostCurve
from certibit.figures.drawing import STYLE, require_format, write_canvas
from certibit.figures.looks import distinct_looks
from certibit.figures.named_curves import draw_named, named_height

_LINES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1.2, 1.4)), (0, (5, 1.6, 1.2, 1.6)), (0, (9, 2)))
"""Line styles of contestants of one colour."""
_MEASURES = {"gap": r"$f(x) - f^\star$", "squared_gradient": r"$|\nabla f(x)|^2$"}
"""Labels of the axis of accuracies."""
_WIDTH = 5.5
"""Inches of the figure."""


def draw_cost_curves(
    contestants: Sequence[Contestant],
    curves: Sequence[CostCurve],
    *,
    quantity: str,
    measure: str = "gap",
    title: Sequence[str],
) -> Canvas:
    """Draw a measure against a quantity, with medians, bands and names; ``title`` is in lines."""
    labels = [contestant.label for contestant in contestants]
    with style.context(STYLE):
        canvas = Canvas(figsize=(_WIDTH, named_height(len(curves))), layout="constrained")
        place = canvas.subplots()
        place.set_title("\n".join(textwrap.fill(line, 90) for line in title), parse_math=False)
        place.set_xlabel(quantity)
        place.set_ylabel(_MEASURES[measure])
        draw_named(canvas, place, labels, _looks(contestants), curves)
    return canvas


def save_cost_curves(draw: Callable[[], Canvas], path: Path) -> Path:
    """Write a figure in the format of its file; another than SVG and PNG is refused at once."""
    require_format(path)
    canvas = draw()
    with style.context(STYLE):
        return write_canvas(canvas, path)


def _looks(contestants: Sequence[Contestant]) -> list[dict[str, Any]]:
    """Return colours and markers of the cards; contestants of one colour differ in the line."""
    looks = []
    lines: dict[str, Iterator[Any]] = {}
    for colour, marker in distinct_looks([contestant.card for contestant in contestants]):
        line = next(lines.setdefault(colour, cycle(_LINES)))
        looks.append({"color": colour, "marker": marker, "linestyle": line})
    return looks
