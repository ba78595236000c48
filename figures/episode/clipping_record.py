"""The comparisons of clipped methods as JSON values: medians and bands against rounds."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from certibit.figures.bands import BAND
from certibit.figures.episode.clipping_drawing import smoothed
from certibit.figures.episode.tuning import LOCAL_STEPS, PROBLEMS, Best, Contest, Results
from certibit.figures.episode.tunings import TUNINGS
from certibit.figures.text.tables import json_number

Comparison = tuple[str, Contest, Results, int]
"""Title, contest, results and the place of the value of its axis."""
_POINTS, _SMALLEST, _LARGEST = 120, 1e-300, 1e300


def contest_records(panels: Sequence[Comparison]) -> list[dict[str, Any]]:
    """Return what panels of a comparison show, as strict JSON values."""
    return [_panel(*panel) for panel in panels]


def _panel(title: str, contest: Contest, results: Results, value: int) -> dict[str, Any]:
    solved = PROBLEMS[contest.problem](np.full((1, 1, 1), contest.values[value]))
    return {
        "title": f"{contest.problem}, {title}",
        "n": solved.n,
        "d": solved.d,
        "participants": contest.participants or solved.n,
        "local steps": LOCAL_STEPS,
        "series": [_series(name, bests[value]) for name, bests in results.items()],
    }


def _series(name: str, best: Best) -> dict[str, Any]:
    tuning = TUNINGS[name]
    kept = np.unique(np.geomspace(1, best.rounds.size, _POINTS).astype(int)) - 1
    kept = kept[best.rounds[kept] > 0]
    gap = np.clip(smoothed(best.rounds, best.gap)[kept], _SMALLEST, _LARGEST)
    low, median, high = np.percentile(gap, (BAND[0], 50, BAND[1]), axis=1)
    lines = {"median": median, "low": low, "high": high}
    return {
        "label": tuning.label,
        "method": name,
        "colour": tuning.colour,
        "clips": tuning.clips,
        "eta": best.eta,
        "tau": json_number(best.tau),
        "seeds": best.gap.shape[1],
        "rounds": best.rounds[kept].tolist(),
        **{key: json_number([float(f"{x:.4g}") for x in line]) for key, line in lines.items()},
    }
