"""Measured ratios: their tables, and what has become slower since the last record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from timing import Spread

SLOWER = 1.2
"""A ratio that has grown by more is reported."""


@dataclass(frozen=True)
class Ratio:
    """What something costs in units of its yardstick; less is better.

    Attributes
    ----------
    subject : str
        What kind of thing it is, and its yardstick.
    problem, runs : str, int
        What it is measured on.
    name : str
        The thing.
    value, low, high : float
        Median and quartiles.
    """

    subject: str
    problem: str
    runs: int
    name: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, subject: str, problem: str, runs: int, name: str, spread: Spread) -> "Ratio":
        """Make it of a spread."""
        return cls(subject, problem, runs, name, spread.value, spread.low, spread.high)

    @property
    def key(self) -> tuple[str, str, int, str]:
        """What it is the ratio of."""
        return self.subject, self.problem, self.runs, self.name


def factors(now: Sequence[Ratio], before: Sequence[Ratio]) -> list[tuple[Ratio, Ratio, float]]:
    """Return what both runs have measured, with the ratio of the ratios; the worst first."""
    old = {ratio.key: ratio for ratio in before}
    both = [(new, old[new.key]) for new in now if new.key in old]
    found = [(new, last, new.value / last.value) for new, last in both]
    return sorted(found, key=lambda entry: -entry[2])


def slower(now: Sequence[Ratio], before: Sequence[Ratio]) -> list[tuple[Ratio, float]]:
    """Return what has grown by more than a fifth, with the ratio of the ratios; the worst first.

    The quartiles must be apart too: on a shared machine a median alone moves as much.
    """
    return [
        (new, factor)
        for new, last, factor in factors(now, before)
        if factor > SLOWER and new.low > last.high
    ]


def slower_throughout(
    now: Sequence[Ratio], before: Sequence[Ratio]
) -> list[tuple[tuple[str, str], float]]:
    """Return what has grown by more than a fifth in the median over problems and runs.

    Each is (subject, name), with the median ratio of the ratios; the worst first.
    """
    rows: dict[tuple[str, str], list[float]] = {}
    for new, _, factor in factors(now, before):
        rows.setdefault((new.subject, new.name), []).append(factor)
    medians = [(row, median(grown)) for row, grown in rows.items()]
    return sorted((pair for pair in medians if pair[1] > SLOWER), key=lambda pair: -pair[1])


def tables(ratios: Sequence[Ratio]) -> str:
    """Return one table for every subject and number of runs: names down, problems across."""
    kinds = dict.fromkeys((ratio.subject, ratio.runs) for ratio in ratios)
    blocks = []
    for subject, runs in kinds:
        chosen = [ratio for ratio in ratios if (ratio.subject, ratio.runs) == (subject, runs)]
        blocks.append("\n".join([f"### {subject}, R = {runs}", "", *_table(chosen)]))
    return "\n\n".join(blocks)


def ratio_text(value: float) -> str:
    """Write a ratio with two digits; a small one as a fraction, such as ``1/17``."""
    if value < 0.2:
        return f"1/{1 / value:.0f}"
    return f"{value:.2f}" if value < 10 else f"{value:.0f}"


def _table(ratios: Sequence[Ratio]) -> Iterator[str]:
    problems = list(dict.fromkeys(ratio.problem for ratio in ratios))
    names = list(dict.fromkeys(ratio.name for ratio in ratios))
    found = {(ratio.name, ratio.problem): ratio_text(ratio.value) for ratio in ratios}
    rows = [["", *problems]]
    rows += [[name, *(found.get((name, problem), "-") for problem in problems)] for name in names]
    widths = [max(len(row[column]) for row in rows) for column in range(len(problems) + 1)]
    rule = [f":{'-' * (widths[0] - 1)}", *(f"{'-' * (width - 1)}:" for width in widths[1:])]
    for row in (rows[0], rule, *rows[1:]):
        first, *others = zip(row, widths, strict=True)
        cells = [first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)]
        yield f"| {' | '.join(cells)} |"
