"""The charts of the page, from what has been written about figures, theorems and certificates."""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from certibit.figures.checks.captions import scaling_setting, standard_setting
from certibit.figures.costs import percentiles
from certibit.figures.looks import method_label, method_look
from certibit.figures.report.chart import Chart, Series
from certibit.figures.text.tables import late_median
from certibit.solvers.total_bits import bits_name, total_bits
from certibit.theory.checks.scaling import ACCURACY

Record = Mapping[str, Any]

FAMILIES = {
    "worst-case-like": ("#D55E00", "circle"),
    "heterogeneous": ("#0072B2", "square"),
    "logistic": ("#009E73", "triangle"),
}
"""Colour and marker of each kind of problem on which theorems are checked."""
GAP = "f − f*"
_LEAST = 1e-100
"""Smaller decreases are not drawn."""
_MARKS = "circle", "x"
"""Of even and odd seeds."""


def median(costs: Sequence[float | None]) -> float:
    """Return the median over the seeds, infinite where half of the runs or more never arrive."""
    return late_median(np.array(costs, dtype=float))


def panel_chart(panel: Record, labels: Collection[str] = ()) -> Chart:
    """Draw what each accuracy costs all curves of a panel, or those of some labels.

    The bits of every seed go with it: the script of the page makes the lines of another weight of
    a bit received from them.
    """
    weight = panel["downlink_weight"]
    series = []
    for curve in panel["curves"]:
        if labels and curve["label"] not in labels:
            continue
        line = curve["line"]
        up, down = (np.array(line[name], dtype=np.float64) for name in ("bits", "downlink bits"))
        low, median, high = percentiles(total_bits(up, down, weight).T)
        series.append(
            Series(
                curve["label"], median.tolist(), line["accuracy"], low.tolist(), high.tolist(),
                curve["colour"], runs={"up": line["bits"], "down": line["downlink bits"]},
            )
        )  # fmt: skip
    counted = bits_name(weight)
    return Chart(
        f"{panel['title']}: {panel['measure']} against bits",
        panel_caption(panel), counted, panel["measure"].replace("-", "−"), tuple(series),
        bottom=panel["floor"], across=True,
    )  # fmt: skip


def panel_caption(panel: Record) -> str:
    """Say what a panel shows: data, n, d, kappa, seeds, what is counted, what lines are."""
    parts = [f"{panel['problem']}, n = {panel['n']}, d = {panel['d']}"]
    if panel["kappa"]:
        parts.append(f"kappa = {panel['kappa']:g}")
    seeds = panel["seeds"]
    parts.append(
        f"{seeds} seeds: lines are medians of what each accuracy costs, bands 10 to 90 %"
        if seeds > 1
        else "one seed"
    )
    return (
        f"{', '.join(parts)}. Counted are bits per client, as messages are encoded. "
        "A line ends above the floor where half of the runs or more have ended there."
    )


def slider_place(weight: float) -> int:
    """Return the place of a weight of a bit received on the slider, which ``report.js`` reads."""
    return min(100, max(0, round(20 * (math.log10(weight) + 4)))) if weight else 0


def looseness_chart(rows: Sequence[Record]) -> Chart:
    """Draw promised over measured bits, a row per theorem."""
    titles = tuple(dict.fromkeys(row["theorem"] for row in rows))[::-1]
    quantity = "bits, promised / measured"
    series = []
    for family, (colour, mark) in FAMILIES.items():
        some = [row for row in rows if row["family"] == family and row[quantity]]
        places = [titles.index(row["theorem"]) for row in some]
        series.append(
            Series(family, [row[quantity] for row in some], places, colour=colour, mark=mark)
        )
    counted = bits_name(rows[0]["downlink_weight"])
    return Chart(
        "How loose the theorems are",
        "A mark is a theorem on quadratics that are hard for all methods, on quadratics of unlike "
        "clients, or on logistic regression of breast-cancer; "
        f"{standard_setting(rows[0]['seeds'])}. Measured bits are medians over the seeds. At the "
        "line, a run needs all the bits that are promised.",
        f"{counted}: promised / measured", "", tuple(series),
        rows=titles, lines=(1.0,),
    )  # fmt: skip


def rounds_chart(panel: Record) -> Chart:
    """Draw f - f* against rounds for clipped methods."""
    series = tuple(
        Series(
            f"{each['label']}, eta = {each['eta']:g}{'' if each['clips'] else ', does not clip'}",
            each["rounds"], each["median"], each["low"], each["high"], each["colour"],
        )
        for each in panel["series"]
    )  # fmt: skip
    caption = (
        f"n = {panel['n']}, d = {panel['d']}, {panel['participants']} clients a round, "
        f"{panel['local steps']} local steps; every method at the best step size and threshold of "
        f"its grid; {panel['series'][0]['seeds']} seeds: lines are medians, bands 10 to 90 %. "
        "There is no kappa: the functions are (L0, L1)-smooth."
    )
    return Chart(panel["title"], caption, "rounds", GAP, series)


def training_charts(panel: Record) -> list[Chart]:
    """Draw the loss of a network against rounds and bits, and |Hess f_i| where it was measured."""
    where = (
        f"{panel['problem']} ({panel['label']}), n = {panel['n']}, d = {panel['d']}, {panel['m']} "
        f"examples of a client, {panel['steps']} local steps"
    )
    caption = (
        f"{where}; every method at the best step size and threshold of its grid; {panel['seeds']} "
        "seeds: lines are medians, bands 10 to 90 %. Losses above twice the first are left out."
    )
    charts = [
        Chart(
            f"Training loss against {spent}: {panel['title']}", caption, spent, "training loss",
            tuple(_training(curve, axis) for curve in panel["curves"]),
        )
        for axis, spent in {"rounds": "rounds", "bits": "bits sent by a client"}.items()
    ]  # fmt: skip
    if not panel["norms"]:
        return charts
    series = []
    for seed, one in enumerate(panel["norms"]):
        x, y = (np.array(one[of], dtype=float).ravel().tolist() for of in ("slopes", "curvatures"))
        series += [
            Series(f"f_i, seed {seed}", x, y, colour="#0072B2", mark=_MARKS[seed % 2]),
            Series(f"f, seed {seed}", one["slope"], one["curvature"], colour="#D55E00",
                   mark=_MARKS[seed % 2]),
        ]  # fmt: skip
    caption = (
        f"{where}; at models of trainings by EPISODE with {len(panel['norms'])} seeds: a mark for "
        "every model and client, and for every model of f."
    )
    title = f"Spectral norm of the Hessian against the gradient's norm: {panel['title']}"
    return [*charts, Chart(title, caption, "|∇f|", "|∇²f|", tuple(series))]


def _training(curve: Record, axis: str) -> Series:
    """Return the losses of a method over what they cost, without what is far above the first."""
    found = percentiles(np.array(curve["loss"], dtype=float).T)
    low, median, high = np.where(found > 2 * found[1, 0], np.inf, found).tolist()
    label = f"{curve['label']}, eta = {curve['eta']:g}"
    return Series(label, curve[axis], median, low, high, curve["colour"])


def scaling_charts(fits: Sequence[Record]) -> list[Chart]:
    """Draw the measured bits against each quantity, with the table's exponent."""
    charts = []
    for quantity in dict.fromkeys(fit["quantity"] for fit in fits):
        some = [fit for fit in fits if fit["quantity"] == quantity]
        series = tuple(
            Series(
                f"{method_label(fit['method'])}: measured {fit['exponent']:.2f}, "
                f"table {fit['table']:.2f}",
                fit["values"], fit["bits"], colour=method_look(fit["method"])[0],
            )
            for fit in some
        )  # fmt: skip
        counted = bits_name(some[0]["downlink_weight"])
        caption = (
            "Quadratics whose clients share their eigenvectors; "
            f"{'; '.join(scaling_setting(some))}. Bits until f - f* <= {ACCURACY:g} (mu/2) |x_0 - "
            "x*|^2, medians over the seeds. The legend has the fitted exponent beside that of the "
            "table."
        )
        charts.append(Chart(f"Bits against {quantity}", caption, quantity, counted, series))
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
            centre = next((rate for rate in rates if not rate["varied"]), rates[0])
            caption = (
                f"All functions and compressors of a class with n = {centre['n']}, kappa = "
                f"{centre['kappa']:g}, omega = {centre['omega']:g}, but for what varies; proved: "
                "there are no data and no seeds."
            )
            charts.append(
                Chart(
                    f"Certified over published decrease, against {label}",
                    caption,
                    label,
                    "certified / published",
                    tuple(series),
                )
            )
    return charts


def savings_chart(savings: Sequence[Record]) -> Chart:
    """Draw how many times fewer bits certified parameters need, measured."""
    panels = tuple(dict.fromkeys(saving["panel"] for saving in savings))[::-1]
    series = []
    for method in dict.fromkeys(saving["method"] for saving in savings):
        some = [
            s for s in savings if s["method"] == method and s["measured"] and s["measured_optimal"]
        ]
        series.append(
            Series(
                method_label(method),
                [s["measured"] / s["measured_optimal"] for s in some],
                [panels.index(s["panel"]) for s in some],
                colour=method_look(method)[0],
                mark="circle",
            )
        )
    counted = bits_name(savings[0]["downlink_weight"])
    return Chart(
        "Bits saved by certified parameters, measured",
        "Median bits with the parameters of the paper over those with certified ones, on the "
        "panels of Figures 1 to 4 or on embedded data. At the line, they are the same.",
        f"times fewer {counted}", "",
        tuple(series), rows=panels, lines=(1.0,),
    )  # fmt: skip
