"""A page per audited proof: step by step, with witness and repair."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from certibit.figures.report.page import outcome_kind
from certibit.theory.verdict import FAILS, ONLY_IF
from making.method_page import toctree
from making.text import code, escaped, page, table


def audit_page(record: Mapping[str, Any]) -> str:
    """Return the page of a proof, from the record of its audit."""
    steps = record["steps"]
    counts = Counter(outcome_kind(step["verdict"]) for step in steps)
    wrong = [step for step in steps if outcome_kind(step["verdict"]) in (FAILS, ONLY_IF)]
    return page(
        f"# Proof: {escaped(record['proof'])}",
        escaped(record["source"]),
        "; ".join(f"{count} {verdict}" for verdict, count in counts.items()) + ".",
        "## Steps that fail as printed" if wrong else "",
        *(_finding(step) for step in wrong),
        "## All steps",
        table(
            ("step", "claim", "verdict", "severity", "evidence", "margin"),
            [
                (escaped(step["place"]), escaped(step["claim"]), step["verdict"],
                 step.get("severity") or "", _evidence(step), f"{step['margin']:.2e}")
                for step in steps
            ],
        ),
    )  # fmt: skip


def index_page(records: Iterable[Mapping[str, Any]]) -> str:
    """Return the list of all proofs."""
    records = list(records)
    rows = [
        (f"[{escaped(record['proof'])}]({record['proof']}.md)", escaped(record["source"]),
         str(len(record["steps"])))
        for record in records
    ]  # fmt: skip
    return page(
        "# Audited proofs",
        table(("proof", "source", "steps"), rows),
        toctree(record["proof"] for record in records),
    )


def _evidence(step: Mapping[str, Any]) -> str:
    return str(step.get("evidence") or step.get("known") or "")


def _finding(step: Mapping[str, Any]) -> str:
    rows = [
        (name, escaped(str(step[key])))
        for name, key in (
            ("verdict", "verdict"), ("severity", "severity"), ("claimed for", "space"),
            ("repair", "repair"), ("does the theorem survive?", "theorem survives"),
        )
        if step.get(key)
    ]  # fmt: skip
    return page(
        f"### {escaped(step['place'])}",
        code(step["claim"], "text"),
        table(("", ""), rows),
        _witness(step.get("witness")),
    ).strip()


def _witness(witness: Mapping[str, Any] | None) -> str:
    if not witness:
        return ""
    values = {**witness["cell"], **witness["variables"]}
    lines = [", ".join(f"{name} = {value}" for name, value in values.items())]
    lines.append(f"left = {witness['left']}, right = {witness['right']}")
    return page(f"Witness, in {witness['arithmetic']}:", code("\n".join(lines), "text")).strip()
