"""Which methods descend on functions that need not be convex: published and certified constants."""

import math
from dataclasses import dataclass, replace
from pathlib import Path

from certibit.data.errors import Refusal
from certibit.data.files.cache import write_atomically
from certibit.data.terminal import paragraph, table
from certibit.figures.certified.classes.rule_point import L, RulePoint, with_some_step
from certibit.solvers.method import Method
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import METHODS, STOCHASTIC
from certibit.theory.descent.descent_account import DescentAccount, descent_account
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting

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
    rule: str
    account: DescentAccount | None
    reason: str = ""

    @property
    def cells(self) -> tuple[str, ...]:
        """The row of the table."""
        label = f"  {self.card.label}"
        if self.account is None:
            return (label, self.rule, *["-"] * 4)
        one, step = self.account, math.nan
        if one.step_name is not None:
            step = getattr(one.method, one.step_name)
        numbers = one.published, one.certificate.c, step, one.largest_step, one.best, one.best_step
        published, certified, step, largest, best, best_step = (L * x for x in numbers)
        return (
            label,
            self.rule,
            _small(published),
            f"{_small(certified)} at {_small(step)}",
            _small(largest),
            f"{_small(best)} at {_small(best_step)}",
        )


def descent_row(card: Card, n: int, omega: float) -> DescentRow:
    """Certify the descent of a method with the parameters of a rule, or with a smaller step."""

    def certified(method: Method) -> DescentAccount:
        functions = FunctionClass.of(at.smooth)
        if reduces_variance(card, method, at.smooth):
            noise = GradientNoise(difference=at.smooth.difference)
            functions = replace(functions, noise=noise)
        account = descent_account(card, method, at.smooth, functions)
        if account.certificate.c <= 0:
            raise Refusal(
                f"at n = {n} no step that was tried has a descent, the other parameters fixed"
            )
        return account

    rule = "-"
    try:
        at = RulePoint.of(card, n, omega)
        rule = at.rule
        account, part = with_some_step(card, at.method, certified)
    except Refusal as refusal:
        return DescentRow(card, rule, None, str(refusal))
    return DescentRow(card, f"{rule}/{1 / part:g}" if part < 1 else rule, account)


def reduces_variance(card: Card, method: Method, where: Setting) -> bool:
    """Whether a method for stochastic gradients has theorems with e = 0."""
    stochastic = card.name in STOCHASTIC
    return stochastic and not any(one.noise(method, where) for one in card.descents)


def descents_table(points: tuple[tuple[int, float], ...] = POINTS) -> str:
    """Certify all methods at some points (n, omega) and tabulate them."""
    rows: list[tuple[str, ...]] = []
    reasons: dict[str, str] = {}
    for n, omega in points:
        rows.append((f"{n}, {omega:g}", *[""] * 5))
        for card in (METHODS | STOCHASTIC).values():
            found = descent_row(card, n, omega)
            rows.append(found.cells)
            if found.reason:
                reasons.setdefault(card.label, found.reason)
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
