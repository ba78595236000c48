"""Which methods are certified on convex functions, and under the Polyak-Lojasiewicz condition."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import L, RulePoint, with_some_step
from certibit.solvers.method import Method
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.function_class import FunctionClass

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
    try:
        at = RulePoint.of(card, n, omega)
    except Refusal as refusal:
        return ("-", "-", "-"), {"": str(refusal)}
    smooth = FunctionClass.of(at.smooth)
    convex = replace(smooth, mu=0.0)
    under = replace(smooth, assumptions=(*smooth.assumptions, PolyakLojasiewicz(1.0)))
    cells, reasons = [at.rule], {}
    asked: dict[str, Callable[[Method], DescentCertificate]] = {
        "convex": lambda method: certify_descent(method, convex),
        "PL": lambda method: certify_descent(method, under, measure="potential"),
    }
    for label, certified in asked.items():
        try:
            proof, part = with_some_step(card, at.method, certified)
        except Refusal as refusal:
            cells.append("-")
            reasons[label] = str(refusal)
            continue
        step = f" at {L * getattr(proof.method, card.step_size):.3g}" if card.step_size else ""
        cells.append(f"{L * proof.c:.3g}{step}" + (f" (/{1 / part:g})" if part < 1 else ""))
    return tuple(cells), reasons


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
