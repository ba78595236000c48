"""The formulas of a theorem as they are printed and documented, against the numbers of its code.

A theorem that is weakened by mistake breaks no promise, so only its own text can tell: the
statements of its hypotheses, the definitions and the factor tau in its docstring, and the
parameters in the docstring of a rule. Formulas are written as in a paper: 2 gamma mu L/(mu + L),
min{1, sqrt(n/(s kappa))}, (1 + b)^3.
"""

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, replace
from itertools import product

from certibit.data.errors import Refusal
from certibit.solvers.compressors.base import Identity
from certibit.solvers.method import Method
from certibit.theory.card import Card
from certibit.theory.setting import Setting
from certibit.theory.theorem import Theorem
from certibit.theory.verdict import Verdict, searched, worst_of

_EXACT = 1e-9
_TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z]\w*'?)|(?P<sign>[-+*/^(){},]))"
)
_FUNCTIONS: Mapping[str, Callable[..., float]] = {
    "sqrt": math.sqrt, "min": min, "max": max, "ceil": math.ceil
}  # fmt: skip
_OF_SETTING = (
    "n", "d", "mu", "L", "kappa", "omega", "omega_av", "alpha", "omega_down", "alpha_down",
    "difference",
)  # fmt: skip
_OF_CONSTANTS = ("L_f", "L_tilde")
_AS_PYTHON = {"^": "**", "{": "(", "}": ")"}
_DEFINED = re.compile(r"(?<![-+*/^<>=|({\[\s])\s+([A-Za-z]\w*) = ")
_COMPARED = re.compile(r" <=? ")
_ENDS = frozenset(
    ("and", "or", "with", "where", "for", "if", "give", "gives", "in", "of", "the", "is", "per",
     "up", "as", "which", "at", "to")
)  # fmt: skip
"""Words that end a formula."""
_CASES = ("If ", "Without ")
"""A sentence that begins so is about some cases only; what it defines is not read."""

Names = dict[str, float]
Found = list[tuple[float, str]]


def written_hypotheses(theorem: Theorem, method: Method, setting: Setting) -> Verdict | None:
    """Check that hypotheses, tau, c and e are the formulas as printed; None if none can be read.

    Names are the parameters of the method, the constants of the setting, and what the docstring of
    the theorem defines, such as s = sqrt(1 - alpha).
    """
    names = _names(method, setting)
    defined = _definitions(_formulas(theorem, method), names)
    known, found = defined | names, Found()
    for condition in theorem.conditions(method, setting):
        sides = _COMPARED.split(condition.statement)
        if len(sides) == 2:
            for text, value in zip(sides, (condition.left, condition.right), strict=True):
                read = _value(text, known)
                if read is not None:
                    said = f"{text} of the hypothesis {condition.statement!r} is {read:.8g}"
                    found.append((_apart(value, read), f"{said}, and {value:.8g} is compared"))
    promise = theorem.promise(method, setting)
    if {"c", "tau"} & set(defined) and not re.search(r"\be\s=\s", type(theorem).__doc__ or ""):
        defined = {"e": 0.0} | defined  # no noise is spoken of
    for name in ("c", "e"):
        if hasattr(promise, name) and name in defined and name not in names:
            value, read = getattr(promise, name), defined[name]
            said = f"{name} of the docstring is {read:.8g}, and {value:.8g} is promised"
            found.append((_apart(value, read), said))
    if theorem.published and re.search(r"Proved\s+by\s+us", type(theorem).__doc__ or ""):
        found.append((math.inf, "a theorem is called published that is proved by us"))
    if theorem.measure == "potential" and "tau" in defined and "tau" not in names:
        decrease, read = 1 - theorem.rate(method, setting), 1 - defined["tau"]
        said = f"1 - tau of the docstring is {read:.8g}, and {decrease:.8g} is promised"
        found.append((_apart(decrease, read), said))
    return _verdict("formulas as written", found, f"{theorem.title},")


def written_rules(card: Card, setting: Setting) -> Verdict | None:
    """Check that rules take the parameters of their docstrings, also without compression.

    None if no docstring can be read.
    """
    found, settings = Found(), (setting, replace(setting, compressor=Identity()))
    for (rule, make), where in product(card.rules.items(), settings):
        with suppress(Refusal):  # such as a rule for uncompressed messages
            method = card.at(where, rule)
            names = _names(method, where)
            parameters = {field.name for field in fields(method)} & set(names)
            for of, read in _definitions(make.__doc__ or "", names).items():
                if of in parameters:
                    said = f"{rule}, {of} of the docstring is {read:.8g}, and {names[of]:.8g}"
                    found.append((_apart(names[of], read), f"{said} is taken"))
    return _verdict("parameters as written", found, "the rule")


def _formulas(theorem: Theorem, method: Method) -> str:
    """Return the docstring of a theorem; "" where a parameter is 0, which may be a case apart."""
    switched_off = any(getattr(method, field.name) in (0, False) for field in fields(method))
    return "" if switched_off else type(theorem).__doc__ or ""


def _verdict(check: str, found: Found, of: str) -> Verdict | None:
    if not found:
        return None
    worst, what = worst_of(found)
    advice = f"In {of} {what}: correct the formula or the code."
    return Verdict(check, worst, _EXACT, advice=advice, **searched(found))


def _apart(value: float, read: float) -> float:
    return 0.0 if value == read else abs(value - read) / max(abs(value), abs(read))


def _names(method: Method, setting: Setting) -> Names:
    """Return the numbers that formulas speak of; parameters of the method come first."""
    names: Names = {}
    owners = ((setting, _OF_SETTING), (setting.constants, _OF_CONSTANTS))
    for owner, known in owners:
        for name in known:
            # such as alpha of an unbiased compressor, or L of an (L0, L1)-smooth problem
            with suppress(Refusal, AttributeError):
                names[name] = getattr(owner, name)
    if method.needs.by_variance:
        names |= zip(("eta", "omega", "omega_av"), setting.bias_and_variance, strict=True)
    names |= {field.name: getattr(method, field.name) for field in fields(method)}
    return {name: float(x) for name, x in names.items() if isinstance(x, (int, float))}


def _definitions(text: str, names: Names) -> Names:
    """Return what "NAME = FORMULA" defines in a text, in its order; what is said twice is left out.

    A formula may use the names that were defined before.
    """
    found: Names = {}
    twice, text = set(), f" {text}"
    for match in _DEFINED.finditer(text):
        if text[: match.start(1)].replace(".\n", ". ").rsplit(". ")[-1].lstrip().startswith(_CASES):
            continue
        name = match.group(1)
        value = _value(text[match.end() :], found | names, prefix=True)
        if value is not None:
            if name in found and _apart(found[name], value) > _EXACT:
                twice.add(name)
            found[name] = value
    return {name: value for name, value in found.items() if name not in twice}


def _value(text: str, names: Names, prefix: bool = False) -> float | None:
    """Evaluate a formula, or the one that a text begins with; None if it is not understood."""
    written, depth, place, operand = "", 0, 0, False
    while match := _TOKEN.match(text, place):
        number, name, sign = match.groups()
        if name in _ENDS or (sign == "," and not depth):
            break
        if name and name not in names and name not in _FUNCTIONS:
            return None
        closes = sign in (")", "}")
        if closes and not depth:
            break
        opens = sign in ("(", "{")
        depth += opens - closes
        if operand and (number or name or opens):
            written += " * "
        written += _AS_PYTHON.get(sign, sign) if sign else match.group().strip()
        operand = bool(number or closes or (name and name not in _FUNCTIONS))
        place = match.end()
    rest = text[place:].lstrip()
    if (rest and not prefix) or (prefix and rest[:1] in ("=", "'", "|")):
        return None
    try:
        value = eval(written, {"__builtins__": {}}, {**_FUNCTIONS, **names})
        return float(value)
    except (ArithmeticError, SyntaxError, TypeError, ValueError):
        return None
