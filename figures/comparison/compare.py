"""Compare methods on a problem by what each accuracy costs."""

import os
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal
from bitbound.data.problem import Problem
from bitbound.figures.comparison.contestants import Contestant, Entry, contestants
from bitbound.figures.comparison.costs import (
    QUANTITIES,
    SECONDS,
    Spread,
    cost_curve,
    costs_to,
    quantity_name,
    require_quantity,
    spread,
)
from bitbound.figures.comparison.ranking import ranked, ranking_html, ranking_text
from bitbound.figures.text.tables import WIDTH, accuracy_name, json_number
from bitbound.solvers.backend import host
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.runs.engine import Progress, simulate
from bitbound.solvers.runs.network import Network, network_named
from bitbound.solvers.runs.store import Store
from bitbound.solvers.runs.trace import Trace
from bitbound.solvers.world.experiment import is_convex
from bitbound.theory.cards.coverage import require_theorem
from bitbound.theory.setting import Setting

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

_FINEST = 1e-30  # f - f*


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What each accuracy costs several methods on one problem; made by :func:`compare`.

    What is counted, ``by``, is "bits" (sent per client), "downlink bits" (received per client),
    "rounds", "gradients" (per client) or "total bits", which are bits + downlink * downlink bits.
    "seconds" are modelled from these on the network of the comparison.

    Attributes
    ----------
    problem : Problem
        What all of them minimise.
    contestants : tuple of Contestant
        Who takes part.
    traces : tuple of Trace
        Their runs.
    targets : tuple of float
        Accuracies f - f*, the finest last.
    network : Network or None
        What seconds are modelled on.

    Examples
    --------
    >>> from bitbound import compare, problem
    >>> solved = problem("breast-cancer@9", kappa=100)
    >>> found = compare(solved, ["agd", ("locodl", "rand-k:2+natural")], target=1e-3, seeds=2)
    >>> found.best(by="bits"), found.best(by="rounds")
    (Contestant locodl+rand-k:2+natural, Contestant agd)
    >>> found.best(by="total bits", downlink=1.0)
    Contestant agd
    """

    problem: Problem
    contestants: tuple[Contestant, ...]
    traces: tuple[Trace, ...]
    targets: tuple[float, ...]
    network: Network | None = None

    def costs(
        self, by: str = "bits", target: float | None = None, downlink: float = 0.0
    ) -> dict[str, NDArray[np.float64]]:
        """Return by name what every run costs to a target, by default the finest, (R,) each.

        NaN stands for a run that does not get there.

        Raises
        ------
        Refusal
            If ``by`` is not counted, the weight of the downlink is no number from 0 on, or the
            target is finer than those of the comparison.
        """
        require_quantity(by, downlink, self.network)
        target = self._target(target)
        return {
            contestant.name: costs_to(trace, target, by, downlink, self.network)
            for contestant, trace in self._pairs
        }

    def spreads(
        self, by: str = "bits", target: float | None = None, downlink: float = 0.0
    ) -> dict[str, Spread]:
        """Return by name the median and the 10-90 % band over the seeds; see :meth:`costs`."""
        return {name: spread(costs) for name, costs in self.costs(by, target, downlink).items()}

    def best(
        self, by: str = "bits", downlink: float = 0.0, target: float | None = None
    ) -> Contestant:
        """Return the contestant with the smallest median cost; see :meth:`costs`.

        Raises
        ------
        Refusal
            Also if the median run of none gets to the target.
        """
        target = self._target(target)
        spreads = self.spreads(by, target, downlink).values()
        if not any(np.isfinite(each.median) for each in spreads):
            raise Refusal(
                f"the median run of no contestant gets to {accuracy_name(target)}; "
                "give a coarser target or a larger budget"
            )
        return ranked(self._pairs, target, by, downlink, self.network)[0][0]

    def table(self, downlink: float = 0.0) -> str:
        """Return a text of at most 80 columns: medians of what each target costs.

        The contestants are in the order of their bits, or with a weight of the downlink of their
        total bits, or with a network of their seconds; the band is that of these.
        """
        require_quantity("total bits", downlink)
        blocks = [
            ranking_text(self._pairs, target, downlink, self.network) for target in self.targets
        ]
        heading = textwrap.fill(self._heading, WIDTH, subsequent_indent="  ")
        return "\n\n".join([heading, *blocks])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        names = ", ".join(contestant.name for contestant in self.contestants)
        return f"Comparison of {names}\non {self.problem}"

    def _repr_html_(self) -> str:
        tables = [ranking_html(self._pairs, target, self.network) for target in self.targets]
        return f"<p>{escape(self._heading)}</p>{''.join(tables)}"

    def summary(self, downlink: float = 0.0) -> dict[str, Any]:
        """Return everything as values of strict JSON; null stands for "never"."""
        require_quantity("total bits", downlink)
        return {
            "problem": {"name": self.problem.name, "n": self.problem.n, "d": self.problem.d}
            | {"kappa": self._kappa},
            "seeds": list(self.traces[0].seeds),
            "downlink": downlink,
            "network": None if self.network is None else asdict(self.network),
            "contestants": [
                {
                    "name": contestant.name,
                    "method": contestant.method.name,
                    "parameters": {
                        key: json_number(value) for key, value in asdict(contestant.method).items()
                    },
                    "compressor": contestant.compressor.name,
                    "ending": list(trace.ending),
                    "costs": {
                        accuracy_name(target): {
                            by: _summary(costs_to(trace, target, by, downlink, self.network))
                            for by in self._quantities
                        }
                        for target in self.targets
                    },
                }
                for contestant, trace in self._pairs
            ],
        }

    def to_pandas(self) -> Any:
        """Return a data frame with one row per contestant, target and seed.

        Raises
        ------
        Refusal
            If pandas is not installed.
        """
        try:
            import pandas  # noqa: PLC0415  (optional)
        except ImportError:
            raise Refusal("to_pandas needs pandas; install it: pip install pandas") from None
        counted = [by for by in self._quantities if by != "total bits"]
        rows = []
        for contestant, trace in self._pairs:
            for target in self.targets:
                costs = [costs_to(trace, target, by, 0.0, self.network) for by in counted]
                rows += [
                    {
                        "contestant": contestant.name,
                        "method": contestant.method.name,
                        "compressor": contestant.compressor.name,
                        "target": target,
                        "seed": seed,
                        **dict(zip(counted, values, strict=True)),
                    }
                    for seed, *values in zip(trace.seeds, *costs, strict=True)
                ]
        return pandas.DataFrame(rows)

    def plot(self, x: str = "bits", downlink: float = 0.0) -> "Canvas":
        """Draw f - f* against what it costs: medians and 10-90 % bands over the seeds.

        The horizontal axis is logarithmic where the curves end more than a factor of ten apart.

        Returns
        -------
        matplotlib.figure.Figure
            A curve ends at the number of the table for the finest target.
        """
        from bitbound.figures.comparison.comparison_drawing import (  # noqa: PLC0415  (heavy)
            draw_cost_curves,
        )

        require_quantity(x, downlink, self.network)
        bands = ", 10-90 % bands" if len(self.traces[0].seeds) > 1 else ""
        numbers = f"numbers: to f - f* = {accuracy_name(self.targets[-1])}"
        return draw_cost_curves(
            self.contestants,
            [
                cost_curve(trace, self.targets[-1], x, downlink, self.network)
                for trace in self.traces
            ],
            quantity=quantity_name(x, downlink, self.network),
            title=(self.made, f"{self._over}{bands}; {numbers}"),
        )

    def save(self, path: str | os.PathLike[str], x: str = "bits", downlink: float = 0.0) -> Path:
        """Write the figure of :meth:`plot` as SVG or PNG, whole or not at all; give the file.

        Raises
        ------
        Refusal
            If the file is to be of another kind.
        """
        from bitbound.figures.comparison.comparison_drawing import (  # noqa: PLC0415  (heavy)
            save_cost_curves,
        )

        return save_cost_curves(lambda: self.plot(x, downlink), Path(path))

    @property
    def _pairs(self) -> list[tuple[Contestant, Trace]]:
        return list(zip(self.contestants, self.traces, strict=True))

    @property
    def _kappa(self) -> float | None:
        return json_number(getattr(self.problem.constants, "kappa", None))

    @property
    def made(self) -> str:
        """What is solved: its name, n, d and kappa where it has one."""
        kappa = "" if self._kappa is None else f", kappa={self._kappa:g}"
        return f"{self.problem.name}: n={self.problem.n}, d={self.problem.d}{kappa}"

    @property
    def _heading(self) -> str:
        modelled = f"; seconds are modelled on {self.network}" if self.network else ""
        return f"{self.made}; {self._over}{modelled}"

    @property
    def _quantities(self) -> tuple[str, ...]:
        return (*QUANTITIES, SECONDS) if self.network else QUANTITIES

    @property
    def _over(self) -> str:
        runs = len(self.traces[0].seeds)
        return f"medians over {runs} seeds" if runs > 1 else "one seed"

    def _target(self, target: float | None) -> float:
        finest = self.targets[-1]
        if target is None:
            return finest
        if not target >= finest:
            raise Refusal(
                f"the runs were made for targets down to {accuracy_name(finest)}; "
                f"compare again with target={target:g}"
            )
        return target


def compare(
    problem: Problem,
    methods: Sequence[Entry],
    *,
    target: float | Sequence[float] = 1e-6,
    seeds: int | Sequence[int] = 5,
    budget: Budget | None = None,
    network: Network | str | None = None,
    store: Store | None = None,
    strict: bool = False,
    progress: Progress | None = None,
) -> Comparison:
    """Run methods on a problem and compare what they cost to reach an accuracy.

    Parameters
    ----------
    problem : Problem
        What is minimised.
    methods : sequence
        Each a method or its name, alone or in a pair with a compressor or its name. A name is
        ``METHOD``, ``METHOD[RULE]`` or ``METHOD[NAME=VALUE,...]`` and may end with
        ``+COMPRESSOR``, such as ``"locodl[balanced]+rand-k:2"``; a method is one of the
        catalogue or ``path/to/method.py``.
    target : float or sequence of float
        Accuracies f - f*.
    seeds : int or sequence of int
        The run seeds, or how many.
    budget : Budget, optional
        When a run ends that has not reached the finest target.
    network : Network or str, optional
        What seconds are modelled on, or its name: ``lte``, ``dsl``, ``lan``, ``sensor``.
    store : Store, optional
        Where finished traces are kept and found again.
    strict : bool
        Whether parameters outside every theorem are refused, and methods without a theorem.
    progress : callable, optional
        Told the fraction done, now and then.

    Returns
    -------
    Comparison
        With the medians and bands, a table, a figure and the traces.

    Raises
    ------
    Refusal
        If a method, the problem, a compressor and the settings do not fit each other.

    Warns
    -----
    OutsideTheoremWarning
        Once for every method whose parameters no theorem of it covers.

    Examples
    --------
    >>> from bitbound import compare, problem
    >>> solved = problem("breast-cancer@9", kappa=100)
    >>> print(compare(solved, ["agd", "locodl+rand-k:2+natural"], target=1e-3, seeds=2))
    breast-cancer@9: n=9, d=30, kappa=100; medians over 2 seeds
    <BLANKLINE>
    f - f* <= 1e-3
    method                   bits up    down      10-90 %  rounds  gradients
    -----------------------  -------  ------  -----------  ------  ---------
    locodl+rand-k:2+natural    2,058  70,560  1.82k-2.29k      74        111
    agd                       13,440  13,440        13.4k      14         14
    """
    targets = _targets(target, problem)
    if budget is not None and budget.gap is not None:
        raise Refusal(f"a budget of {budget.gap:g} gap; give accuracies as target=")
    until = replace(budget or Budget(), gap=targets[-1])
    taking_part = contestants(problem, methods)
    traces = []
    for place, contestant in enumerate(taking_part):
        experiment = contestant.experiment
        if is_convex(experiment):
            require_theorem(
                contestant.card, contestant.method, Setting.at(experiment), strict=strict
            )
        elif strict:
            raise Refusal(f"{contestant.name} comes with no theorem; compare without strict")
        finish = simulate if store is None else store.trace
        told = progress and _part(progress, place, len(taking_part))
        traces.append(finish(experiment, seeds=seeds, budget=until, progress=told))
    on = network_named(network) if isinstance(network, str) else network
    return Comparison(problem, taking_part, tuple(traces), targets, on)


def _part(progress: Progress, place: int, parts: int) -> Progress:
    """Return what tells the progress of one of several parts as that of the whole."""
    return lambda fraction: progress((place + fraction) / parts)


def _targets(target: float | Sequence[float], problem: Problem) -> tuple[float, ...]:
    """Return the accuracies, the finest last."""
    targets = tuple(sorted({*np.ravel(target).tolist()}, reverse=True))
    start = float(np.max(host(problem.gap(problem.x_0))))
    for accuracy in targets or (0.0,):
        if not _FINEST <= accuracy < start:
            raise Refusal(
                f"the target f - f* = {accuracy:g} is not possible; "
                f"give at least {_FINEST:g} and less than {start:.3g}, which it is at the start"
            )
    return targets


def _summary(costs: NDArray[np.float64]) -> dict[str, Any]:
    """Return the costs of all runs with their median and band as values of JSON."""
    found = {key: json_number(value) for key, value in asdict(spread(costs)).items()}
    return found | {"runs": [json_number(cost) for cost in costs]}
