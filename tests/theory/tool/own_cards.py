"""What the package claims of itself: best rules, tight theorems, names of compressors."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields, replace
from itertools import product

from certibit import Card, Compressor, Method, Refusal, Setting, Theorem, certify
from certibit.solvers.compressors.selector import compressor as selected
from certibit.theory.certificates.summary import class_setting
from certibit.theory.verdict import Known, Verdict, searched, worst_of

TIGHT = {"LoCoDL, coupled potential", "Scaffnew, coupled potential"}
"""Theorems that promise nearly all that a certificate proves with any quadratic potential."""


def best_rule(card: Card, where: Setting) -> Verdict | None:
    """Check that no other rule, and no parameter moved alone, has a larger proven decrease.

    It is looked at for the constants of a setting, and with two other mu.
    """
    if "best" not in card.rules:
        return None
    found = []
    for kappa in (where.kappa, 3.0, 300.0):
        mu = where.L / kappa
        ridge = mu if where.constants.ridge else 0.0
        setting = replace(where, constants=replace(where.constants, mu=mu, ridge=ridge))
        best = card.at(setting, "best")
        promised = _decrease(card, best, setting)
        for name, other in _others(card, best, setting):
            more = _decrease(card, other, setting)
            found.append((more / promised - 1 if promised > 0 else float("inf"), name))
    worst, what = worst_of(found)
    return Verdict("no better than best", worst, 1e-3, "decrease", what, **searched(found))


def _others(card: Card, best: Method, setting: Setting) -> Iterator[tuple[str, Method]]:
    """Yield the other rules that serve a setting, and the best one with one parameter moved."""
    for rule in card.rules:
        with suppress(Refusal):
            yield f"the rule {rule}", card.at(setting, rule)
    for field, factor in product(fields(best), (0.5, 0.9, 0.99, 1.01, 1.1, 2.0)):
        value = getattr(best, field.name)
        if isinstance(value, float):
            with suppress(Refusal, ValueError, ArithmeticError):  # such as a probability above 1
                yield f"{field.name} moved", replace(best, **{field.name: value * factor})


def _decrease(card: Card, method: Method, setting: Setting) -> float:
    """Return 1 - tau of the best theorem that holds; 0 without one."""
    try:
        theorem = card.best_theorem(method, setting)
        return 1 - theorem.rate(method, setting) if theorem else 0.0
    except (ValueError, ArithmeticError):
        return 0.0


def tight_promise(theorem: Theorem, card: Card) -> Verdict | None:
    """Check that a tight theorem promises nearly all that certificates prove.

    For all functions with L/mu = 100, three clients and the first rule of the card: 0.998 of the
    decrease that is certified with the potential of the theorem, and 0.9 of the largest one.
    """
    if theorem.title not in TIGHT:
        return None
    omega = None if card.method.needs.compressor is None else 4.0
    where = class_setting(card.method, 3, 100.0, omega, None, 1)
    method = card.at(where, next(iter(card.rules)))
    asked = 0.9 * certify(method, where, potential="search").decrease
    promised = 0.0
    if not theorem.unmet(method, where):
        promised = 1 - theorem.rate(method, where)
        asked = max(asked, 0.998 * certify(method, where, potential=theorem).decrease)
    ratio = asked / promised if promised > 0 else float("inf")
    return Verdict("tight, as it says", ratio, 1.0, "certified", known=Known.PROVED)


def made_by_its_name(compressor: Compressor) -> Verdict:
    """Check that the name of a compressor makes it, with other choices as well."""
    flags = [
        one.name for one in fields(compressor) if isinstance(getattr(compressor, one.name), bool)
    ]
    others = (replace(compressor, **{name: not getattr(compressor, name)}) for name in flags)
    wrong = [one for one in (compressor, *others) if selected(one.name) != one]
    return Verdict("the name of C makes it", float(len(wrong)), 0.0, known=Known.PROVED)
