"""The papers of the methods of the catalogue, as BibTeX."""

import re
from collections.abc import Iterable
from pathlib import Path

_FILE = Path(__file__).with_name("references.bib")
_METHODS = re.compile(r"\n  methods = \{(.*)\},")


def bibtex(names: Iterable[str]) -> str:
    """Return the entries of the papers in which methods are published, without those of others.

    Examples
    --------
    >>> bibtex(["locodl"]).splitlines()[0]
    '@inproceedings{locodl,'
    """
    asked, found = set(names), []
    for entry in re.split(r"(?m)^(?=@)", _FILE.read_text(encoding="utf-8"))[1:]:
        for methods in _METHODS.findall(entry):
            if asked & set(methods.split(", ")):
                found.append(_METHODS.sub("", entry))
    return "\n".join(found)
