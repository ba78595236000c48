"""The command ``list``: what can be named on the command line."""

import argparse
import json
import textwrap
from collections.abc import Iterable
from dataclasses import MISSING, fields
from typing import Any

from bitbound.cli.words.options import add_json
from bitbound.data.files.manifest import NAMES as DATASETS
from bitbound.data.losses.loss_selector import LOSSES
from bitbound.figures.text.tables import WIDTH
from bitbound.solvers.compressors.selector import NAMES as COMPRESSORS
from bitbound.solvers.compressors.selector import other_names
from bitbound.theory.cards.catalogue import CLIPPING, METHODS, SHARED_MINIMISER

_SPLITS = ("shuffled", "similarity:PERCENT", "dirichlet:CONCENTRATION")


def add_list(parser: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser.set_defaults(command=list_names)
    add_json(parser)


def list_names(chosen: argparse.Namespace) -> None:
    """Print the names of methods with their parameters, of compressors and of data sets."""
    names = {
        "compressors": [*COMPRESSORS, *other_names()],
        "problems": list(DATASETS),
        "losses": [*LOSSES, "multinomial"],
        "splits": list(_SPLITS),
    }
    if chosen.json:
        print(json.dumps({"methods": _methods()} | names, allow_nan=False))
        return
    width = max(map(len, METHODS))
    for title, cards in (
        ("METHOD, with its rules for parameters; the first is the default", METHODS),
        ("\nMETHOD for one client, or f_i with the same minimiser", SHARED_MINIMISER),
    ):
        print(title)
        for name, card in cards.items():
            need = card.method.needs.compressor
            print(f"  {name:{width}}  {need or 'no'} compressor; {', '.join(card.rules)}")
    print("\nMETHOD for (L0, L1)-smooth problems; parameters as --set NAME=VALUE")
    width = max(map(len, CLIPPING))
    for name, card in CLIPPING.items():
        given = [
            field.name if field.default is MISSING else f"{field.name}={field.default}"
            for field in fields(card.method)
        ]
        print(f"  {name:{width}}  {', '.join(given)}")
    print("\nCOMPRESSOR, with integers for K and S, or path/to/file.py:NAME")
    print(_wrapped(names["compressors"]))
    print("\nPROBLEM: DATA@CLIENTS, /path/to/file@CLIENTS, quadratic:d=FEATURES@CLIENTS; DATA")
    print(_wrapped(names["problems"]))
    print("  libsvm:NAME, such as libsvm:a9a: a file of the LibSVM page, not vouched for")
    print("\nLOSS, with a number after a colon; SPLIT")
    print(_wrapped(names["losses"]))
    print(_wrapped(names["splits"]))


def _methods() -> list[dict[str, Any]]:
    """Return what stands on the cards of all methods, as values of JSON."""
    kinds = {"smooth": METHODS, "shared minimiser": SHARED_MINIMISER, "relaxed smooth": CLIPPING}
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
            "theorems": [theorem.title for theorem in card.theorems],
        }
        for kind, cards in kinds.items()
        for name, card in cards.items()
    ]


def _wrapped(words: Iterable[str]) -> str:
    return textwrap.fill(
        ", ".join(words),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
