"""What is certified with the parameters of rules: over convex functions, under PL, and descents."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from certibit.data.errors import Refusal
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import L, RulePoint, certified_at_rule
from certibit.figures.text.tables import ABSENT, digits_text
from certibit.solvers.method import Method
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS, STOCHASTIC
from certibit.theory.certificates.certify import certify
from certibit.theory.certificates.summary import Account, StatedDescent, account, stated_descent
from certibit.theory.proofs.proof import Proof

Row = tuple[tuple[str, ...], Mapping[str, str]]
"""The cells of a method, none if it has no row, and why it lacks some, by what it lacks."""


def tabulated(
    caption: str,
    header: Sequence[str],
    points: Iterable[tuple[float, ...]],
    cards: Iterable[Card],
    row: Callable[..., Row],
    texts: int = 2,
) -> str:
    """Tabulate methods at some points; below stands each reason with the methods that have it.

    Parameters
    ----------
    points : sequence of tuple
        What each block of rows is about, such as n and omega.
    row : callable
        Gives the row of a card at the numbers of a point.
    """
    rows: list[tuple[str, ...]] = []
    sentences: dict[str, dict[str, list[str]]] = {}
    cards = list(cards)
    for point in points:
        rows.append((", ".join(f"{x:g}" for x in point), *[""] * (len(header) - 1)))
        for card in cards:
            cells, reasons = row(card, *point)
            rows += [(f"  {card.label}", *cells)] * bool(cells)
            for what, reason in reasons.items():
                lacks = sentences.setdefault(reason, {}).setdefault(card.label, [])
                lacks += [what] * (bool(what) and what not in lacks)
    notes = [
        paragraph(
            "; ".join(f"{label} ({', '.join(of)})" if of else label for label, of in names.items())
            + f": {reason}."
        )
        for reason, names in sentences.items()
    ]
    return "\n\n".join([paragraph(caption), table(header, rows, texts=texts), "\n".join(notes)])


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


def convex_cells(card: Card, n: int, omega: float) -> Row:
    """Return a row: the rule, what is stated and certified of both classes; and why nothing is."""

    def over_convex(at: RulePoint, method: Method) -> Stated:
        return stated_descent(card, method, at.smooth, at.functions), certify(method, at.functions)

    def gradually(at: RulePoint, method: Method) -> Stated:
        condition = PolyakLojasiewicz(1.0)
        under = replace(at.functions, assumptions=(*at.functions.assumptions, condition))
        return None, certify(method, under, measure="potential")

    def written(proved: Stated | None) -> tuple[str, str]:
        if proved is None:
            return ABSENT, ABSENT
        stated, proof = proved
        step = f" at {L * getattr(proof.method, card.step_size):.3g}" if card.step_size else ""
        return f"{L * stated.c:.3g}" if stated else ABSENT, f"{L * proof.c:.3g}{step}"

    rule, convex, reason = certified_at_rule(card, n, omega, over_convex, convex=True)
    other, gradual, why = certified_at_rule(card, n, omega, gradually)
    _, cell = written(gradual)
    if gradual is not None and other != rule:
        cell += f" ({other})"
    reasons = {label: each for label, each in (("convex", reason), ("PL", why)) if each}
    return (rule, *written(convex), cell), reasons


def convex_table() -> str:
    """Certify all methods over convex functions and under PL, and tabulate them."""
    cards = (METHODS | STOCHASTIC).values()
    return tabulated(_CONVEX, HEADER, CONVEX_POINTS, cards, convex_cells)


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


def descent_row(card: Card, n: int, omega: float) -> Row:
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
        return (rule, *[ABSENT] * 4), {"": reason}
    step = math.nan if one.step_name is None else getattr(one.method, one.step_name)
    numbers = one.published, one.certificate.c, step, one.largest_step, one.best, one.best_step
    published, c, here, largest, best, there = (digits_text(L * x, 3) for x in numbers)
    return (rule, published, f"{c} at {here}", largest, f"{best} at {there}"), {}


def descent_table() -> str:
    """Certify the descents of all methods, and tabulate them."""
    header = ("n, omega", "rule", "published", "certified", "largest step", "best")
    cards = (METHODS | STOCHASTIC).values()
    return tabulated(_DESCENTS, header, DESCENT_POINTS, cards, descent_row)
