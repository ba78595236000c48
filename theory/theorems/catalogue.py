"""All methods by name, each with its theorems and parameter rules."""

from difflib import get_close_matches
from typing import Any

from bitbound.data.errors import Refusal
from bitbound.data.problem import Problem
from bitbound.solvers.compressors.base import Compressor
from bitbound.solvers.method import Method
from bitbound.theory.theorem import Card
from bitbound.theory.theorems import (
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
from bitbound.theory.theorems.clipping import CLASSES

METHODS: dict[str, Card] = {
    entry.method.name: entry
    for entry in (
        gd.CARD,
        agd.CARD,
        diana.CARD,
        adiana.CARD,
        ef21.CARD,
        marina.CARD,
        dasha.CARD,
        five_gcs_cc.CARD,
        locodl.CARD,
        scaffnew.CARD,
        compressed_scaffnew.CARD,
        tamuna.CARD,
        gradskip.CARD,
        scaffold.CARD,
        fedcomgate.CARD,
    )
}
"""The methods for strongly convex problems by name."""


def method_entry(name: str) -> Card:
    """Return a method's entry by name; that of a clipping method has neither theorems nor rules.

    Raises
    ------
    Refusal
        If no method has this name.
    """
    if name in METHODS:
        return METHODS[name]
    if name in CLASSES:
        return Card(CLASSES[name], (), {})
    names = [*METHODS, *CLASSES]
    near = get_close_matches(name, names, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose one of {', '.join(names)}"
    raise Refusal(f"the method {name!r} is unknown; {hint}")


def parameters(
    name: str,
    problem: Problem,
    compressor: Compressor | None = None,
    rule: str | None = None,
    **options: Any,
) -> Method:
    """Make a method with parameters from theory; see :meth:`Entry.parameters`."""
    return method_entry(name).parameters(problem, compressor, rule, **options)
