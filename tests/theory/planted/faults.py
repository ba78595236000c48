"""The catalogue of planted faults of faults.txt, by what they are in."""

import json
from collections import defaultdict
from pathlib import Path

from planting import Fault


def read_faults(text: str) -> dict[str, list[Fault]]:
    """Return the faults of a text by its headings; the first lines of faults.txt explain it."""
    entries, found = [], defaultdict(list)
    for line in text.splitlines():
        mark, rest = line[:1], line[2:]
        if mark == "%":
            part = rest
        elif mark == "@":
            words = [*map(str.strip, rest.split("|")), "", "", "", ""]
            module, method, rule, sent, options = words[:5]
            subject = method, rule or None, sent or None
            more = tuple(json.loads(options or "{}").items())
        elif mark == "=":
            changes = []
            entries.append((part, rest, module, changes, subject, more))
        elif mark and mark in "-+":
            if mark == "-" and (not changes or changes[-1][1]):
                changes.append(([], []))
            changes[-1][mark == "+"].append(rest)
    for part, name, module, changes, subject, more in entries:
        pairs = tuple(("\n".join(right), "\n".join(wrong)) for right, wrong in changes)
        found[part].append(Fault(name, module, pairs, subject, more))
    return found


BY_PART = read_faults(Path(__file__).with_name("faults.txt").read_text(encoding="utf-8"))
COMPILED, BESIDE_COMPILED = "compiled code", "code that is not compiled, in runs that are"
FAULTS = [fault for part in [*BY_PART][: [*BY_PART].index(COMPILED)] for fault in BY_PART[part]]
"""Those of the catalogue, which the battery is shown; what follows has tests of its own."""
