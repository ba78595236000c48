"""The report: one HTML file of all results in a folder, which makes no network request."""

import json
import math
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined, TemplateError
from markupsafe import Markup

from certibit.data.errors import DamagedFileError
from certibit.data.files.archive import load_or_set_aside, read_record
from certibit.data.files.cache import write_text
from certibit.figures.locodl.claims import DEPENDS, claim_groups
from certibit.figures.locodl.recipes import FIGURES
from certibit.figures.text.tables import count_text, late_median
from certibit.theory.verdict import FAILS, NOT_TESTED, ONLY_IF, UNDECIDED, Known

_PACKAGE = "certibit.figures.report"
_COLUMNS = ("bits", "downlink bits", "rounds", "gradients")
_PARTS = (
    ("compared", "Comparisons of your own", "certibit compare --report NAME",
     {"compared/*.json": "figure"}),
    ("demo", "Every method on embedded data", "make demo", {"demo.json": "figure"}),
    *((f"figure{n}", f"Figure {n} of the LoCoDL paper", f"make figure{n}",
       {f"figure{n}-*.json": "figure"}) for n in FIGURES),
    ("verdicts", "Claims of the LoCoDL paper", "make figures", {"verdicts.json": "judgement"}),
    ("table2", "Table 2 of the LoCoDL paper", "make figures", {"table2.txt": "text"}),
    ("episode", "EPISODE and its rivals", "make episode",
     {"episode/report.json": "claims", "episode/report.txt": "text"}),
    ("deep", "Networks that are trained", "make deep",
     {"deep/report.json": "claims", "deep/report.txt": "text"}),
    ("theory", "Theorems against the code", "make theory", {"theory/report.json": "theorems"}),
    ("certified", "Certificates", "make certified",
     {"certified/rates.json": "rates"}),
    ("audit", "Audit of proofs", "make audit", {"audit/audit-*.json": "audit"}),
    ("faults", "Planted faults", "make faults", {"theory/faults.txt": "text"}),
    ("bench", "Benchmark", "make bench", {"bench/*.json": "bench"}),
)  # fmt: skip
"""Anchor, title and command of every part, and its files with the macros that show them."""
_FIXED = (FAILS, ONLY_IF, NOT_TESTED, Known.MEASURED.words(), Known.PROVED.words())
_FAULTS = (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TemplateError)
"""What a macro raises at a value that it cannot show."""
_WORDS = 160


@dataclass(frozen=True)
class Part:
    """A part of the page.

    Attributes
    ----------
    anchor, title : str
        Where it stands in the page, and what it is.
    target : str
        The command that makes it.
    blocks : tuple of Markup
        Its files as HTML; none if the command has not been run.
    outcomes : tuple of str
        Those of its verdicts.
    weights : tuple of float
        Of a bit received, that its panels were drawn with.
    """

    anchor: str
    title: str
    target: str
    blocks: tuple[Markup, ...] = ()
    outcomes: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()

    @property
    def counts(self) -> str:
        """How many verdicts have which outcome."""
        kinds = dict.fromkeys(self.outcomes)
        return ", ".join(f"{kind}: {self.outcomes.count(kind)}" for kind in kinds)

    @property
    def tally(self) -> tuple[int, int, int]:
        """How many verdicts hold, are neither, and FAIL.

        Holding under a hypothesis that is added counts as failing, as what was stated does.
        """
        neither = sum(each in (UNDECIDED, NOT_TESTED, DEPENDS) for each in self.outcomes)
        failing = sum(each in (FAILS, ONLY_IF) for each in self.outcomes)
        return len(self.outcomes) - neither - failing, neither, failing


def outcome_kind(outcome: str) -> str:
    """Return an outcome without the numbers and hypotheses in it, which a reader may filter by."""
    if outcome.startswith("holds at "):
        return "holds at points searched"
    return next((kind for kind in _FIXED if outcome.startswith(kind)), FAILS)


def read_parts(folder: Path) -> list[Part]:
    """Return all parts, in the order of the page, with what there is in a folder of results.

    A file that is damaged, or that its part cannot show because another version has written it, is
    named in a warning, set aside and left out.
    """
    parts = []
    for anchor, title, target, shown in _PARTS:
        blocks: list[Markup] = []
        outcomes: list[str] = []
        weights: list[float] = []
        for pattern, macro in shown.items():
            paths = sorted(folder.glob(pattern))
            for path in paths[-1:] if anchor == "bench" else paths:
                then = f"left out until {target} writes it again"
                block = load_or_set_aside(path, partial(_load, macro=macro), then)
                if block is not None:
                    blocks.append(block[0])
                    outcomes += block[1]
                    weights += block[2]
        drawn = sorted((folder / anchor).glob("*.svg")) if blocks and anchor != "compared" else []
        pictures = [_picture(path) for path in drawn]
        parts.append(
            Part(anchor, title, target, (*blocks, *pictures), tuple(outcomes), tuple(weights))
        )
    return parts


def _load(path: Path, macro: str) -> tuple[Markup, list[str], list[float]]:
    """Return a file as HTML, the outcomes of its verdicts and the weights of its panels."""
    try:
        value = path.read_text(encoding="utf-8") if macro == "text" else read_record(path)
        return rendered(macro, value, path)
    except DamagedFileError:
        raise
    except OSError as error:
        raise DamagedFileError(f"{path} cannot be read ({error.strerror})") from None
    except _FAULTS as fault:
        raise DamagedFileError(f"{path} is damaged ({shorten(repr(fault), _WORDS)})") from None


def rendered(macro: str, value: Any, path: Path) -> tuple[Markup, list[str], list[float]]:
    """Return a value as HTML, the outcomes of its verdicts and the weights of its panels.

    Raises
    ------
    LookupError, TypeError, ValueError, AttributeError, ArithmeticError, TemplateError
        If the value has not what the macro shows.
    """
    html = Markup(getattr(_environment().get_template("parts.html").module, macro)(value, path))
    weights = [float(p["downlink_weight"]) for p in value["panels"]] if macro == "figure" else []
    if not all(0 <= weight < math.inf for weight in weights):
        raise ValueError(f"a weight of {min(weights)}")
    return html, list(_outcomes(macro, value)), weights


def _outcomes(macro: str, value: Any) -> Iterator[str]:
    """Yield the outcomes of the verdicts in a record."""
    if macro == "judgement":
        for figure in value["figures"]:
            yield from (claim["outcome"] for _, claims in claim_groups(figure) for claim in claims)
    elif macro == "claims":
        yield from (claim["outcome"] for claim in value["verdicts"])
    elif macro == "theorems":
        yield from (outcome_kind(row["outcome"]) for row in value)
    elif macro == "audit":
        yield from (outcome_kind(step["verdict"]) for step in value["steps"])


def write_report(folder: Path, path: Path) -> Path:
    """Write the page of everything in a folder of results, and return the file."""
    write_text(path, page(read_parts(folder)))
    return path


def page(parts: list[Part]) -> str:
    """Return the page as one text: style, script, data and pictures stand inside it."""
    weights = {weight for part in parts for weight in part.weights}
    weight = weights.pop() if len(weights) == 1 else 0.0
    return _environment().get_template("report.html").render(
        parts=parts,
        weight=weight,
        slider=min(100, max(0, round(20 * (math.log10(weight) + 4)))) if weight else 0,
        version=version("certibit"),
        style=_file("report.css"),
        script=_file("report.js"),
    )  # fmt: skip


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "rows": _rows,
        "groups": claim_groups,
        "picture": lambda path: _picture(path.with_suffix(".svg")),
        "count": lambda value: "never" if value is None else count_text(value),
        "kind": outcome_kind,
        "pretty": lambda value: json.dumps(value, indent=1, ensure_ascii=False),
        "json": lambda value: json.dumps(value, allow_nan=False),
        "four": lambda value: "–" if value is None else f"{value:.4g}",
    }
    return environment


def _rows(panel: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the curves of the record of a panel, with median costs, in the order of bits."""
    coarse, finest = panel["targets"][0], panel["targets"][-1]
    rows = []
    for curve in panel["curves"]:
        if not re.fullmatch("#[0-9A-Fa-f]{6}", curve["colour"]):
            raise ValueError(f"{curve['colour']!r} is no colour")
        costs = curve["costs"][finest]
        if len({len(costs[name]) for name in _COLUMNS}) > 1:
            raise ValueError("costs of several lengths")
        rows.append(
            {
                "curve": curve,
                "costs": [_median(costs[name]) for name in _COLUMNS],
                "coarse": _median(curve["costs"][coarse]["bits"]),
                "up": costs["bits"],
                "down": costs["downlink bits"],
            }
        )
    return sorted(rows, key=lambda row: row["costs"][0])


def _median(costs: list[float | None]) -> float:
    """Return the median over the seeds, infinite where half of the runs or more never arrive."""
    if not costs or not all(cost is None or abs(cost) < math.inf for cost in costs):
        raise ValueError("costs are missing or not finite")
    return late_median(np.array(costs, dtype=float))


def _file(name: str) -> Markup:
    return Markup((files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8"))


def _picture(path: Path) -> Markup:
    """Return a picture that a command has drawn; as an image it runs no script."""
    try:
        drawn = b64encode(path.read_bytes()).decode("ascii")
    except OSError:
        return Markup("")
    source = f"data:image/svg+xml;base64,{drawn}"
    return Markup('<figure><img alt="{}" src="{}"></figure>').format(path.stem, source)
