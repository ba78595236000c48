"""Which methods are certified on convex functions, and under the Polyak-Lojasiewicz condition."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically
from certibit.data.problem import Constants
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.descent_table import PARTS, L
from certibit.solvers.method import Method
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.certificates.summary import class_setting
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting

POINTS = ((10, 1.0),)
"""n and omega; alpha = 1/(1 + omega) for contractions."""

_CAPTION = (
    "Convex: c L in E[Psi+] <= Psi - c (f(x) - f*) for convex, L-smooth f_i, with Psi at most "
    "|x - x*|^2 at the state at rest about x. PL: rho L/mu in E[Psi+] <= (1 - rho) Psi for "
    f"L-smooth f_i whose average has |grad f|^2 >= 2 mu (f - inf f), mu = L/{L:g}. Steps are in "
    "units of 1/L. Rules that are not named nonconvex are those for strongly convex f_i with kappa "
    f"= {L:g}; after a slash the number by which their step is divided."
)


def convex_cells(card: Card, n: int, omega: float) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a row: the rule, and what is certified of both classes; and why nothing is."""
    sent = omega if card.method.needs.compressor else None
    strongly = class_setting(card.method, n, L, sent, None, 20)
    where = Setting(Constants(-L, np.full(n, L), L), n, strongly.d, strongly.compressor)
    rule = card.default_rule(where)
    try:
        method = card.at(where if rule == "nonconvex" else strongly, rule)
    except Refusal as refusal:
        return (rule, "-", "-"), {"": str(refusal)}
    smooth = FunctionClass.of(where)
    convex = replace(smooth, mu=0.0)
    under = replace(smooth, assumptions=(*smooth.assumptions, PolyakLojasiewicz(1.0)))
    cells, reasons = [rule], {}
    for label, certified in (
        ("convex", lambda m: L * certify_descent(m, convex).c),
        ("PL", lambda m: L * certify_descent(m, under, measure="potential").c),
    ):
        text, reason = _with_some_step(card, method, certified)
        cells.append(text)
        if reason:
            reasons[label] = reason
    return tuple(cells), reasons


def _with_some_step(
    card: Card, method: Method, certified: Callable[[Method], float]
) -> tuple[str, str]:
    """Return what is certified with the step of the rule or a smaller one, or why nothing is."""
    name, reason = card.step_size, ""
    for part in PARTS if name else PARTS[:1]:
        step = part * getattr(method, name) if name else np.nan
        changes: Any = {name: step} if name else {}
        try:
            found = certified(replace(method, **changes))
        except Refusal as refusal:
            reason = str(refusal)
            continue
        divided = f" (/{1 / part:g})" if part < 1 else ""
        return f"{found:.3g}" + (f" at {L * step:.3g}{divided}" if name else ""), ""
    return "-", reason


def convex_table(points: tuple[tuple[int, float], ...] = POINTS) -> str:
    """Certify all methods at some points (n, omega) and tabulate them."""
    rows: list[tuple[str, ...]] = []
    sentences: dict[tuple[str, str], list[str]] = {}
    for n, omega in points:
        rows.append((f"{n}, {omega:g}", "", "", ""))
        for card in METHODS.values():
            cells, reasons = convex_cells(card, n, omega)
            rows.append((f"  {card.label}", *cells))
            for label, reason in reasons.items():
                sentences.setdefault((label, reason), [])
                if card.label not in sentences[label, reason]:
                    sentences[label, reason].append(card.label)
    notes = [
        paragraph(f"{', '.join(names)}{f' ({label})' if label else ''}: {reason}.")
        for (label, reason), names in sentences.items()
    ]
    header = ("n, omega", "rule", "convex", "PL")
    return "\n\n".join([paragraph(_CAPTION), table(header, rows, texts=2), "\n".join(notes)])


def write_convex(folder: Path) -> str:
    """Write the table of all methods as ``convex.txt``, and return it."""
    text = convex_table()
    write_atomically(folder / "convex.txt", lambda file: file.write(f"{text}\n".encode()))
    return text
