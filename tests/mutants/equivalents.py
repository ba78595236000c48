"""Mutants that change nothing that is promised, each with its argument in one line.

They stand in ``equivalents.json`` with file, function and patch: an argument holds for this patch
only, since the name of a mutant is the hash of the three.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from mutations import name_of

FILE = Path(__file__).with_name("equivalents.json")


def equivalents(file: Path = FILE) -> Mapping[str, str]:
    """Return the arguments by the names of the mutants that they speak about."""
    rows = json.loads(file.read_text(encoding="utf-8"))
    return {
        name_of(row["file"], row["function"], tuple(row["patch"])): row["argument"] for row in rows
    }
