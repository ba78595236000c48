"""A comparison as JSON values, stored for the report."""

import re
from pathlib import Path
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.files.records import write_record
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.comparison.contestants import Contestant
from certibit.figures.curve_records import figure_record, panel_record
from certibit.figures.looks import distinct_looks


def require_name(name: str) -> None:
    """Refuse a name under which no comparison can be kept."""
    if not re.fullmatch(r"\w[\w-]{0,60}", name):
        raise Refusal(
            f"{name!r} is no name for the report; "
            "give letters, digits and hyphens, such as kappa-100"
        )


def keep_comparison(found: Comparison, name: str, folder: Path, downlink: float = 0.0) -> Path:
    """Write what the report shows of a comparison into a folder of results, and its picture.

    Returns the file of the numbers.

    With a weight of the downlink, it is drawn against total bits.

    Raises
    ------
    Refusal
        If the name is of something else than letters, digits and hyphens, or if a contestant sends
        nothing, so that there are no bits to draw against.
    """
    require_name(name)
    path = folder / "compared" / f"{name}.json"
    write_record(path, _record(found, name, downlink))
    found.save(path.with_suffix(".svg"), "total bits" if downlink else "bits", downlink)
    return path


def _record(found: Comparison, name: str, downlink: float) -> dict[str, Any]:
    pairs = list(zip(found.contestants, found.traces, strict=True))
    for contestant, trace in pairs:
        if not trace.columns["uplink_bits"].any():
            raise Refusal(
                f"{contestant.name} sends nothing, and the report draws against bits; "
                "leave it out, or compare without --report"
            )
    looks = distinct_looks([contestant.card for contestant in found.contestants])
    curves = [
        (_look(contestant, look["color"]), trace)
        for (contestant, trace), look in zip(pairs, looks, strict=True)
    ]
    panel = panel_record(
        name, found.problem.name, found.kappa, found.targets[-1], curves, downlink=downlink
    )
    return figure_record(f"compared-{name}", [panel])


def _look(contestant: Contestant, colour: str) -> dict[str, Any]:
    return {
        "label": contestant.label,
        "method": contestant.name,
        "compressor": contestant.compressor.name,
        "rule": contestant.variant or None,
        "colour": colour,
    }
