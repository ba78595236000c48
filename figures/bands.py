"""The median and the 10-90 % band of several runs on a common grid of bits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.solvers.runs.trace import Trace

POINTS = 250
"""Points of the grid of bits."""
BAND = (10.0, 90.0)
"""The percentiles of the band."""
_SMALLEST, _DIVERGED = 1e-300, 1e300


@dataclass(frozen=True)
class Band:
    """Median and 10-90 % band of f - f* over the runs of a trace.

    Attributes
    ----------
    bits : (B,)
        Uplink or total bits per client, in geometric progression from the first message.
    median, low, high : (B,)
        f - f*; NaN after the first run that ended above the floor.
    """

    bits: NDArray[np.float64]
    median: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def band(trace: Trace, bits: float, floor: float, downlink: float = 0.0) -> Band:
    """Return the median and the 10-90 % band of f - f* over the runs of a trace.

    Between recorded points, log(f - f*) is linear in the bits. A run that has ended at or below
    the floor stays below; one that has diverged counts as infinitely high. Percentiles are those
    of log(f - f*), linear between runs.

    Parameters
    ----------
    trace : Trace
        R runs.
    bits : float
        Upper end of the axis of bits; the grid ends there or with the longest run.
    floor : float
        Lower end of the axis of f - f*. The last point given is the first with a median below.
    downlink : float
        The weight of a bit received in the bits.
    """
    sent = trace.total_bits(downlink)
    end = min(bits, float(np.max(trace.final_bits(downlink))))
    grid = np.geomspace(np.min(sent[sent > 0], initial=end), end, POINTS)
    logs = np.array([_at(trace, run, sent, grid, floor) for run in range(len(trace.seeds))])
    low, median, high = np.percentile(logs, (BAND[0], 50, BAND[1]), axis=0)
    below = np.flatnonzero(median <= np.log10(floor))
    kept = slice(below[0] + 1 if below.size else POINTS)
    with np.errstate(over="ignore"):
        return Band(grid[kept], *(10.0 ** line[kept] for line in (median, low, high)))


def _at(
    trace: Trace, run: int, sent: NDArray[np.float64], grid: NDArray[np.float64], floor: float
) -> NDArray[np.float64]:
    """Return log10(f - f*) of one run on the grid, (B,); ``sent`` are the bits of all points."""
    gap = trace.columns["gap"]
    known = (trace.columns["run"] == run) & np.isfinite(gap)
    logs = np.log10(np.clip(gap[known], _SMALLEST, _DIVERGED))
    if trace.ending[run] == "diverged":
        after = np.log10(_DIVERGED)
    else:
        after = logs[-1] if logs[-1] <= np.log10(floor) else np.nan
    return np.interp(grid, sent[known], logs, right=after)
