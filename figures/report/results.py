"""Results of commands, read from a folder."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import load_or_set_aside
from certibit.data.files.records import read_record
from certibit.figures.locodl.recipes import FIGURES, VERSIONS
from certibit.figures.report.records import (
    AUDIT,
    BENCHMARK,
    CLIPPING,
    JUDGEMENT,
    RATES,
    SAVINGS,
    SCALING,
    THEOREMS,
    TRAININGS,
    drawn_figure,
)
from certibit.figures.report.schemas import Schema, misfit

_THEN = "left out until {} writes it again"
_DRAWN = ("episode", "deep", "theory", "scaling", "certified")
"""Parts with pictures in a folder of their name."""
_COMPARED = "compared-"


@dataclass(frozen=True)
class Part:
    """A part of the results: what it is, which command makes it, and whether that has been run.

    Attributes
    ----------
    title : str
    target : str
        The command that makes it.
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
        The comparisons that have been kept and the figures that have been drawn, as records.
    judgement : dict or None
        The verdicts on the claims about Figures 1 to 4.
    theory, scaling, rates, savings : list of dict
        A row per theorem and problem, per fitted exponent, per certificate, per saving.
    episode, episode_text : dict or None, str
        The verdicts on the claims about the clipped methods with their curves; all tables.
    deep, deep_text : dict or None, str
        The same about networks.
    audits : list of dict
        A record per proof.
    faults, table_2 : str
        Tables as text.
    bench : dict or None
        The last record of the benchmark.
    pictures : dict
        By figure or part the pictures of it that were drawn.
    """

    figures: list[Any]
    judgement: dict[str, Any] | None
    theory: list[Any]
    scaling: list[Any]
    rates: list[Any]
    savings: list[Any]
    episode: dict[str, Any] | None
    episode_text: str
    deep: dict[str, Any] | None
    deep_text: str
    audits: list[Any]
    faults: str
    table_2: str
    bench: dict[str, Any] | None
    pictures: dict[str, list[Path]]

    @property
    def parts(self) -> tuple[Part, ...]:
        """All parts, in the order of the page."""
        drawn = {figure["figure"] for figure in self.figures}
        paper = [f"figure{number}" for number in FIGURES]
        return (
            Part("Comparisons of your own", "certibit compare --report NAME", "compared",
                 any(each.startswith("compared-") for each in drawn)),
            Part("Every method on embedded data", "make demo", "demo", "demo" in drawn),
            *(
                Part(f"Figure {number} of the LoCoDL paper", f"make {name}", name,
                     any(each.startswith(name) for each in drawn))
                for number, name in zip(FIGURES, paper, strict=True)
            ),
            Part("Claims of the LoCoDL paper", "make figures", "verdicts", bool(self.judgement)),
            Part("Table 2 of the LoCoDL paper", "make figures", "table2", bool(self.table_2)),
            Part("EPISODE and its rivals", "make episode", "episode", bool(self.episode)),
            Part("Networks that are trained", "make deep", "deep", bool(self.deep)),
            Part("Theorems against the code", "make theory", "theory", bool(self.theory)),
            Part("Scaling laws", "make scaling", "scaling", bool(self.scaling)),
            Part("Certificates", "make certified", "certified", bool(self.rates)),
            Part("Audit of proofs", "make audit", "audit", bool(self.audits)),
            Part("Planted faults", "make faults", "faults", bool(self.faults)),
            Part("Benchmark", "make bench", "bench", bool(self.bench)),
        )  # fmt: skip


def read_results(folder: Path) -> Results:
    """Read what there is in a folder; what has not been run is empty.

    A file that is damaged, or was written by another version, is named in a warning, set aside and
    left out.
    """
    names = [f"figure{n}{s}-{v}" for n in FIGURES for s in ("", "-scaled") for v in VERSIONS]
    made = {"demo": "make demo"} | dict.fromkeys(names, "make figures")
    compared = sorted((folder / "compared").glob("*.json"))
    figures = [
        read_result(path, "certibit compare", drawn_figure(f"compared-{path.stem}"))
        for path in compared
    ] + [
        read_result(folder / f"{name}.json", command, drawn_figure(name))
        for name, command in made.items()
    ]
    benchmarks = sorted((folder / "bench").glob("*.json"))
    audits = sorted((folder / "audit").glob("audit-*.json"))
    certified = folder / "certified"
    drawn = [figure for figure in figures if figure]
    return Results(
        figures=drawn,
        judgement=read_result(folder / "verdicts.json", "make figures", JUDGEMENT),
        theory=read_result(folder / "theory" / "report.json", "make theory", THEOREMS) or [],
        scaling=read_result(folder / "scaling" / "scaling.json", "make scaling", SCALING) or [],
        rates=read_result(certified / "rates.json", "make certified", RATES) or [],
        savings=read_result(certified / "savings.json", "make certified", SAVINGS) or [],
        episode=read_result(folder / "episode" / "report.json", "make episode", CLIPPING),
        episode_text=_text(folder / "episode" / "report.txt", "make episode"),
        deep=read_result(folder / "deep" / "report.json", "make deep", TRAININGS),
        deep_text=_text(folder / "deep" / "report.txt", "make deep"),
        audits=[audit for path in audits if (audit := read_result(path, "make audit", AUDIT))],
        faults=_text(folder / "theory" / "faults.txt", "make faults"),
        table_2=_text(folder / "table2.txt", "make figures"),
        bench=read_result(benchmarks[-1], "make bench", BENCHMARK) if benchmarks else None,
        pictures=_pictures(folder, [figure["figure"] for figure in drawn]),
    )


def _pictures(folder: Path, figures: list[str]) -> dict[str, list[Path]]:
    found = {part: sorted((folder / part).glob("*.svg")) for part in _DRAWN}
    for name in figures:
        place = folder / "compared" if name.startswith(_COMPARED) else folder
        path = place / f"{name.removeprefix(_COMPARED)}.svg"
        found[name] = [path] if path.is_file() else []
    return found


def read_result(path: Path, command: str, schema: Schema) -> Any:
    """Return what a command has written in JSON, None where that is not there.

    A file that is damaged, or was written by another version, is named in a warning, set aside and
    left out.
    """

    def load(path: Path) -> Any:
        value = read_record(path)
        if told := misfit(schema, value, path.stem):
            raise DamagedFileError(f"{path} is damaged ({told})")
        return value

    return load_or_set_aside(path, load, _THEN.format(command))


def _text(path: Path, command: str) -> str:
    def load(path: Path) -> str:
        try:
            return path.read_text(encoding="utf-8")
        except (FileNotFoundError, NotADirectoryError):
            raise
        except OSError as error:
            raise DamagedFileError(f"{path} cannot be read ({error.strerror})") from None
        except ValueError as fault:
            raise DamagedFileError(f"{path} is damaged ({fault})") from None

    return load_or_set_aside(path, load, _THEN.format(command)) or ""
