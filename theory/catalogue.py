"""All methods by name, each with its theorems and parameter rules."""

from difflib import get_close_matches
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.method import Method
from bitbound.theory import (
    adiana,
    agd,
    compressed_scaffnew,
    dasha,
    diana,
    ef21,
    fedcomgate,
    five_gcs_cc,
    gd,
    gradskip,
    locodl,
    marina,
    scaffnew,
    scaffold,
    tamuna,
)
from bitbound.theory.clipping import CLASSES
from bitbound.theory.theorem import Entry

METHODS: dict[str, Entry] = {
    entry.method.name: entry
    for entry in (
        gd.ENTRY,
        agd.ENTRY,
        diana.ENTRY,
        adiana.ENTRY,
        ef21.ENTRY,
        marina.ENTRY,
        dasha.ENTRY,
        five_gcs_cc.ENTRY,
        locodl.ENTRY,
        scaffnew.ENTRY,
        compressed_scaffnew.ENTRY,
        tamuna.ENTRY,
        gradskip.ENTRY,
        scaffold.ENTRY,
        fedcomgate.ENTRY,
    )
}
"""The methods for strongly convex problems by name."""


def method_entry(name: str) -> Entry:
    """Give a method's entry by name; that of a clipping method has neither theorems nor rules.

    Raises
    ------
    Refusal
        If no method has this name.
    """
    if name in METHODS:
        return METHODS[name]
    if name in CLASSES:
        return Entry(CLASSES[name], (), {})
    names = [*METHODS, *CLASSES]
    near = get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(names)}"
    raise Refusal(f"the method {name!r} is unknown; {hint}")


def parameters(
    name: str,
    problem: Any,
    compressor: Compressor | None = None,
    rule: str | None = None,
    **options: Any,
) -> Method:
    """Make a method with parameters from theory; see :meth:`Entry.parameters`."""
    return method_entry(name).parameters(problem, compressor, rule, **options)
