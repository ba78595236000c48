"""Certified against published: rates of all methods, and bits saved by certified parameters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
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
from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.looks import method_label, method_look
from certibit.figures.places.delivery import Place, Traceable
from certibit.figures.pool import traces
from certibit.solvers.runs.budget import Budget
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER

AXES = {"kappa": "kappa", "omega": "1 + omega", "n": "n"}


def draw_rates(measured: Sequence[Rate], folder: Path) -> list[Path]:
    """Draw certified over published decrease of each method's first rule, over all three axes."""
    n, kappa, omega = CENTRE
    first = {rate.method: rate.rule for rate in reversed(measured)}
    plots: list[Plot] = []
    for name, label in AXES.items():
        lines = []
        for method in dict.fromkeys(rate.method for rate in measured):
            points = sorted(
                (getattr(rate, name) + (name == "omega"), rate.looseness)
                for rate in measured
                if (rate.method, rate.rule, rate.varied) == (method, first[method], name)
                and rate.looseness > 0
            )
            if points:
                x, y = zip(*points, strict=True)
                lines.append(Line(x, y, _look(method)))
        ylabel = "" if plots else "certified / published (1 - factor)"
        plots.append(Plot(lines, "", label, ylabel, finish=_logarithmic))
    title = f"around n = {n}, kappa = {kappa:g}, omega = {omega:g}"
    legend = {"loc": "outside right upper"}
    return draw_plots("looseness", [plots], folder, (9.5, 3.4), legend, title, sharey=True)


def draw_savings(savings: Sequence[Saving], folder: Path, downlink: float = 0.0) -> list[Path]:
    """Draw for each panel and method how many times fewer bits are promised and measured."""
    counted = f"bits up + {downlink:g} down" if downlink else "bits"
    panels = list(dict.fromkeys(saving.panel for saving in savings))
    methods = list(dict.fromkeys(saving.method for saving in savings))

    def finish(place: Axes) -> None:
        place.axvline(1.0, color="0.6", linewidth=0.8)
        _logarithmic(place)
        place.set_yticks(range(len(panels)), panels)
        place.set_ylim(max(place.get_ylim()), min(place.get_ylim()))

    plots = []
    for name in ("promised", "measured"):
        lines = []
        for position, method in enumerate(methods):
            shift = 0.12 * (position - (len(methods) - 1) / 2)
            some = [saving for saving in savings if saving.method == method]
            x = [getattr(saving, f"{name}_saving") for saving in some]
            y = [panels.index(saving.panel) + shift for saving in some]
            lines.append(Line(x, y, _look(method) | {"linestyle": ""}))
        xlabel = f"times fewer {counted}, {name}"
        plots.append(Plot(lines, "", xlabel, finish=finish))
    size, legend = (7.5, 1.2 + 0.55 * len(panels)), {"loc": "outside right upper"}
    return draw_plots("savings", [plots], folder, size, legend, sharex=True, sharey=True)


def _look(method: str) -> dict[str, Any]:
    colour, marker = method_look(method)
    return {"color": colour, "marker": marker, "label": method_label(method)}


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
