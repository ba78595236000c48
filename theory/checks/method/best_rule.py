"""A rule that is called best, against the other rules of its card and against its neighbours."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace

from certibit.data.errors import Refusal
from certibit.solvers.method import Method
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.theory.card import Card
from certibit.theory.setting import Setting
from certibit.theory.verdict import Verdict, searched, worst_of

BEST = "best"
KAPPAS = (3.0, 300.0)
MOVES = (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)
_LEFT = 1e-3
"""Error of the search for the best parameters, relative to the decrease."""


def best_rule(card: Card, experiment: ConvexExperiment) -> Verdict | None:
    """Check that no other rule, and no parameter moved alone, has a larger proven decrease.

    It is looked at with the constants of the problem, and with two other mu. None where no rule is
    called best.
    """
    if BEST not in card.rules:
        return None
    found = []
    for setting in _settings(Setting.at(experiment)):
        best = card.at(setting, BEST)
        promised = _decrease(card, best, setting)
        for name, other in _others(card, best, setting):
            more = _decrease(card, other, setting)
            text = f"at kappa = {setting.kappa:.6g} {name} promises 1 - tau = {more:.6g}"
            found.append((more / promised - 1 if promised > 0 else float("inf"), text))
    worst, where = worst_of(found)
    advice = f"{where[:1].upper()}{where[1:]}, more than the rule best: look at that rule."
    return Verdict("no better than best", worst, _LEFT, "decrease", advice, **searched(found))


def _settings(given: Setting) -> Iterator[Setting]:
    yield given
    for kappa in KAPPAS:
        constants, mu = given.constants, given.L / kappa
        ridge = mu if constants.ridge else 0.0
        yield replace(given, constants=replace(constants, mu=mu, ridge=ridge))


def _others(card: Card, best: Method, setting: Setting) -> Iterator[tuple[str, Method]]:
    """Yield the other rules that serve a setting, and the best one with one parameter moved."""
    for rule in card.rules:
        with suppress(Refusal):
            yield f"the rule {rule}", card.at(setting, rule)
    for field in fields(best):
        value = getattr(best, field.name)
        for factor in MOVES if isinstance(value, float) else ():
            with suppress(Refusal, ValueError, ArithmeticError):
                moved = replace(best, **{field.name: value * factor})
                yield f"{field.name} = {value * factor:.6g} for {value:.6g}", moved


def _decrease(card: Card, method: Method, setting: Setting) -> float:
    """Return 1 - tau of the best theorem that holds; 0 without one."""
    try:
        theorem = card.best_theorem(method, setting)
        return 1 - theorem.rate(method, setting) if theorem else 0.0
    except (ValueError, ArithmeticError):  # such as a probability above 1
        return 0.0
