"""The result of a comparison: costs of several methods on one problem, tables, figures."""

import math
import os
import re
import textwrap
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc

from certibit.data.errors import Refusal
from certibit.data.problem import Problem, RelaxedConstants
from certibit.data.terminal import paragraph, table, text_columns
from certibit.figures.comparison.contestants import Contestant
from certibit.figures.comparison.tuned_steps import TunedSteps
from certibit.figures.costs import (
    QUANTITIES,
    Spread,
    band_text,
    cost_curve,
    cost_text,
    costs_to,
    quantity_name,
    require_quantity,
    spread,
)
from certibit.figures.looks import distinct_looks
from certibit.figures.text.tables import accuracy_name, json_number, short_cost
from certibit.solvers.network import Network
from certibit.solvers.runs.grid import StepGrid
from certibit.solvers.runs.trace import MEASURES, SECONDS, Trace
from certibit.solvers.total_bits import total_text

if TYPE_CHECKING:
    from certibit.solvers.runs.trace_plot import Canvas


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Costs of several methods on one problem to given accuracies; returned by :func:`compare`.

    The argument ``by`` is the cost: "bits" (sent per client), "busiest bits" (of the client who
    sends most, message by message), "downlink bits" (received per client), "rounds", "gradients"
    (per client) or "total bits" = bits + downlink * downlink bits.
    "seconds" are modelled on the network of the comparison.

    Attributes
    ----------
    problem : Problem
        The problem of all runs.
    contestants : tuple of Contestant
        Methods with their parameters and compressors.
    traces : tuple of Trace
        Their runs.
    targets : tuple of float
        Accuracies in the measure of the runs, f - f* or |grad f|^2, the finest last.
    network : Network or None
        The network for modelled seconds.
    steps : StepGrid or None
        The grid that step sizes and thresholds are the best of, if they are tuned.
    tuned : tuple of TunedSteps
        The best of every contestant.

    Examples
    --------
    >>> from certibit import compare, problem
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
    steps: StepGrid | None = None
    tuned: tuple[TunedSteps, ...] = ()

    def costs(
        self, by: str = "bits", target: float | None = None, downlink: float = 0.0
    ) -> dict[str, NDArray[np.float64]]:
        """Return the cost of every run to a target (default: the finest), (R,), by name.

        NaN means that a run does not reach the target.

        Raises
        ------
        Refusal
            If ``by`` is not counted, the weight of the downlink is negative or not finite, or the
            target is finer than those of the comparison.
        """
        require_quantity(by, downlink, self.network)
        target = self._target(target)
        return {
            contestant.name: costs_to(trace, target, by, downlink)
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
            Also if no method reaches the target in its median run.
        """
        target = self._target(target)
        spreads = self.spreads(by, target, downlink).values()
        if not any(np.isfinite(each.median) for each in spreads):
            raise Refusal(
                f"the median run of no contestant gets to {accuracy_name(target)}; "
                "give a coarser target or a larger budget"
            )
        return _ranked(self._pairs, target, by, downlink)[0][0]

    def tied(
        self, by: str = "bits", downlink: float = 0.0, target: float | None = None
    ) -> tuple[str, ...]:
        """Return the names that a sign test over the seeds does not tell apart from the best.

        With ``wins`` the seeds with which the best costs less, these are the contestants with
        P[Binomial(R, 1/2) >= wins] > 5 %, each by itself; with R < 5 seeds they are all. See
        :meth:`best` for what is refused.
        """
        target = self._target(target)
        self.best(by, downlink, target)
        return _tied(_ranked(self._pairs, target, by, downlink), target, by, downlink)

    def table(self, downlink: float = 0.0) -> str:
        """Return a table of the median costs to each target as text.

        Methods are sorted by bits, by total bits if the downlink has a weight, or by seconds if
        there is a network; the band is of the same quantity.
        """
        require_quantity("total bits", downlink)
        blocks = [
            _ranking_text(self._pairs, target, downlink, self.network) for target in self.targets
        ]
        heading = paragraph(self._heading, hanging="  ")
        return "\n\n".join([heading, *self._tuning, *blocks])

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        names = ", ".join(contestant.name for contestant in self.contestants)
        return f"Comparison of {names}\non {self.problem}"

    def _repr_html_(self) -> str:
        tables = [_ranking_html(self._pairs, target, self.network) for target in self.targets]
        return f"<p>{escape(self._heading)}</p>{''.join(tables)}"

    def summary(self, downlink: float = 0.0) -> dict[str, Any]:
        """Return everything as strict JSON values; null means "never"."""
        require_quantity("total bits", downlink)
        return {
            "problem": {"name": self.problem.name, "n": self.problem.n, "d": self.problem.d}
            | {"kappa": self.kappa},
            "measure": self.measure,
            "seeds": list(self.traces[0].seeds),
            "downlink": downlink,
            "network": None if self.network is None else self.network.described,
            "contestants": [
                {
                    "name": contestant.name,
                    "method": contestant.method.name,
                    "parameters": {
                        one.name: json_number(getattr(contestant.method, one.name))
                        for one in fields(contestant.method)
                    },
                    "compressor": contestant.compressor.name,
                    "tuned": tuned,
                    "ending": list(trace.ending),
                    "costs": {
                        accuracy_name(target): {
                            by: _summary(costs_to(trace, target, by, downlink))
                            for by in self._quantities
                        }
                        for target in self.targets
                    },
                }
                for (contestant, trace), tuned in zip(self._pairs, self._steps, strict=True)
            ],
        }

    def to_pandas(self, downlink: float = 0.0) -> Any:
        """Return a data frame with one row per contestant, target and seed.

        With a weight of the downlink, total bits are a column.

        Raises
        ------
        Refusal
            If pandas is not installed, or the weight is negative or not finite.
        """
        try:
            import pandas  # noqa: PLC0415  (optional)
        except ImportError:
            raise Refusal("to_pandas needs pandas; install it: pip install pandas") from None
        require_quantity("total bits", downlink)
        counted = [by for by in self._quantities if by != "total bits" or downlink]
        rows = []
        for contestant, trace in self._pairs:
            for target in self.targets:
                costs = [costs_to(trace, target, by, downlink) for by in counted]
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

    def to_latex(self, target: float | None = None, downlink: float = 0.0) -> str:
        """Return the table of a target, by default the finest, as a LaTeX tabular.

        It needs the package booktabs. See :meth:`table`.
        """
        require_quantity("total bits", downlink)
        return _ranking_latex(self._pairs, self._target(target), downlink, self.network)

    def plot(
        self,
        x: str | Sequence[str] = "bits",
        downlink: float = 0.0,
        *,
        width: float | None = None,
        title: str | None = None,
    ) -> "Canvas":
        """Draw f - f*, or |grad f|^2, against a cost: medians and 10-90 % bands over the seeds.

        The horizontal axis is logarithmic where the curves end more than a factor of ten apart.

        Parameters
        ----------
        x : str or sequence of str
            A cost, or one for each of several axes side by side.
        downlink : float
            The weight of total bits.
        width : float, optional
            Inches of the whole, by default 5.5 for each of the axes.
        title : str, optional
            In the place of what was run; "" for none.

        Returns
        -------
        matplotlib.figure.Figure
            A curve ends at the number of the table for the finest target.

        Raises
        ------
        Refusal
            If a cost is not counted, or the width is not above 0.
        """
        from certibit.figures.named_curves import NamedPlot, named_canvas  # noqa: PLC0415  (heavy)

        costs = [x] if isinstance(x, str) else list(x)
        for one in costs or [""]:
            require_quantity(one, downlink, self.network)
        width = _WIDTH * len(costs) if width is None else width
        if not 0 < width < math.inf:
            raise Refusal(f"width = {width} inches is no width of a figure; give a number above 0")
        if title is None:
            bands = ", 10-90 % bands" if len(self.traces[0].seeds) > 1 else ""
            numbers = f"numbers: to {MEASURES[self.measure]} = {accuracy_name(self.targets[-1])}"
            letters = max(20, int(_LETTERS * (width / len(costs) - _LEFT)))
            lines = self.made, f"{self._over}{bands}; {numbers}"
            title = "\n".join(textwrap.fill(line, letters) for line in lines)
        plots = [
            NamedPlot(
                title if place == 0 else "",
                quantity_name(one, downlink, self.network),
                [contestant.label for contestant in self.contestants],
                distinct_looks([contestant.card for contestant in self.contestants]),
                [cost_curve(trace, self.targets[-1], one, downlink) for trace in self.traces],
            )
            for place, one in enumerate(costs)
        ]
        return named_canvas(plots, self.measure, width / len(costs), len(self.traces))

    def save(
        self,
        path: str | os.PathLike[str],
        x: str | Sequence[str] = "bits",
        downlink: float = 0.0,
        **options: Any,
    ) -> Path:
        """Write the figure of :meth:`plot` as SVG, PNG or PDF, whole or not at all; give the file.

        Raises
        ------
        Refusal
            If the file is to be of another kind; see :meth:`plot`.
        """
        from certibit.figures.drawing import require_format, write_canvas  # noqa: PLC0415  (heavy)

        require_format(Path(path))
        return write_canvas(self.plot(x, downlink, **options), Path(path))

    @property
    def measure(self) -> str:
        """What the targets are accuracies of: "gap", or "squared_gradient"."""
        return self.traces[0].measure

    @property
    def _pairs(self) -> list[tuple[Contestant, Trace]]:
        return list(zip(self.contestants, self.traces, strict=True))

    @property
    def kappa(self) -> float | None:
        """The condition number of the problem, or None."""
        own, constants = getattr(self.problem, "kappa", None), self.problem.constants
        relaxed = isinstance(constants, RelaxedConstants)  # its kappa is of another kind
        return json_number(own or (None if relaxed else getattr(constants, "kappa", None)))

    @property
    def made(self) -> str:
        """The problem in words: its name, n, d and kappa."""
        kappa = "" if self.kappa is None else f", kappa={self.kappa:g}"
        return f"{self.problem.name}: n={self.problem.n}, d={self.problem.d}{kappa}"

    @property
    def _heading(self) -> str:
        modelled = f"; seconds are modelled on {self.network}" if self.network else ""
        return f"{self.made}; {self._over}{modelled}"

    @property
    def _tuning(self) -> list[str]:
        """How steps were tuned, and the best of every contestant, in one block if they were."""
        if self.steps is None:
            return []
        told = paragraph(
            f"steps of the best pair of {self.steps.described}, tuned with the same limits and the "
            f"same seeds for every method",
            hanging="  ",
        )
        each = zip(self.contestants, self.tuned, strict=True)
        lines = [paragraph(f"{one.name}: {pair.described}", hanging="  ") for one, pair in each]
        return ["\n".join([told, *lines])]

    @property
    def _steps(self) -> list[dict[str, Any] | None]:
        found: list[dict[str, Any] | None] = [
            {"eta": one.eta, "tau": json_number(one.tau), "edges": one.edges} for one in self.tuned
        ]
        return found or [None] * len(self.contestants)

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


def _summary(costs: NDArray[np.float64]) -> dict[str, Any]:
    """Return the costs of all runs with their median and band as JSON values."""
    found = {key: json_number(value) for key, value in asdict(spread(costs)).items()}
    return found | {"runs": [json_number(cost) for cost in costs]}


_Ranked = tuple[Contestant, Trace]
"""A contestant and its runs."""

_WIDTH, _LEFT, _LETTERS = 5.5, 0.6, 15
"""Inches of axes, and to the left of them; letters of an inch in a title."""
_LEVEL, _TOLD_APART = 0.05, 5
"""The level of the sign test, and the fewest seeds with which it tells two methods apart."""
_BAND = "10-90 %"
_EQUAL = 1.001
_LEAST = 12
"""Columns that a name is broken for; where there are fewer, a row is a block."""


def _ranked(
    pairs: Sequence[_Ranked], target: float, by: str = "bits", downlink: float = 0.0
) -> list[_Ranked]:
    """Return the contestants with their traces, the one with the smallest median cost first."""
    return sorted(pairs, key=lambda pair: spread(costs_to(pair[1], target, by, downlink)).median)


def _tied(ranked: Sequence[_Ranked], target: float, by: str, downlink: float) -> tuple[str, ...]:
    """Return the names of those that are not told apart from the first."""
    least, *others = (
        np.nan_to_num(costs_to(trace, target, by, downlink), nan=np.inf) for _, trace in ranked
    )
    return tuple(
        contestant.name
        for (contestant, _), own in zip(ranked[1:], others, strict=True)
        if bdtrc(np.count_nonzero(least < own) - 1, len(own), 0.5) > _LEVEL
    )


def _by(downlink: float, network: Network | None) -> str:
    """Return the cost that a table is sorted by."""
    return "total bits" if downlink else SECONDS if network else "bits"


def _ranking_cells(
    pairs: Sequence[_Ranked], target: float, downlink: float, network: Network | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of a table: medians, and the band of what is _ranked by."""
    by = _by(downlink, network)
    columns = {"bits up": "bits", "busiest": "busiest bits", "down": "downlink bits"}
    most = ((one.final("busiest_bits") / _EQUAL, one.final("uplink_bits")) for _, one in pairs)
    if not any((busiest > mean).any() for busiest, mean in most):
        del columns["busiest"]
    columns |= {by.removesuffix(" bits"): by} if by != "bits" else {}
    columns |= {_BAND: by, "rounds": "rounds", "gradients": "gradients"}
    rows = []
    for contestant, trace in _ranked(pairs, target, by, downlink):
        spreads = {
            head: spread(costs_to(trace, target, counted, downlink))
            for head, counted in columns.items()
        }
        cells = [_cell(head, each) for head, each in spreads.items()]
        rows.append([contestant.name, *cells])
    return ["method", *columns], rows


def _cell(head: str, costs: Spread) -> str:
    """Write a band, seconds with three digits, or a number that was counted."""
    if head == _BAND:
        return band_text(costs)
    return short_cost(costs.median) if head == SECONDS else cost_text(costs.median)


def _ranking_text(
    pairs: Sequence[_Ranked], target: float, downlink: float, network: Network | None = None
) -> str:
    """Tabulate what a target costs; a name that is too long has its compressor on a second line."""
    header, rows = _ranking_cells(pairs, target, downlink, network)
    others = [max(map(len, column)) for column in list(zip(header, *rows, strict=True))[1:]]
    room = text_columns() - sum(others) - 2 * len(others)
    lines = []
    for name, *cells in rows:
        first, *more = _broken(name, room)
        lines.append([first, *cells])
        lines += [[f"  {part}", *[""] * len(cells)] for part in more]
    told = _notes(pairs, target, downlink, network)
    notes = [paragraph(line, hanging="  ") for line in told]
    return "\n".join([_heading(pairs, target, downlink), table(header, lines, texts=1), *notes])


def _ranking_html(pairs: Sequence[_Ranked], target: float, network: Network | None = None) -> str:
    """Return the same table for a notebook, with every text escaped."""
    header, rows = _ranking_cells(pairs, target, 0.0, network)
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join(
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows
    )
    notes = "".join(f"<p>{escape(line)}</p>" for line in _notes(pairs, target, 0.0, network))
    caption = f"<caption>{escape(_heading(pairs, target, 0.0))}</caption>"
    return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def _ranking_latex(
    pairs: Sequence[_Ranked], target: float, downlink: float, network: Network | None = None
) -> str:
    """Return the same table for LaTeX, with the rules of its package booktabs."""
    header, rows = _ranking_cells(pairs, target, downlink, network)
    head, *body = (" & ".join(map(_escaped, row)) + r" \\" for row in (header, *rows))
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            *(r"\toprule", head, r"\midrule", *body, r"\bottomrule"),
            r"\end{tabular}",
        ]
    )


def _escaped(text: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", text).replace("~", r"\textasciitilde{}")


def _heading(pairs: Sequence[_Ranked], target: float, downlink: float) -> str:
    reached = f"{MEASURES[pairs[0][1].measure]} <= {accuracy_name(target)}"
    return "; ".join(filter(None, [reached, total_text(downlink)]))


def _notes(
    pairs: Sequence[_Ranked], target: float, downlink: float, network: Network | None
) -> list[str]:
    """Return a line for every contestant with runs that do not reach the target, and of ties."""
    lines = []
    for contestant, trace in pairs:
        reached = np.count_nonzero(~np.isnan(trace.bits_to(target)))
        if reached < len(trace.seeds):
            told = [f"{reached} of {len(trace.seeds)} runs arrive"]
            for ending, verb in (("stagnated", "stagnate"), ("diverged", "diverge")):
                told += [f"{trace.ending.count(ending)} {verb}"] * (ending in trace.ending)
            lines.append(f"{contestant.name}: {', '.join(told)}")
    by, seeds = _by(downlink, network), len(pairs[0][1].seeds)
    ranked = _ranked(pairs, target, by, downlink)
    tied = _tied(ranked, target, by, downlink) if seeds >= _TOLD_APART else ()
    if tied and np.isfinite(spread(costs_to(ranked[0][1], target, by, downlink)).median):
        lines.append(
            f"not told apart from {ranked[0][0].name} by a sign test over {seeds} seeds (5 %): "
            f"{', '.join(tied)}"
        )
    return lines


def _broken(name: str, room: int) -> list[str]:
    """Return a name in lines that fit: the method, then the compressor, then what must be."""
    if len(name) <= room or room < _LEAST:
        return [name]
    method, plus, sent = name.partition("+")
    parts = [method, plus + sent] if plus else [method]
    width = room - 2
    return [part[i : i + width] for part in parts for i in range(0, len(part), width)]
