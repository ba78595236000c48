"""Figures of certified against published rates, and of the bits saved."""

from collections.abc import Sequence
from pathlib import Path

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullLocator

from certibit.figures.certified.parameter_contest import Saving
from certibit.figures.certified.rates import CENTRE, Rate
from certibit.figures.drawing import STYLE, save
from certibit.figures.looks import method_label, method_look

AXES = {"kappa": "kappa", "omega": "1 + omega", "n": "n"}


def draw_rates(measured: Sequence[Rate], folder: Path) -> list[Path]:
    """Draw certified over published decrease of each method's first rule, over all three axes."""
    with style.context(STYLE):
        canvas = Canvas(figsize=(9.5, 3.4), layout="constrained")
        places = canvas.subplots(1, 3, sharey=True)
        for place, (name, label) in zip(places, AXES.items(), strict=True):
            for method in dict.fromkeys(rate.method for rate in measured):
                rule = next(rate.rule for rate in measured if rate.method == method)
                points = [
                    (getattr(rate, name) + (name == "omega"), rate.looseness)
                    for rate in measured
                    if (rate.method, rate.rule, rate.varied) == (method, rule, name)
                    and rate.looseness > 0
                ]
                if points:
                    colour, marker = method_look(method)
                    place.plot(
                        *zip(*sorted(points), strict=True),
                        color=colour,
                        marker=marker,
                        label=method_label(method),
                    )
            _logarithmic(place)
            place.set_xlabel(label)
        n, kappa, omega = CENTRE
        places[0].set_ylabel("certified / published (1 - factor)")
        canvas.suptitle(f"around n = {n}, kappa = {kappa:g}, omega = {omega:g}", fontsize="medium")
        handles = {
            text: handle
            for place in places
            for handle, text in zip(*place.get_legend_handles_labels(), strict=True)
        }
        canvas.legend(handles.values(), handles.keys(), loc="outside right upper")
        return save(canvas, folder, "looseness")


def draw_savings(savings: Sequence[Saving], folder: Path, downlink: float = 0.0) -> list[Path]:
    """Draw for each panel and method how many times fewer bits are promised and measured."""
    counted = f"bits up + {downlink:g} down" if downlink else "bits"
    with style.context(STYLE):
        panels = list(dict.fromkeys(saving.panel for saving in savings))
        methods = list(dict.fromkeys(saving.method for saving in savings))
        canvas = Canvas(figsize=(7.5, 1.2 + 0.55 * len(panels)), layout="constrained")
        places = canvas.subplots(1, 2, sharex=True, sharey=True)
        for place, name in zip(places, ("promised", "measured"), strict=True):
            for position, method in enumerate(methods):
                points = [
                    (getattr(saving, f"{name}_saving"), panels.index(saving.panel))
                    for saving in savings
                    if saving.method == method
                ]
                colour, marker = method_look(method)
                shift = 0.12 * (position - (len(methods) - 1) / 2)
                place.plot(
                    [x for x, _ in points],
                    [y + shift for _, y in points],
                    linestyle="",
                    color=colour,
                    marker=marker,
                    label=method_label(method),
                )
            place.axvline(1.0, color="0.6", linewidth=0.8)
            _logarithmic(place)
            place.set_xlabel(f"times fewer {counted}, {name}")
        places[0].set_yticks(range(len(panels)), panels)
        places[0].invert_yaxis()
        canvas.legend(*places[0].get_legend_handles_labels(), loc="outside right upper")
        return save(canvas, folder, "savings")


def _logarithmic(place: Axes) -> None:
    place.set_xscale("log")
    place.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0)))
    place.xaxis.set_major_formatter("{x:g}")
    place.xaxis.set_minor_locator(NullLocator())
