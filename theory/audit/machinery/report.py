"""The audit of a proof: its findings, its table, its readable report and its record."""

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from certibit.data.files.archive import write_record
from certibit.data.files.cache import write_text
from certibit.data.terminal import paragraph, table
from certibit.theory.audit.machinery.step import Severity, WrittenProof
from certibit.theory.audit.machinery.verify import SUSPICION, Auditor, Finding
from certibit.theory.verdict import Known

_WRAPPED_AT = {"step": 14, "claim": 36, "verdict": 15}
"""Columns of the table whose cells are wrapped."""
_INDENT = " " * 16


@dataclass(frozen=True)
class Report:
    """The audit of a proof.

    Attributes
    ----------
    proof : WrittenProof
        What was audited.
    findings : tuple of Finding
        One per step, in the order of the proof.
    seconds : float
        Time the audit took.
    """

    proof: WrittenProof
    findings: tuple[Finding, ...]
    seconds: float

    def finding(self, place: str) -> Finding:
        """Return the finding on the step at a place."""
        return next(f for f in self.findings if f.step.place == place)

    def survives(self, place: str) -> str:
        """Tell whether the theorem survives what was found at a place.

        A step that fails does no harm if every statement that it feeds holds by itself: "yes",
        "no", or "if ..." where such a statement holds under a further hypothesis only.
        """
        finding = self.finding(place)
        if finding.verdict == "holds":
            return "yes"
        known = {f.step.place for f in self.findings}
        feeds = [p for p in finding.step.feeds if p in known]
        if not feeds:
            return f"if {finding.repair}" if finding.verdict == "only if" else "no"
        answers = [self.survives(p) for p in feeds]
        return next(
            (a for a in answers if a == "no"), next((a for a in answers if a != "yes"), "yes")
        )

    def severity(self, place: str) -> Severity | None:
        """Return what it means that the step at a place fails; None if it holds."""
        finding = self.finding(place)
        if finding.verdict == "holds" or self.survives(place) == "yes":
            return finding.severity
        return Severity.GAP_IN_THEOREM

    def faults(self) -> dict[tuple[Severity, str], list[str]]:
        """Return the places of the steps that fail, by what each is and the repair it lacks.

        Steps with the same repair have one fault; one without a repair is a fault of its own.
        """
        found: dict[tuple[Severity, str], list[str]] = {}
        for finding in self.findings:
            place = finding.step.place
            severity = self.severity(place)
            if severity is not None:
                repair = finding.repair.split("; or ")[0] or place
                found.setdefault((severity, repair), []).append(place)
        return found

    def table(self) -> str:
        """One row per step; the margin is relative, negative: excess. Below, what a failure is."""
        rows: list[tuple[str, ...]] = []
        for f in self.findings:
            margin = "tight" if abs(f.gap) <= SUSPICION else f"{f.gap:+.2e}"
            rows.append((f.step.place, f.step.words, f.outcome, margin))
            severity = self.severity(f.step.place)
            if severity is not None:
                told = f"{severity}: {f.repair or 'no repair was found'}"
                rows.append((paragraph(told, _INDENT, _INDENT),))
        text = table(("step", "claim", "verdict", "margin"), rows, 4, _WRAPPED_AT)
        return f"{text}\n{self.summary()}"

    def summary(self) -> str:
        """Count the verdicts, how they are known, and the faults of what fails."""
        known = Counter(f.known for f in self.findings if f.verdict == "holds")
        held = [
            f"{known[Known.PROVED]} proved to hold",
            f"{known[Known.SEARCHED]} hold at all points searched",
        ]
        faults = self.faults()
        counts = f"{self.proof.name}: {len(self.findings)} steps, {', '.join(held)}"
        ends = f"; {_failures(faults)}" if faults else ", none fails"
        parts = [f"{counts}{ends}; {self.seconds:.0f} s"]
        for repair, sentence in self.proof.readings.items():
            rest = {key: places for key, places in faults.items() if key[1] != repair}
            if len(rest) < len(faults):
                parts.append(f'"{sentence}" Read so that {repair}: {_failures(rest)}')
        return "\n".join(map(paragraph, parts))

    def text(self) -> str:
        """Return the readable report."""
        parts = [f"Audit of {self.proof.name}\n{self.proof.source}\n"]
        for f in self.findings:
            lines = [f"{f.step.place}: {f.step.words}", f"  searched on: {f.step.space.name}"]
            if f.step.constants:
                lines.append(f"  printed constants: {f.step.constants}")
            lines.append(f"  verdict: {f.words} ({_basis(f)}); relative margin {f.gap:+.3e}")
            severity = self.severity(f.step.place)
            if severity is not None:
                lines.append(f"  severity: {severity}")
            if f.tight:
                lines.append(f"  would still pass this check with: {f.tight}")
            if f.repair and f.verdict == "fails":
                lines.append(f"  smallest repair found: {f.repair}")
            if f.witness:
                w = f.witness
                found = {**w.cell, **w.variables}
                lines.append(f"  witness, confirmed in {w.arithmetic}: " + _pairs(found))
                if w.derived:
                    lines.append("  there: " + _pairs(w.derived))
                lines.append(f"  left = {w.left}, right = {w.right}")
            if f.verdict != "holds":
                lines.append(f"  does the theorem survive? {self.survives(f.step.place)}")
            parts.append("\n".join(paragraph(x, hanging="    ") for x in lines))
        return "\n\n".join(parts) + "\n"

    def record(self) -> dict[str, Any]:
        """Return everything found, ready for JSON."""
        return {
            "proof": self.proof.name,
            "source": self.proof.source,
            "constants": {name: str(value) for name, value in self.proof.constants.items()},
            "seconds": round(self.seconds, 1),
            "steps": [
                {
                    "place": f.step.place,
                    "claim": f.step.words,
                    "space": f.step.space.name,
                    "constants": f.step.constants,
                    "verdict": f.words,
                    "known": f.known,
                    "hypotheses": f.hypotheses and list(f.hypotheses),
                    "severity": self.severity(f.step.place),
                    "margin": f.gap,
                    "points": f.points,
                    "repair": f.repair,
                    "tight": f.tight,
                    "theorem survives": self.survives(f.step.place),
                    "witness": asdict(f.witness) if f.witness else None,
                    "seconds": round(f.seconds, 3),
                }
                for f in self.findings
            ],
        }

    def save(self, folder: Path) -> tuple[Path, Path, Path]:
        """Write the table, the readable report and the record; give their paths."""
        endings = (".txt", "-report.txt", ".json")
        table, text, record = (folder / f"audit-{self.proof.name}{end}" for end in endings)
        write_text(table, self.table())
        write_text(text, self.text().removesuffix("\n"))
        write_record(record, self.record())
        return table, text, record


def audit_report(
    proof: WrittenProof,
    seed: int = 0,
    effort: float = 1.0,
    progress: Callable[[Finding], None] | None = None,
) -> Report:
    """Audit a proof; ``effort`` scales the number of points searched."""
    start = time.perf_counter()
    auditor = Auditor(proof.constants, seed, effort)
    findings = []
    for step in proof.steps:
        findings.append(auditor.examine(step))
        if progress:
            progress(findings[-1])
    return Report(proof, tuple(findings), time.perf_counter() - start)


def _failures(faults: Mapping[tuple[Severity, str], Sequence[str]]) -> str:
    """Count the steps that fail, and their faults by severity."""
    kinds = Counter(severity for severity, _ in faults)
    found = [f"{severity} {kinds[severity]}" for severity in Severity if kinds[severity]]
    steps = sum(map(len, faults.values()))
    return f"{steps} fail as printed, by {len(faults)} distinct faults: {', '.join(found)}"


def _basis(f: Finding) -> str:
    """Say how a verdict is known."""
    if f.verdict != "holds":
        return f"{f.known} by the witness, after {f.points:,} admissible points"
    if f.known == Known.SEARCHED:
        return str(f.known)
    if f.hypotheses is None:
        return f"{f.known} in exact polynomial arithmetic"
    source = f", from: {'; '.join(f.hypotheses)}" if f.hypotheses else ""
    return f"{f.known} for unknown vectors, of any number and size{source}"


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in values.items())
