"""Which methods descend on functions that need not be convex: published and certified constants."""

import math
from dataclasses import dataclass
from pathlib import Path

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import AtRule, L, RulePoint, certified_at_rule
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS, STOCHASTIC
from certibit.theory.descent.descent_account import DescentAccount, descent_account

POINTS = ((10, 1.0), (10, 9.0), (1000, 9.0))
"""n and omega; alpha = 1/(1 + omega) for contractions."""

_CAPTION = (
    "c L in E[Psi+] <= Psi - c |grad f(x)|^2 for L-smooth f_i, and steps in units of 1/L: "
    "published, and certified at the step of the rule; the largest step with a certified descent; "
    "and the largest certified c that a search over steps finds. Rules that are not named "
    f"nonconvex are those for strongly convex f_i with kappa = {L:g}. Gradients are exact, but for "
    "methods that reduce variance: the noises of one of their samples at two points differ by at "
    "most L |x - y| in the mean square."
)


@dataclass(frozen=True)
class DescentRow:
    """One method at one point: its account, or the sentence why there is none."""

    card: Card
    at: AtRule[DescentAccount]

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        label = f"  {self.card.label}"
        if self.at.found is None:
            return (label, self.at.rule, *["-"] * 4)
        one, step = self.at.found, math.nan
        if one.step_name is not None:
            step = getattr(one.method, one.step_name)
        numbers = one.published, one.certificate.c, step, one.largest_step, one.best, one.best_step
        published, certified, step, largest, best, best_step = (L * x for x in numbers)
        return (
            label,
            self.at.rule,
            _small(published),
            f"{_small(certified)} at {_small(step)}",
            _small(largest),
            f"{_small(best)} at {_small(best_step)}",
        )


def descent_row(card: Card, n: int, omega: float) -> DescentRow:
    """Certify the descent of a method with the parameters of a rule, or with a smaller step."""

    def certified(at: RulePoint, method: Method) -> DescentAccount:
        account = descent_account(card, method, at.smooth, at.functions)
        if account.certificate.c <= 0:
            raise Refusal(
                f"at n = {n} no step that was tried has a descent, the other parameters fixed"
            )
        return account

    return DescentRow(card, certified_at_rule(card, n, omega, certified))


def descents_table(points: tuple[tuple[int, float], ...] = POINTS) -> str:
    """Certify all methods at some points (n, omega) and tabulate them."""
    rows: list[tuple[str, ...]] = []
    reasons: dict[str, str] = {}
    for n, omega in points:
        rows.append((f"{n}, {omega:g}", *[""] * 5))
        for card in (METHODS | STOCHASTIC).values():
            found = descent_row(card, n, omega)
            rows.append(found.cells)
            if found.at.reason:
                reasons.setdefault(card.label, found.at.reason)
    notes = [paragraph(f"{label}: {reason}.") for label, reason in reasons.items()]
    header = ("n, omega", "rule", "published", "certified", "largest step", "best")
    return "\n\n".join([paragraph(_CAPTION), table(header, rows, texts=2), "\n".join(notes)])


def write_descents(folder: Path) -> str:
    """Write the table of all methods as ``descents.txt``, and return it."""
    text = descents_table()
    write_atomically(folder / "descents.txt", lambda file: file.write(f"{text}\n".encode()))
    return text


def _small(value: float) -> str:
    return f"{value:.3g}" if math.isfinite(value) else "-"
