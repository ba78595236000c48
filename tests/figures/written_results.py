"""A folder of results with a little of everything, written by what writes the real ones."""

from dataclasses import asdict, replace
from math import nan
from pathlib import Path

from certibit import Condition, Store
from certibit.data.files.archive import write_record
from certibit.data.files.cache import write_text
from certibit.figures.certified.rates import Rate
from certibit.figures.locodl.panels import Curve, Job
from certibit.figures.locodl.recipes import demonstration
from certibit.figures.locodl.reproduction import drawn_record
from certibit.figures.text.verdicts import OWN, ClaimVerdict
from certibit.figures.theory_results import row_summary
from certibit.theory.audit.locodl.locodl_proof import PROOF
from certibit.theory.audit.machinery.report import audit_report
from certibit.theory.checks.standard import TheoremRow

COMPRESSOR = "rand-k:2+natural"
EVIL = "</script><script>alert(1)</script>"


def write_results(folder: Path) -> None:
    """Write a file of every make target."""
    figure = demonstration()
    curves = (Curve("locodl", COMPRESSOR), Curve("5gcs-cc", COMPRESSOR), Curve("agd"))
    panel = replace(figure.panels[0], curves=curves, kappa=100.0, floor=1e-4)
    figure = replace(figure, panels=(panel,))
    traces = {
        (panel, curve): Job(panel, curve, 3, Store(folder / "traces")).trace() for curve in curves
    }
    cost = {"median": 1.0, "low": 1.0, "high": None}
    compared = {
        "accuracy": 1e-3, "factor": 1.0, "outcome": "supported",
        "fewer": {"curve": curves[0].label, "panel": panel.title} | cost,
        "more": {"curve": curves[1].label, "panel": panel.title} | cost,
    }  # fmt: skip
    claim = {
        "claim": EVIL, "source": "S", "outcome": "FAILS", "measured": "x 0.9",
        "decisive": compared, "comparisons": [compared] * 2, "why": ["because"],
        "note": "", "quotation": "",
    }  # fmt: skip
    groups = {"panels": [{"panel": panel.title, "claims": [claim]}], "across panels": []}
    audit = audit_report(replace(PROOF, steps=PROOF.steps[:2])).record()
    audit["steps"][0]["severity"] = "misprint"
    margin = Condition("gamma <= 2/L", 0.5, 1.0)
    theorem = TheoremRow("T", "logistic", "best", "none", (), margin, 1, nan, 1.5, 3.0, 4)
    rates = [Rate("gd", "1/L", 10, 100.0, 9.0, 0.1, 0.2, "")]
    verdicts = [ClaimVerdict("c", OWN, "m", "supported").record()]
    ratio = {"subject": "step", "problem": "p", "runs": 1, "name": "gd", "value": 1.0, "low": 0.9}
    files = {
        "demo.json": drawn_record(figure, traces),
        "verdicts.json": {
            "rule": "R", "figures": [{"figure": "demo"} | groups, {"figure": "another"} | groups]
        },
        "theory/report.json": [row_summary(theorem)],
        "certified/rates.json": list(map(asdict, rates)),
        "audit/audit-locodl.json": audit,
        "episode/report.json": {"verdicts": verdicts},
        "deep/report.json": {"verdicts": verdicts},
        "bench/1.json": {
            "date": "2026-01-01T00:00", "commit": "c", "versions": {}, "absent": [],
            "hardware": {"processor": "p", "cores": 2}, "ratios": [ratio | {"high": 1.1}],
        },
    }  # fmt: skip
    for name, content in files.items():
        write_record(folder / name, content)
    for name in ("theory/faults.txt", "table2.txt", "episode/report.txt", "deep/report.txt"):
        write_text(folder / name, "3 of 3 faults are caught")
