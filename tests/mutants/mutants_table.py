"""The table of mutants: what caught how many of every kind, and the patches of survivors."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from mutations import Mutant
from sampling import OF_THE_CHECK, is_checked, kind

Row = Mapping[str, Any]
COLUMNS = ("check", "survived", "equivalent")


def write_table(
    folder: Path,
    sample: Sequence[Mutant],
    seen: Mapping[str, tuple[str, str]],
    arguments: Mapping[str, str],
) -> str:
    """Write ``table.md`` and ``table.json``; return the text without the patches."""
    rows = [
        {
            "kind": kind(mutant.file),
            "file": mutant.file,
            "function": mutant.function,
            "operator": mutant.operator,
            "patch": mutant.patch,
            "name": mutant.name,
            **_fate(mutant.name, seen, arguments),
        }
        for mutant in sample
    ]
    counted = list(_counts(rows))
    patches = [line for row in rows if row["fate"] == "survived" for line in _lines(row)]
    today = date.today().isoformat()
    title = [f"{len(rows)} faults made by machine, {today}.", ""]
    (folder / "table.md").write_text("\n".join([*title, *counted, *patches]) + "\n", "utf-8")
    told = json.dumps({"date": today, "mutants": rows}, indent=1)
    (folder / "table.json").write_text(told + "\n", encoding="utf-8")
    return "\n".join([*title, *counted])


def _fate(
    name: str, seen: Mapping[str, tuple[str, str]], arguments: Mapping[str, str]
) -> dict[str, str]:
    """Return what became of a mutant, and by whom or why."""
    if name in arguments:
        return {"fate": "equivalent", "by": arguments[name]}
    fate, by = seen.get(name, ("survived", ""))
    return {"fate": fate, "by": by}


def _counts(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the lines of the table of counts; shares are of what is not equivalent."""
    kinds = sorted({row["kind"] for row in rows}, key=lambda name: (name not in OF_THE_CHECK, name))
    groups = {name: [row for row in rows if row["kind"] == name] for name in kinds}
    groups["**those for `check`**"] = [row for row in rows if is_checked(row["file"])]
    groups["**all**"] = list(rows)
    yield "| kind | by check | survived | equivalent | share |"
    yield "|---|---|---|---|---|"
    for label, group in groups.items():
        fates = Counter(row["fate"] for row in group)
        row = [fates[fate] for fate in COLUMNS]
        share = row[0] / max(1, sum(row[:2]))
        yield f"| {label} | {' | '.join(map(str, row))} | {share:.0%} |"


def _lines(row: Row) -> Iterator[str]:
    yield from ("", f"`{row['file']}`, {row['function'] or 'module'} ({row['operator']}):", "")
    yield from (f"    {line}" for line in row["patch"])
