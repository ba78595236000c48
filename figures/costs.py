"""Costs of runs to accuracies: medians and 10-90 % bands over seeds.

A target that is not reached costs infinity.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.figures.text.tables import short_cost
from certibit.solvers.network import Network
from certibit.solvers.runs.trace import SECONDS, Trace
from certibit.solvers.total_bits import bits_name, require_weight, total_bits

BAND = (10.0, 90.0)
"""The percentiles of the band."""
_COLUMNS = {
    "bits": "uplink_bits",
    "busiest bits": "busiest_bits",
    "downlink bits": "downlink_bits",
    "rounds": "rounds",
    "gradients": "gradients",
    SECONDS: SECONDS,
}
QUANTITIES = (*(name for name in _COLUMNS if name != SECONDS), "total bits")
"""Costs that are counted; busiest bits are those of the client who sends most, message by message,
and total bits are bits + downlink * downlink bits. On a network there are modelled seconds, too."""
_LEVELS = 200
"""Accuracies of a curve."""
_NEVER = 1e300
_EXACT = 1_000_000


@dataclass(frozen=True)
class Spread:
    """Median and 10-90 % band of costs over seeds; infinite if too many runs miss the target.

    Attributes
    ----------
    median, low, high : float
        Percentiles 50, 10 and 90, linear between runs.
    """

    median: float
    low: float
    high: float


@dataclass(frozen=True)
class CostCurve:
    """The cost of each accuracy, from the first point to the target.

    Attributes
    ----------
    levels : (B,)
        f - f* or |grad f|^2, decreasing.
    median, low, high : (B,)
        Costs; infinite if too many runs miss the accuracy.
    last : float
        Median over the runs of their total cost.
    diverged : bool
        Whether half of the runs have diverged.
    """

    levels: NDArray[np.float64]
    median: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    last: float
    diverged: bool

    @property
    def arrives(self) -> bool:
        """Whether the median run reaches the target."""
        return bool(np.isfinite(self.median[-1]))


def require_quantity(by: str, downlink: float, network: Network | None = None) -> None:
    """Refuse what cannot be counted or modelled, and a weight of the downlink that is none."""
    if by == SECONDS and network is None:
        raise Refusal(
            "seconds are modelled on a network and the comparison has none; compare with network="
        )
    if by not in (*QUANTITIES, SECONDS):
        raise Refusal(f"{by!r} is not counted; choose one of {', '.join((*QUANTITIES, SECONDS))}")
    require_weight(downlink)


def quantity_name(by: str, downlink: float, network: Network | None = None) -> str:
    """Return the label of the axis of a quantity."""
    return {
        "bits": bits_name(0.0),
        "busiest bits": "bits sent by the busiest client of every message",
        "downlink bits": "bits received per client",
        "rounds": "communication rounds",
        "gradients": "gradients evaluated per client",
        "total bits": bits_name(downlink),
        SECONDS: f"seconds, modelled: {network}",
    }[by]


def costs_to(trace: Trace, accuracy: float, by: str, downlink: float) -> NDArray[np.float64]:
    """Return the costs to an accuracy in the measure of the runs, (R,); NaN if not reached."""
    return _counted(lambda column: trace.cost_to(accuracy, column), by, downlink)


def _counted(
    column: Callable[[str], NDArray[np.float64]], by: str, downlink: float
) -> NDArray[np.float64]:
    """Return a quantity computed from the columns of a trace."""
    if by == "total bits":
        return total_bits(column("uplink_bits"), column("downlink_bits"), downlink)
    return column(_COLUMNS[by])


def spread(costs: NDArray[np.float64]) -> Spread:
    """Return the median and the band of costs (R,), with NaN as later than everything."""
    low, median, high = percentiles(costs)
    return Spread(float(median), float(low), float(high))


def cost_curve(trace: Trace, target: float, by: str, downlink: float) -> CostCurve:
    """Return the cost of each accuracy down to the target; tables show its last point."""
    start = float(np.max(trace.columns[trace.measure][trace.columns["iteration"] == 0]))
    levels = np.geomspace(start, target, _LEVELS)
    levels[-1] = target
    low, median, high = percentiles(
        np.array([costs_to(trace, level, by, downlink) for level in levels]).T
    )
    last = _counted(trace.final, by, downlink)
    diverged = 2 * trace.ending.count("diverged") >= len(trace.ending)
    return CostCurve(levels, median, low, high, float(np.median(last)), diverged)


def cost_text(cost: float) -> str:
    """Write a cost in at most seven characters: 20,580 or 1.235M; ``ABSENT`` if it is infinite."""
    return f"{cost:,.0f}" if cost < _EXACT - 0.5 else short_cost(cost, 4)


def band_text(spread: Spread) -> str:
    """Write the band of a spread, such as 19.2k-22.4k; ends that are written alike are one."""
    return "-".join(dict.fromkeys([short_cost(spread.low), short_cost(spread.high)]))


def percentiles(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the percentiles 10, 50 and 90 over the runs, (R, ...) -> (3, ...).

    NaN is later than everything; where too many runs never arrive, a percentile is infinite.
    """
    found = np.percentile(np.nan_to_num(costs, nan=_NEVER), (BAND[0], 50, BAND[1]), axis=0)
    return np.where(found < _NEVER / 1e100, found, np.inf)
