"""The charts of the page, from what has been written about figures, theorems and certificates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from certibit.figures.looks import method_label, method_look
from certibit.figures.report.chart import Axis, Chart, Numbers, Series
from certibit.figures.text.tables import count_text, late_median
from certibit.solvers.total_bits import bits_name, total_bits

Record = Mapping[str, Any]

FAMILIES = {
    "worst-case-like": ("#D55E00", "●"),
    "heterogeneous": ("#0072B2", "■"),
    "logistic": ("#009E73", "▲"),
}
"""Colour and mark of each kind of problem on which theorems are checked."""
_LEAST = 1e-100
"""Smaller decreases are not drawn."""
_LINE = 0.7
"""A panel starts where the fastest curve has come down to so much of where it was."""


def median(costs: Sequence[float | None]) -> float:
    """Return the median over the seeds, infinite where half of the runs or more never arrive."""
    return late_median(np.array(costs, dtype=float))


def panel_chart(panel: Record, key: str) -> Chart:
    """Draw f - f* against the bits of all curves.

    The best of every method is named at its end, if its line comes down to the target.
    """
    target, weight = panel["targets"][-1], panel["downlink_weight"]
    best: dict[str, tuple[float, int]] = {}
    for place, curve in enumerate(panel["curves"]):
        cost = _cost(curve, target, weight)
        if np.isfinite(cost):
            best[curve["method"]] = min(best.get(curve["method"], (cost, place)), (cost, place))
    named = {place for _, place in best.values() if _arrives(panel["curves"][place], target)}
    series = tuple(
        Series(
            f"{curve['label']}: {_told(curve, target, weight)}",
            curve["line"]["bits"], curve["line"]["median"],
            curve["line"]["low"], curve["line"]["high"],
            curve["colour"], curve["kind"], key=f"{key}-{place}",
            label=f"{curve['label']}: {_told(curve, target, weight)}" if place in named else "",
        )
        for place, curve in enumerate(panel["curves"])
    )  # fmt: skip
    ends = [each.x[-1] for each in series if each.x]
    starts = [_first_below(each.x, each.y, _LINE) for each in series]
    low, high = 0.6 * min(starts), 1.1 * max(end for end in ends if end is not None)
    top = max(y for each in series for y in each.y[:1] if y is not None)
    counted = bits_name(weight)
    return Chart(
        f"{panel['title']}: f - f* against {counted}",
        Axis(counted, low, high),
        Axis("f − f*", panel["floor"], top),
        series,
        key=key,
    )


def beyond_axis(panel: Record) -> list[str]:
    """Return the labels of the curves that get to the target, but beyond where the axis ends."""
    target, weight = panel["targets"][-1], panel["downlink_weight"]
    return [
        f"{curve['label']}: {_told(curve, target, weight)}"
        for curve in panel["curves"]
        if np.isfinite(_cost(curve, target, weight)) and not _arrives(curve, target)
    ]


def _arrives(curve: Record, target: str) -> bool:
    """Whether the line of a curve comes down to a target."""
    return any(value is not None and value <= 1.001 * float(target)
               for value in curve["line"]["median"])  # fmt: skip


def _cost(curve: Record, target: str, downlink: float) -> float:
    """Return the median over the seeds of the bits to a target."""
    costs = curve["costs"][target]
    up, down = (np.array(costs[name], dtype=float) for name in ("bits", "downlink bits"))
    return late_median(total_bits(up, down, downlink))


def _told(curve: Record, target: str, downlink: float) -> str:
    cost = _cost(curve, target, downlink)
    return count_text(cost) if np.isfinite(cost) else f"not to {target}"


def _first_below(x: Numbers, y: Numbers, part: float) -> float:
    first = next((value for value in y if value is not None), 1.0)
    reached = [
        at for at, value in zip(x, y, strict=True) if at and (value or np.inf) < part * first
    ]
    return reached[0] if reached else np.inf


def looseness_chart(rows: Sequence[Record]) -> Chart:
    """Draw promised over measured bits, a row per theorem."""
    titles = tuple(dict.fromkeys(row["theorem"] for row in rows))
    quantity = "bits, promised / measured"
    series = []
    for family, (colour, mark) in FAMILIES.items():
        some = [row for row in rows if row["family"] == family and row[quantity]]
        places = [len(titles) - 1 - titles.index(row["theorem"]) for row in some]
        series.append(
            Series(family, [row[quantity] for row in some], places, colour=colour, mark=mark)
        )
    values = [x for each in series for x in each.x if x]
    counted = bits_name(rows[0]["downlink_weight"])
    axis = Axis(f"{counted}: promised / measured", 0.7, 1.5 * max(values, default=10.0))
    rows_axis = Axis("", -0.7, len(titles) - 0.3, False, titles[::-1])
    return Chart("How loose the theorems are", axis, rows_axis, tuple(series), (1.0,))


def rounds_chart(panel: Record) -> Chart:
    """Draw f - f* against rounds for clipped methods."""
    return _lines(
        panel["title"],
        "rounds",
        "f − f*",
        [
            Series(
                f"{each['label']}, eta = {each['eta']:g}",
                each["rounds"], each["median"], each["low"], each["high"],
                each["colour"], None if each["clips"] else "unclipped",
            )
            for each in panel["series"]
        ],
    )  # fmt: skip


def scaling_charts(fits: Sequence[Record]) -> list[Chart]:
    """Draw the bits against each quantity, relative to the first, with the table's exponent."""
    charts = []
    for quantity in dict.fromkeys(fit["quantity"] for fit in fits):
        some = [fit for fit in fits if fit["quantity"] == quantity]
        charts.append(
            _lines(
                f"Bits against {quantity}",
                quantity,
                bits_name(some[0]["downlink_weight"]),
                [
                    Series(
                        f"{method_label(fit['method'])}: measured {fit['exponent']:.2f}, "
                        f"table {fit['table']:.2f}",
                        fit["values"],
                        fit["bits"],
                        colour=method_look(fit["method"])[0],
                    )
                    for fit in some
                ],
            )
        )
    return charts


def rates_charts(rates: Sequence[Record]) -> list[Chart]:
    """Draw certified over published decrease of each method's first rule, over each axis."""
    charts = []
    for varied, label in {"kappa": "kappa", "omega": "1 + omega", "n": "n"}.items():
        series = []
        for method in dict.fromkeys(rate["method"] for rate in rates):
            rule = next(rate["rule"] for rate in rates if rate["method"] == method)
            points = sorted(
                (rate[varied] + (varied == "omega"), rate["certified"] / rate["published"])
                for rate in rates
                if (rate["method"], rate["rule"], rate["varied"]) == (method, rule, varied)
                and min(rate["certified"] or 0, rate["published"] or 0) > _LEAST
            )  # fmt: skip
            if points:
                x, y = zip(*points, strict=True)
                series.append(
                    Series(f"{method_label(method)}, {rule}", x, y, colour=method_look(method)[0])
                )
        if series:
            charts.append(_lines(f"Over {label}", label, "certified / published", series))
    return charts


def savings_chart(savings: Sequence[Record]) -> Chart:
    """Draw how many times fewer bits certified parameters need, measured."""
    panels = tuple(dict.fromkeys(saving["panel"] for saving in savings))
    series = []
    for method in dict.fromkeys(saving["method"] for saving in savings):
        some = [
            s for s in savings if s["method"] == method and s["measured"] and s["measured_optimal"]
        ]
        series.append(
            Series(
                method_label(method),
                [s["measured"] / s["measured_optimal"] for s in some],
                [len(panels) - 1 - panels.index(s["panel"]) for s in some],
                colour=method_look(method)[0],
                mark=method_label(method)[0],
            )
        )
    values = [x for each in series for x in each.x if x]
    return Chart(
        "Bits saved by certified parameters, measured",
        Axis(
            f"times fewer {bits_name(savings[0]['downlink_weight'])}",
            0.8 * min(values),
            1.25 * max(values),
        ),
        Axis("", -0.7, len(panels) - 0.3, False, panels[::-1]),
        tuple(series),
        (1.0,),
    )


def _lines(title: str, across: str, up: str, series: Sequence[Series]) -> Chart:
    """Return a chart of lines on two logarithmic axes; the second of a colour has dashes."""
    first = {each.colour: each for each in reversed(series)}
    series = [s if first[s.colour] is s else replace(s, kind="again") for s in series]
    xs, ys = ([v for s in series for v in get(s) if v] for get in _COORDINATES)
    return Chart(
        title,
        Axis(across, min(xs) / 1.1, max(xs) * 1.1),
        Axis(up, min(ys) / 1.2, max(ys) * 1.2),
        tuple(series),
    )


_COORDINATES: tuple[Callable[[Series], Numbers], ...] = (lambda s: s.x, lambda s: s.y)
