"""The command ``list``: what can be named on the command line."""

import argparse
import textwrap
from collections.abc import Iterable
from dataclasses import MISSING, fields

from bitbound.data.files.manifest import NAMES as DATASETS
from bitbound.data.losses.loss_selector import LOSSES
from bitbound.figures.text.tables import WIDTH
from bitbound.solvers.compressors.selector import NAMES as COMPRESSORS
from bitbound.solvers.compressors.selector import other_names
from bitbound.theory.cards.catalogue import CLIPPING, METHODS, SHARED_MINIMISER


def add_list(parser: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser.set_defaults(command=list_names)


def list_names(chosen: argparse.Namespace) -> None:
    """Print the names of methods with their parameters, of compressors and of data sets."""
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
    print(_wrapped((*COMPRESSORS, *other_names())))
    print("\nPROBLEM: DATA@CLIENTS, /path/to/file@CLIENTS, quadratic:d=FEATURES@CLIENTS; DATA")
    print(_wrapped(DATASETS))
    print("  libsvm:NAME, such as libsvm:a9a: another file of the LibSVM page, not vouched for")
    print("\nLOSS, with a number after a colon; SPLIT")
    print(_wrapped((*LOSSES, "multinomial")))
    print(_wrapped(("shuffled", "similarity:PERCENT", "dirichlet:CONCENTRATION")))


def _wrapped(words: Iterable[str]) -> str:
    return textwrap.fill(
        ", ".join(words),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )
