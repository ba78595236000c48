"""The command ``list``: print the names of methods, compressors and data sets."""

import argparse
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from certibit.cli.words.plain_options import JSON, print_json
from certibit.data.errors import Refusal
from certibit.data.files.manifest import NAMES as DATASETS
from certibit.data.losses.losses import LOSSES
from certibit.data.terminal import for_terminal, paragraph
from certibit.solvers.compressors.selector import NAMES as COMPRESSORS, other_names
from certibit.solvers.registry import extension
from certibit.theory.card import LOWER_BOUND, ORIGINAL_ADIANA, Card
from certibit.theory.catalogue.catalogue import CLIPPING, METHODS, SHARED_MINIMISER, STOCHASTIC
from certibit.theory.formulas.leading_orders import CASES, leading_order
from certibit.theory.theorem import STATUSES

_NAMED = extension("certibit.data.relaxed.named")
_SPLITS = ("shuffled", "in-order", "similarity:PERCENT", "dirichlet:CONCENTRATION")


def _list_names(chosen: argparse.Namespace) -> None:
    """Print the names of methods with their parameters, of compressors and of data sets."""
    if chosen.orders:
        if chosen.json:
            raise Refusal("--orders is a table to read; leave --json out")
        print(for_terminal(_orders))
        return
    names = {
        "compressors": [*COMPRESSORS, *other_names()],
        "problems": list(DATASETS),
        "relaxed_problems": list(_NAMED.EXAMPLES.values()) if _NAMED else [],
        "losses": [*LOSSES, "multinomial"],
        "splits": list(_SPLITS),
    }
    if chosen.json:
        print_json({"methods": _methods()} | names)
        return
    print(for_terminal(lambda: _text(**names)))


def _orders() -> str:
    """Write the leading orders of all methods, and what they are in the cases of the papers."""
    groups: dict[tuple[str, str], list[str]] = {
        (LOWER_BOUND.rounds.formula, LOWER_BOUND.reals.formula): ["lower bound"],
        (ORIGINAL_ADIANA.formula, ""): ["adiana, original analysis"],
    }
    for name, card in METHODS.items():
        if card.orders:
            key = card.orders.rounds.formula, card.orders.reals.formula
            groups.setdefault(key, []).append(name)
    lines = ["Leading orders, times ln(1/epsilon): Tables 1 and 2 of LoCoDL, with more methods"]
    for (rounds, reals), names in groups.items():
        cases = {"rounds": rounds}
        cases |= {f"  {case}": leading_order(rounds, case) for case in list(CASES)[1:3]}
        if reals:
            cases |= {"reals": reals, "  n = O(d)": leading_order(reals, "n = O(d)")}
        lines += ["", ", ".join(names), *_named(cases)]
    return "\n".join(lines)


def _text(
    compressors: list[str],
    problems: list[str],
    relaxed_problems: list[str],
    losses: list[str],
    splits: list[str],
) -> str:
    """Write all names under headings."""
    return "\n".join(
        [
            "METHOD, with its rules for parameters; the first is the default",
            *_ruled(METHODS),
            "\nMETHOD for stochastic gradients, of functions that need not be convex",
            *_ruled(STOCHASTIC),
            "\nMETHOD for one client, or f_i with the same minimiser",
            *_ruled(SHARED_MINIMISER),
            "\nMETHOD for (L0, L1)-smooth problems, with its parameters and rules",
            *_named({name: _given(card) for name, card in CLIPPING.items()}),
            "\nCOMPRESSOR, with integers for K and S, or path/to/file.py:NAME",
            _wrapped(compressors),
            "\nPROBLEM: DATA@CLIENTS, /path/to/file@CLIENTS, quadratic:d=FEATURES@CLIENTS; DATA",
            _wrapped(problems),
            "  libsvm:NAME, such as libsvm:a9a: a file of the LibSVM page, not vouched for",
            "\nPROBLEM with (L0, L1)-smooth functions, such as",
            _wrapped(relaxed_problems),
            "\nLOSS, with a number after a colon; SPLIT",
            _wrapped(losses),
            _wrapped(splits),
        ]
    )


def _ruled(cards: Mapping[str, Card]) -> list[str]:
    """Return a line for every method: the compressor it needs, its rules, and its theorems."""
    needs = {name: card.method.needs.compressor or "no" for name, card in cards.items()}
    return _named(
        {
            name: f"{needs[name]} compressor; {', '.join(card.rules)}; {_behind(card)}"
            for name, card in cards.items()
        }
    )


def _behind(card: Card) -> str:
    """Return what stands behind how many theorems of a method."""
    counts = Counter(card.statuses)
    told = ", ".join(f"{counts[status]} {status}" for status in STATUSES if counts[status])
    return f"theorems: {told or 'none'}"


def _given(card: Card) -> str:
    """Return the parameters of a method, with their defaults, and its rules."""
    named = (
        field.name if field.default is MISSING else f"{field.name}={field.default}"
        for field in fields(card.method)
    )
    return "; ".join(filter(None, (", ".join(named), ", ".join(card.rules), _behind(card))))


def _named(told: Mapping[str, str]) -> list[str]:
    """Return lines of names, each with its explanation."""
    width = max(map(len, told), default=0)
    hanging = " " * (width + 4)
    return [paragraph(f"  {name:{width}}  {text}", hanging=hanging) for name, text in told.items()]


def _methods() -> list[dict[str, Any]]:
    """Return the content of the cards of all methods as JSON values."""
    kinds = {
        "smooth": METHODS,
        "stochastic gradients": STOCHASTIC,
        "shared minimiser": SHARED_MINIMISER,
        "relaxed smooth": CLIPPING,
    }
    return [
        {
            "name": name,
            "label": card.label,
            "for": kind,
            "compressor": card.method.needs.compressor,
            "downlink": card.method.needs.downlink,
            "rules": list(card.rules),
            "parameters": [
                {
                    "name": field.name,
                    "required": field.default is MISSING,
                    "default": None if field.default is MISSING else field.default,
                }
                for field in fields(card.method)
            ],
            "theorems": list(card.titles),
            "statuses": list(card.statuses),
        }
        for kind, cards in kinds.items()
        for name, card in cards.items()
    ]


def _wrapped(words: Iterable[str]) -> str:
    return paragraph(", ".join(words), "  ", "  ", break_on_hyphens=False)


_OPTIONS = f"""\
--orders  print rounds and reals of all methods in leading order instead
{JSON}"""
COMMANDS = {"list": (_list_names, _OPTIONS)}
