"""A page per method, made of its card, its class, its certificates and a comparison."""

import inspect
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from certibit.data.errors import Refusal
from certibit.figures.certified.rates import Rate
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.costs import cost_text
from certibit.figures.text.tables import accuracy_name
from certibit.solvers.total_bits import total_text
from certibit.theory.card import Card
from certibit.theory.certificates.summary import class_setting
from certibit.theory.theorem import Theorem
from making.text import (
    code,
    displayed,
    docstring,
    escaped,
    formula,
    headline,
    page,
    prose,
    table,
)

SETTINGS = ((10, 100.0, 9.0), (10, 1000.0, 9.0), (100, 1000.0, 9.0))
SETTINGS_ALONE = ((1, 100.0, 9.0), (1, 1000.0, 9.0), (1, 1000.0, 99.0))
"""n, kappa and omega of the three settings of a page, and where there may be one client only."""
_QUANTITIES = ("bits", "downlink bits", "total bits", "rounds", "gradients")
_STEPS = ("at", "local_step", "communicate")
_POTENTIAL = re.compile(r"Psi\s*=\s*(.*?)(?:\.\s|\.$|, (?=u_i)|;)", flags=re.DOTALL)
DOWNLINK = 1.0
"""The weight of a bit received in the total bits of a page."""


def method_page(card: Card, rates: Sequence[Rate], compared: Comparison | None) -> str:
    """Return the page of a method.

    Parameters
    ----------
    card : Card
        Of the method.
    rates : sequence of Rate
        Published and certified, of its default rule at the three settings.
    compared : Comparison or None
        All methods for the same kind of problem.
    """
    told = docstring(card.method)
    notes = told.sections.get("Notes", "")
    return page(
        f"# {card.label}",
        headline(told.summary),
        "## Algorithm",
        prose(told.body),
        "The code that is run, counted, checked and certified:",
        _steps(card),
        prose(notes),
        "## Parameters",
        table(("parameter", "meaning", "role"), _parameters(card)),
        _rules(card),
        *_theorems(card),
        _rates(rates),
        _beside(card, compared),
        _accounting(card),
        "## Source",
        _sources(card),
        code(inspect.getsource(inspect.getmodule(card.method))),
    )


def index_page(cards: Mapping[str, Card]) -> str:
    """Return the list of all methods."""
    rows = [
        (f"[{card.label}]({name}.md)", headline(docstring(card.method).summary),
         _stated(card) or "none")
        for name, card in cards.items()
    ]  # fmt: skip
    return page(
        "# Methods",
        "Each page is generated from the class and the card of a method, with certified rates and "
        "a comparison. U(omega) and B(alpha) are the classes of compressors of the "
        "[glossary](../../glossary.md).",
        table(("method", "problem", "theorems"), rows),
        toctree(cards),
    )


def _stated(card: Card) -> str:
    pairs = zip(card.titles, card.statuses, strict=True)
    return escaped("; ".join(f"{title} ({status})" for title, status in pairs))


def toctree(names: Any) -> str:
    """Return the pages of a folder for the navigation."""
    return "```{toctree}\n:hidden:\n\n" + "\n".join(names) + "\n```"


def _steps(card: Card) -> str:
    found = [vars(owner).get(name) for owner in card.method.__mro__[:-1] for name in _STEPS]
    written = [step for step in found if inspect.isfunction(step) and not _abstract(step)]
    first = {step.__name__: step for step in reversed(written)}
    sources = [inspect.getsource(first[name]) for name in _STEPS if name in first]
    return code("\n".join(map(textwrap.dedent, sources)))


def _abstract(step: Any) -> bool:
    return step.__module__ == "certibit.solvers.method"


def _parameters(card: Card) -> list[tuple[str, str, str]]:
    return [
        (f"`{head}`", escaped(meaning), ", ".join(
            f"{name.strip()}: {card.roles[name.strip()]}"
            for name in head.split(":")[0].split(",") if name.strip() in card.roles
        ))
        for head, meaning in docstring(card.method).entries("Parameters")
    ]  # fmt: skip


def _rules(card: Card) -> str:
    if not card.rules:
        return "No rule of theory chooses the parameters: set them, or tune them on a grid."
    rows = []
    for place, (name, rule) in enumerate(card.rules.items()):
        told = docstring(rule)
        _, *options = inspect.signature(rule).parameters
        left = f" Options: {', '.join(options)}." if options else ""
        default = " (default)" if place == 0 else ""
        rows.append((f"`{name}`{default}", escaped(f"{told.summary} {told.body}{left}")))
    return page("Rules of theory:", table(("rule", "choice"), rows)).strip()


def _theorems(card: Card) -> list[str]:
    parts = [
        "## Theorems",
        "" if card.about("potential") else "The card has no theorem with a contraction factor.",
    ]
    for theorem in card.about("potential", "squared_gradient", "gap"):
        told = docstring(type(theorem))
        parts += [
            f"### {escaped(theorem.title)} ({theorem.status})",
            escaped(told.summary),
            prose(told.body),
            _conditions(card, theorem),
            _potential(theorem),
        ]
    for theorem in (*card.about("gradient_norm"), *card.along_runs):
        told = docstring(type(theorem))
        proof = prose(told.sections.get("Notes", ""))
        parts += [f"### {escaped(theorem.title)}", escaped(told.summary), prose(told.body), proof]
    return parts


def _conditions(card: Card, theorem: Theorem) -> str:
    n, kappa, omega = SETTINGS[0]
    try:
        setting = class_setting(card.method, n, kappa, _omega(card, omega), None, 20)
        rule = next(
            (r for r in card.rules if not theorem.unmet(card.at(setting, r), setting)), None
        )
        conditions = theorem.conditions(card.at(setting, rule), setting)
    except Refusal as reason:
        return f"Its hypotheses are not evaluated here: {escaped(str(reason))}."
    rows = [
        (f"`{each.statement}`", f"{each.used:.3g}" if np.isfinite(each.used) else "",
         "holds" if each.holds else "does not hold")
        for each in conditions
    ]  # fmt: skip
    used = f"Hypotheses, by the rule `{rule or next(iter(card.rules))}` at n = {n}, "
    return page(
        used + f"kappa = {kappa:g}, omega = {omega:g}:",
        table(("hypothesis", "used of its limit", ""), rows),
    ).strip()


def _omega(card: Card, omega: float) -> float | None:
    return omega if card.method.needs.compressor else None


def _potential(theorem: Theorem) -> str:
    """Return Psi as the docstring says it, or else as the code does."""
    for owner in type(theorem).__mro__:
        found = _POTENTIAL.search(owner.__doc__ or "")
        if found:
            text = re.sub(r":\w+:`([^`]*)`", r"\1", " ".join(found[1].split()))
            return page("Its potential:", displayed(formula(f"Psi = {text}"))).strip()
    return page(
        "Its potential, as it is evaluated:",
        code(textwrap.dedent(inspect.getsource(type(theorem).lyapunov))),
    ).strip()


def _rates(rates: Sequence[Rate]) -> str:
    if not rates:
        return ""
    rows = [
        (f"{rate.n}", f"{rate.kappa:g}", f"{rate.omega:g}", _small(rate.published),
         _small(rate.certified), escaped(rate.verdict))
        for rate in rates
    ]  # fmt: skip
    return page(
        "## Promised and certified",
        f"1 - factor per iteration with the parameters of the rule `{rates[0].rule}`: what the "
        "theorem promises, and what is certified over all functions and all compressors, with the "
        "weights of the method's potential.",
        table(("n", "kappa", "omega", "promised", "certified", "the theorem is"), rows),
    ).strip()


def _small(value: float) -> str:
    return f"{value:.4g}" if np.isfinite(value) else "–"


def _beside(card: Card, compared: Comparison | None) -> str:
    if compared is None or card.name not in {c.card.name for c in compared.contestants}:
        return ""
    spreads = {by: compared.spreads(by, downlink=DOWNLINK) for by in _QUANTITIES}
    order = sorted(spreads["bits"], key=lambda name: spreads["bits"][name].median)
    cards = {contestant.name: contestant.card for contestant in compared.contestants}
    rows = []
    for name in order:
        mark = "**" if cards[name] is card else ""
        link = f"{mark}[{name}]({cards[name].name}.md){mark}"
        rows.append((link, *(cost_text(each[name].median) for each in spreads.values())))
    chosen = (
        "from theory"
        if card.rules and not card.takes_relaxed
        else "the best of a grid of steps and thresholds"
    )
    runs = len(compared.traces[0].seeds)
    return page(
        "## Bits beside the others",
        f"{f'Medians over {runs} seeds' if runs > 1 else 'Nothing is random'}, per client, until "
        f"f - f\\* <= {accuracy_name(compared.targets[-1])}, on {compared.made}; parameters are "
        f"{chosen}; {total_text(DOWNLINK)}.",
        table(("method", "bits sent", "bits received", "total", "rounds", "gradients"), rows),
    ).strip()


def _accounting(card: Card) -> str:
    orders = card.orders
    if orders is None:
        return ""
    return page(
        "## Orders",
        "To an accuracy eps, without the factor log(1/eps) and without constants:",
        table(("", "order"), (("rounds", f"`{orders.rounds.formula}`"),
                              ("reals sent", f"`{orders.reals.formula}`"))),
    ).strip()  # fmt: skip


def _sources(card: Card) -> str:
    owners = [
        card.method,
        *map(type, card.stated),
    ]
    names = dict.fromkeys(owner.__module__.removeprefix("certibit.") for owner in owners)
    return "\n".join(f"* `{name.replace('.', '/')}.py`" for name in names)
