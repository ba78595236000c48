"""Which methods are certified on convex functions, and under the Polyak-Lojasiewicz condition."""

from dataclasses import replace
from pathlib import Path

from certibit.data.files.cache import write_atomically
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import AtRule, L, RulePoint, certified_at_rule
from certibit.solvers.method import Method
from certibit.theory.assumptions.polyak_lojasiewicz import PolyakLojasiewicz
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS, STOCHASTIC
from certibit.theory.chains.known_runs import ACCELERATED, GRADIENT_DESCENT
from certibit.theory.descent.certify_descent import certify_descent
from certibit.theory.descent.descent_account import StatedDescent, stated_descent
from certibit.theory.descent.descent_certificate import DescentCertificate
from certibit.theory.verdict import Known

POINTS = ((10, 1.0),)
"""n and omega; alpha = 1/(1 + omega) for contractions."""

_CAPTION = (
    "Convex: c L in E[Psi+] <= Psi - c (f(x) - f*) for convex, L-smooth f_i, with Psi at most "
    "|x - x*|^2 at the state at rest about x: stated by a theorem, and certified. PL: rho L/mu in "
    "E[Psi+] <= (1 - rho) Psi for L-smooth f_i whose average has |grad f|^2 >= 2 mu (f - inf f), "
    f"mu = L/{L:g}. Steps are in units of 1/L. Rules that are not named convex or nonconvex are "
    f"those for strongly convex f_i with kappa = {L:g}; after a slash the number by which their "
    "step is divided. Gradients are exact, but for methods that reduce variance: the noises of one "
    "of their samples at two points differ by at most L |x - y| in the mean square."
)

HEADER = ("n, omega", "rule", "stated", "convex", "PL")

Stated = tuple[StatedDescent | None, DescentCertificate]


def convex_cells(card: Card, n: int, omega: float) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return a row: the rule, what is stated and certified of both classes; and why nothing is."""

    def over_convex(at: RulePoint, method: Method) -> Stated:
        return stated_descent(card, method, at.smooth, at.functions), certify_descent(
            method, at.functions
        )

    def gradually(at: RulePoint, method: Method) -> Stated:
        condition = PolyakLojasiewicz(1.0)
        under = replace(at.functions, assumptions=(*at.functions.assumptions, condition))
        return None, certify_descent(method, under, measure="potential")

    def written(one: AtRule[Stated]) -> tuple[str, str]:
        if one.found is None:
            return "-", "-"
        stated, proof = one.found
        step = f" at {L * getattr(proof.method, card.step_size):.3g}" if card.step_size else ""
        return f"{L * stated.c:.3g}" if stated else "-", f"{L * proof.c:.3g}{step}"

    convex = certified_at_rule(card, n, omega, over_convex, convex=True)
    gradual = certified_at_rule(card, n, omega, gradually)
    _, cell = written(gradual)
    if gradual.found is not None and gradual.rule != convex.rule:
        cell += f" ({gradual.rule})"
    reasons = {"convex": convex.reason, "PL": gradual.reason}
    told = {label: reason for label, reason in reasons.items() if reason}
    return (convex.rule, *written(convex), cell), told


def convex_table(points: tuple[tuple[int, float], ...] = POINTS) -> str:
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
    notes.append(paragraph(_of_runs()))
    return "\n\n".join([paragraph(_CAPTION), table(HEADER, rows, texts=2), "\n".join(notes)])


def _of_runs() -> str:
    """Say what is proved of runs of any length, after its proofs are checked."""
    proved = {
        "GD with gamma = 1/L: f(x_T) - f* <= L |x_0 - x*|^2/(4 T + 2)": GRADIENT_DESCENT,
        "Nesterov with gamma = 1/L: f(x_T) - f* <= 2 L |x_0 - x*|^2/(T + 1)^2": ACCELERATED,
    }
    held = [said for said, proof in proved.items() if proof.verify()]
    return f"For runs of any length T >= 1, {Known.PROVED.words()}: {'; '.join(held)}."


def write_convex(folder: Path) -> str:
    """Write the table of all methods as ``convex.txt``, and return it."""
    text = convex_table()
    write_atomically(folder / "convex.txt", lambda file: file.write(f"{text}\n".encode()))
    return text
