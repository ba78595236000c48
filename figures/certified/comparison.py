"""Certified against published: rates of all methods, and bits saved by certified parameters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import LogLocator, NullLocator

from certibit.data.files.cache import write_text
from certibit.data.files.records import write_record
from certibit.data.terminal import for_terminal
from certibit.figures.certified.certified_tables import (
    gains_table,
    measured_table,
    rates_table,
    savings_table,
)
from certibit.figures.certified.measured_bits import Runs
from certibit.figures.certified.parameter_contest import Saving, parameter_contests
from certibit.figures.certified.potential_gains import PotentialGain, PotentialGains
from certibit.figures.certified.rates import CENTRE, Rate, Rates
from certibit.figures.drawing import STYLE, save
from certibit.figures.looks import method_label, method_look
from certibit.figures.places.delivery import Place, Traceable
from certibit.figures.pool import traces
from certibit.solvers.runs.budget import Budget
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER

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


def certified_comparison(
    folder: Path,
    *,
    seeds: int = 1,
    downlink: float = 0.0,
    fresh: bool = False,
    limits: Budget | None = None,
    processes: int | Place | None = None,
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Compare certified and published rates and parameters; write tables and figures.

    Parameters
    ----------
    folder : Path
        Output folder.
    seeds : int
        Runs of each measurement.
    downlink : float
        The weight of a bit received; with one, total bits are a column.
    fresh : bool
        Whether stored traces are ignored and recomputed.
    limits : Budget, optional
        Limits that end runs before the accuracy that is measured.
    processes : int or Place, optional
        Parallel processes, by default one for every core; or a cluster.
    tell : callable
        Called with the text of each table.

    Returns
    -------
    list of Path
        The files written.
    """
    store = Store(folder / "traces", fresh, limits)
    runs = Runs(seeds, store, downlink)
    contests = parameter_contests(seeds, store, downlink)
    jobs: list[Traceable[Saving | list[Rate] | list[PotentialGain]]] = [
        *contests,
        *map(Rates, [name for name, card in METHODS.items() if card.theorems]),
        *(PotentialGains(method, runs) for method in METHODS | SHARED_MINIMISER),
    ]
    results = [result for _, result in sorted(traces(jobs, processes), key=itemgetter(0))]
    savings = [result for result in results if isinstance(result, Saving)]
    listed = [one for result in results if isinstance(result, list) for one in result]
    measured = [one for one in listed if isinstance(one, Rate)]
    gains = [one for one in listed if isinstance(one, PotentialGain)]

    def text() -> str:
        return "\n\n".join(
            (
                rates_table(measured),
                gains_table(gains),
                measured_table(gains, downlink),
                savings_table(savings, downlink),
            )
        )

    tell(for_terminal(text))
    paths = [
        _write(folder / "rates.json", [asdict(rate) for rate in measured]),
        *draw_rates(measured, folder),
        _write(folder / "potentials.json", [asdict(gain) for gain in gains]),
    ]
    paths += [
        _write(folder / "savings.json", [asdict(saving) for saving in savings]),
        *draw_savings(savings, folder, downlink),
    ]
    write_text(folder / "certified.txt", text())
    tell(f"\nwritten to {folder}")
    return [*paths, folder / "certified.txt"]


def _write(path: Path, rows: list[dict[str, Any]]) -> Path:
    write_record(path, _finite(rows))
    return path


def _finite(value: Any) -> Any:
    if isinstance(value, list):
        return [_finite(each) for each in value]
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
