"""What the make targets have written into a folder of results, read again."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bitbound.data.errors import DamagedFileError
from bitbound.figures.locodl.recipes import FIGURES, VERSIONS
from bitbound.theory.verdict import FAILS, NOT_TESTED, ONLY_IF, Known

SEARCHED = "holds at points searched"
"""Of what was searched, at however many points."""


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
            Part("Comparisons of your own", "bitbound compare --report NAME", "compared",
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
            Part("Theorems against the code", "make theory", "theory", bool(self.theory)),
            Part("Scaling laws", "make scaling", "scaling", bool(self.scaling)),
            Part("Certificates", "make certified", "certified", bool(self.rates)),
            Part("Audit of proofs", "make audit", "audit", bool(self.audits)),
            Part("Planted faults", "make faults", "faults", bool(self.faults)),
            Part("Benchmark", "make bench", "bench", bool(self.bench)),
        )  # fmt: skip


def outcome_kind(outcome: str) -> str:
    """Return an outcome without the numbers and hypotheses in it, which a reader may filter by."""
    kinds = (FAILS, ONLY_IF, NOT_TESTED, Known.MEASURED.words(), Known.PROVED.words())
    if outcome.startswith("holds at "):
        return SEARCHED
    return next((kind for kind in kinds if outcome.startswith(kind)), FAILS)


def read_results(folder: Path) -> Results:
    """Read what there is in a folder; what has not been run is empty.

    Raises
    ------
    DamagedFileError
        If a file there is no JSON.
    """
    names = ["demo", *(f"figure{n}{s}-{v}" for n in FIGURES for s in ("", "-scaled")
                       for v in VERSIONS)]  # fmt: skip
    own = sorted((folder / "compared").glob("*.json"))
    figures = [_json(path) for path in (*own, *(folder / f"{name}.json" for name in names))]
    records = sorted((folder / "bench").glob("*.json"))
    return Results(
        figures=[figure for figure in figures if figure],
        judgement=_json(folder / "verdicts.json"),
        theory=_json(folder / "theory" / "report.json") or [],
        scaling=_json(folder / "scaling" / "scaling.json") or [],
        rates=_json(folder / "certified" / "rates.json") or [],
        savings=_json(folder / "certified" / "savings.json") or [],
        episode=_json(folder / "episode" / "report.json"),
        episode_text=_text(folder / "episode" / "report.txt"),
        audits=[_json(path) for path in sorted((folder / "audit").glob("audit-*.json"))],
        faults=_text(folder / "theory" / "faults.txt"),
        table_2=_text(folder / "table2.txt"),
        bench=_json(records[-1]) if records else None,
    )


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    except ValueError as fault:
        raise DamagedFileError(
            f"{path} is damaged ({fault}); remove it and make it again"
        ) from None
