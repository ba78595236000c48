"""Certified against published: rates of all methods, and bits saved by certified parameters."""

import math
from collections.abc import Callable
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

from certibit.data.files.cache import write_text
from certibit.data.files.records import write_record
from certibit.data.terminal import for_terminal
from certibit.figures.certified.certified_drawing import draw_rates, draw_savings
from certibit.figures.certified.certified_tables import (
    gains_table,
    measured_table,
    rates_table,
    savings_table,
)
from certibit.figures.certified.measured_bits import Runs
from certibit.figures.certified.parameter_contest import Saving, parameter_contests
from certibit.figures.certified.potential_gains import PotentialGain, PotentialGains
from certibit.figures.certified.rates import Rate, Rates
from certibit.figures.places.delivery import Place, Traceable
from certibit.figures.pool import traces
from certibit.solvers.runs.budget import Budget
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.catalogue import METHODS, SHARED_MINIMISER


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
