"""What is certified with the parameters of rules: over convex functions, under PL, and descents."""

import math
from dataclasses import replace
from pathlib import Path

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import L, RulePoint, certified_at_rule
from certibit.solvers.method import Method
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS, STOCHASTIC
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import (
    Account,
    StatedDescent,
    account,
    stated_descent,
)
from certibit.theory.proofs.proof import Proof

CONVEX_POINTS = ((10, 1.0),)
"""n and omega; alpha = 1/(1 + omega) for contractions."""

_CONVEX = (
    "Convex: c L in E[Psi+] <= Psi - c (f(x) - f*) for convex, L-smooth f_i, with Psi at most "
    "|x - x*|^2 at the state at rest about x: stated by a theorem, and certified. PL: rho L/mu in "
    "E[Psi+] <= (1 - rho) Psi for L-smooth f_i whose average has |grad f|^2 >= 2 mu (f - inf f), "
    f"mu = L/{L:g}. Steps are in units of 1/L. Rules that are not named convex or nonconvex are "
    f"those for strongly convex f_i with kappa = {L:g}; after a slash the number by which their "
    "step is divided. Gradients are exact, but for methods that reduce variance: the noises of one "
    "of their samples at two points differ by at most L |x - y| in the mean square."
)

HEADER = ("n, omega", "rule", "stated", "convex", "PL")

Stated = tuple[StatedDescent | None, Proof]


def convex_cells(card: Card, n: int, omega: float) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a row: the rule, what is stated and certified of both classes; and why nothing is."""

    def over_convex(at: RulePoint, method: Method) -> Stated:
        return stated_descent(card, method, at.smooth, at.functions), certify(method, at.functions)

    def gradually(at: RulePoint, method: Method) -> Stated:
        condition = PolyakLojasiewicz(1.0)
        under = replace(at.functions, assumptions=(*at.functions.assumptions, condition))
        return None, certify(method, under, measure="potential")

    def written(proved: Stated | None) -> tuple[str, str]:
        if proved is None:
            return "-", "-"
        stated, proof = proved
        step = f" at {L * getattr(proof.method, card.step_size):.3g}" if card.step_size else ""
        return f"{L * stated.c:.3g}" if stated else "-", f"{L * proof.c:.3g}{step}"

    rule, convex, reason = certified_at_rule(card, n, omega, over_convex, convex=True)
    other, gradual, why = certified_at_rule(card, n, omega, gradually)
    _, cell = written(gradual)
    if gradual is not None and other != rule:
        cell += f" ({other})"
    reasons = {label: each for label, each in (("convex", reason), ("PL", why)) if each}
    return (rule, *written(convex), cell), reasons


def convex_table(points: tuple[tuple[int, float], ...] = CONVEX_POINTS) -> str:
    """Certify all methods at some points (n, omega) and tabulate them."""
    rows: list[tuple[str, ...]] = []
    sentences: dict[str, dict[str, list[str]]] = {}
    for n, omega in points:
        rows.append((f"{n}, {omega:g}", *[""] * (len(HEADER) - 1)))
        for card in (METHODS | STOCHASTIC).values():
            cells, reasons = convex_cells(card, n, omega)
            rows.append((f"  {card.label}", *cells))
            for label, reason in reasons.items():
                names = sentences.setdefault(reason, {}).setdefault(card.label, [])
                names += [label] if label not in names else []
    notes = [
        paragraph(
            "; ".join(f"{name} ({', '.join(labels)})" for name, labels in of.items())
            + f": {reason}."
        )
        for reason, of in sentences.items()
    ]
    return "\n\n".join([paragraph(_CONVEX), table(HEADER, rows, texts=2), "\n".join(notes)])


def write_convex(folder: Path) -> str:
    """Write the table of all methods as ``convex.txt``, and return it."""
    text = convex_table()
    write_text(folder / "convex.txt", text)
    return text


DESCENT_POINTS = ((10, 1.0), (10, 9.0), (1000, 9.0))
"""n and omega; alpha = 1/(1 + omega) for contractions."""

_DESCENTS = (
    "c L in E[Psi+] <= Psi - c |grad f(x)|^2 for L-smooth f_i, and steps in units of 1/L: "
    "published, and certified at the step of the rule; the largest step with a certified descent; "
    "and the largest certified c that a search over steps finds. Rules that are not named "
    f"nonconvex are those for strongly convex f_i with kappa = {L:g}. Gradients are exact, but for "
    "methods that reduce variance: the noises of one of their samples at two points differ by at "
    "most L |x - y| in the mean square."
)


def descent_row(card: Card, n: int, omega: float) -> tuple[tuple[str, ...], str]:
    """Return a row: the rule and what is certified of the descent; and why nothing is."""

    def certified(at: RulePoint, method: Method) -> Account:
        found = account(card, method, at.smooth, functions=at.functions)
        if found.certificate.c <= 0:
            raise Refusal(
                f"at n = {n} no step that was tried has a descent, the other parameters fixed"
            )
        return found

    rule, one, reason = certified_at_rule(card, n, omega, certified)
    if one is None:
        return (rule, *["-"] * 4), reason
    step = math.nan if one.step_name is None else getattr(one.method, one.step_name)
    numbers = one.published, one.certificate.c, step, one.largest_step, one.best, one.best_step
    published, c, here, largest, best, there = (_small(L * x) for x in numbers)
    return (rule, published, f"{c} at {here}", largest, f"{best} at {there}"), ""


def write_descents(folder: Path) -> str:
    """Certify the descents of all methods, write the table as ``descents.txt``, and return it."""
    rows: list[tuple[str, ...]] = []
    reasons: dict[str, str] = {}
    for n, omega in DESCENT_POINTS:
        rows.append((f"{n}, {omega:g}", *[""] * 5))
        for card in (METHODS | STOCHASTIC).values():
            cells, reason = descent_row(card, n, omega)
            rows.append((f"  {card.label}", *cells))
            if reason:
                reasons.setdefault(card.label, reason)
    notes = [paragraph(f"{label}: {reason}.") for label, reason in reasons.items()]
    header = ("n, omega", "rule", "published", "certified", "largest step", "best")
    text = "\n\n".join([paragraph(_DESCENTS), table(header, rows, texts=2), "\n".join(notes)])
    write_text(folder / "descents.txt", text)
    return text


def _small(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"
