"""What the make targets have written into a folder of results, read again."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bitbound.data.errors import DamagedFileError
from bitbound.data.files.archive import load_or_set_aside
from bitbound.figures.locodl.recipes import FIGURES, VERSIONS
from bitbound.figures.report.forms import Form
from bitbound.figures.report.records import (
    AUDIT,
    BENCHMARK,
    CLIPPING,
    JUDGEMENT,
    RATES,
    SAVINGS,
    SCALING,
    THEOREMS,
    drawn_figure,
)

Content = TypeVar("Content")


@dataclass(frozen=True)
class Part:
    """A part of the results: what it is, which target writes it, and whether that has been run.

    Attributes
    ----------
    title : str
    target : str
        The make target.
    anchor : str
        Where it stands in the page.
    there : bool
        Whether its files are there.
    """

    title: str
    target: str
    anchor: str
    there: bool


@dataclass(frozen=True)
class Results:
    """A folder of results.

    Attributes
    ----------
    figures : list of dict
        The figures that have been drawn, as their records.
    judgement : dict or None
        The verdicts on the claims about Figures 1 to 4.
    theory, scaling, rates, savings : list of dict
        A row per theorem and problem, per fitted exponent, per certificate, per saving.
    episode, episode_text : dict or None, str
        The verdicts on the claims about the clipped methods with their curves; all tables.
    audits : list of dict
        A record per proof.
    faults, table_2 : str
        Tables as text.
    bench : dict or None
        The last record of the benchmark.
    """

    figures: list[Any]
    judgement: dict[str, Any] | None
    theory: list[Any]
    scaling: list[Any]
    rates: list[Any]
    savings: list[Any]
    episode: dict[str, Any] | None
    episode_text: str
    audits: list[Any]
    faults: str
    table_2: str
    bench: dict[str, Any] | None

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in the order of the page."""
        drawn = {figure["figure"] for figure in self.figures}
        paper = [f"figure{number}" for number in FIGURES]
        return (
            Part("Every method on embedded data", "demo", "demo", "demo" in drawn),
            *(
                Part(f"Figure {number} of the LoCoDL paper", name, name,
                     any(each.startswith(name) for each in drawn))
                for number, name in zip(FIGURES, paper, strict=True)
            ),
            Part("Claims of the LoCoDL paper", "figures", "verdicts", bool(self.judgement)),
            Part("Table 2 of the LoCoDL paper", "figures", "table2", bool(self.table_2)),
            Part("EPISODE and its rivals", "episode", "episode", bool(self.episode)),
            Part("Theorems against the code", "theory", "theory", bool(self.theory)),
            Part("Scaling laws", "scaling", "scaling", bool(self.scaling)),
            Part("Certificates", "certified", "certified", bool(self.rates)),
            Part("Audit of proofs", "audit", "audit", bool(self.audits)),
            Part("Planted faults", "faults", "faults", bool(self.faults)),
            Part("Benchmark", "bench", "bench", bool(self.bench)),
        )  # fmt: skip


def read_results(folder: Path) -> Results:
    """Read what there is in a folder; what has not been run is empty.

    A file that is damaged, or was written by another version, is named in a warning, set aside and
    left out.
    """
    names = [f"figure{n}{s}-{v}" for n in FIGURES for s in ("", "-scaled") for v in VERSIONS]
    targets = {"demo": "demo"} | dict.fromkeys(names, "figures")
    figures = [
        _record(folder / f"{name}.json", target, drawn_figure(name))
        for name, target in targets.items()
    ]
    benchmarks = sorted((folder / "bench").glob("*.json"))
    audits = sorted((folder / "audit").glob("audit-*.json"))
    certified = folder / "certified"
    return Results(
        figures=[figure for figure in figures if figure],
        judgement=_record(folder / "verdicts.json", "figures", JUDGEMENT),
        theory=_record(folder / "theory" / "report.json", "theory", THEOREMS) or [],
        scaling=_record(folder / "scaling" / "scaling.json", "scaling", SCALING) or [],
        rates=_record(certified / "rates.json", "certified", RATES) or [],
        savings=_record(certified / "savings.json", "certified", SAVINGS) or [],
        episode=_record(folder / "episode" / "report.json", "episode", CLIPPING),
        episode_text=_text(folder / "episode" / "report.txt", "episode"),
        audits=[audit for path in audits if (audit := _record(path, "audit", AUDIT))],
        faults=_text(folder / "theory" / "faults.txt", "faults"),
        table_2=_text(folder / "table2.txt", "figures"),
        bench=_record(benchmarks[-1], "bench", BENCHMARK) if benchmarks else None,
    )


def _text(path: Path, target: str) -> str:
    return _load(path, target, lambda told: told) or ""


def _record(path: Path, target: str, form: Form) -> Any:
    """Return what a target has written, or None; see :func:`read_results`."""

    def read(told: str) -> Any:
        value = json.loads(told)
        if misfit := form(value, path.stem):
            raise ValueError(misfit)
        return value

    return _load(path, target, read)


def _load(path: Path, target: str, read: Callable[[str], Content]) -> Content | None:
    def load(path: Path) -> Content:
        try:
            return read(path.read_text(encoding="utf-8"))
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            raise DamagedFileError(f"{path} cannot be read ({error.strerror})") from None
        except (ValueError, RecursionError) as fault:
            raise DamagedFileError(f"{path} is damaged ({fault})") from None

    return load_or_set_aside(path, load, f"left out until make {target} writes it again")
