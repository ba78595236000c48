"""The command ``discover``: search for methods with few certified bits, rounds or gradients."""

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tqdm import tqdm

from certibit.cli.words.options import add_downlink_weight
from certibit.cli.words.plain_options import (
    add_fresh,
    add_json,
    add_output,
    count,
    file_to_write,
    read_output,
)
from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.data.numbers import whole
from certibit.data.terminal import for_terminal
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.registry import extension

_CLASSES = ("none", "unbiased", "contractive")
_KAPPA = 100.0
_PLACES = "certibit.cli.words.places"
"""Options of another extension."""


def add_discover(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=discover_methods)
    parser.add_argument("--n", type=count, default=3, help="number of clients")
    parser.add_argument(
        "--class",
        dest="of_class",
        choices=("strongly-convex", "convex", "nonconvex"),
        default="strongly-convex",
        help="class of the f_i: strongly-convex with mu = 1 and L = kappa, convex or nonconvex "
        "with L = 1 (default: strongly-convex)",
    )
    parser.add_argument("--kappa", type=float, help=f"condition number L/mu (default {_KAPPA:g})")
    parser.add_argument(
        "--fewest",
        choices=("bits", "rounds", "gradients"),
        default="bits",
        help="what is to be small per client: bits, rounds in which clients send, or gradients",
    )
    parser.add_argument(
        "--d", type=count, default=20, help="number of features, for the bits of messages"
    )
    for kind, selector in {"unbiased": "rand-k:2", "contractive": "top-k:2"}.items():
        told = f"{kind} compressor of the methods"
        parser.add_argument(f"--{kind}", metavar="COMPRESSOR", default=selector, help=told)
    add_downlink_weight(parser)
    parser.add_argument(
        "--up", choices=_CLASSES, help="only methods whose clients compress so (default: all)"
    )
    parser.add_argument(
        "--down", choices=_CLASSES, help="only methods whose server compresses so (default: all)"
    )
    parser.add_argument(
        "--local",
        choices=("yes", "no"),
        help="only methods with local steps, or without (default: both)",
    )
    parser.add_argument(
        "--constants", type=count, default=3, help="largest number of free constants"
    )
    parser.add_argument(
        "--best",
        type=count,
        default=2,
        help="number of methods that are certified, of each kind and number of constants",
    )
    parser.add_argument(
        "--certificates",
        type=count,
        default=30,
        help="largest number of certificates for the constants of one method",
    )
    parser.add_argument("--seed", type=_seed, default=0, help="seed of the search for constants")
    parser.add_argument(
        "--save",
        metavar="FILE.py",
        type=file_to_write,
        help="write one of the found methods to this file",
    )
    parser.add_argument("--rank", type=count, default=1, help="row of the table that --save writes")
    parser.add_argument("--name", default="Found", help="name of the class in that file")
    if places := extension(_PLACES):
        places.add_place(parser, "one")
    add_fresh(parser)
    add_output(parser, "results/discover")
    add_json(parser)


def discover_methods(chosen: argparse.Namespace) -> None:
    """Search, print what is found, and write one of the methods if asked."""
    from certibit.figures.text.discoveries import (  # noqa: PLC0415  (heavy)
        describe_search,
        search_summary,
    )
    from certibit.theory.discover.discovery import discover  # noqa: PLC0415  (heavy)
    from certibit.theory.discover.grammar import sentences  # noqa: PLC0415  (heavy)
    from certibit.theory.discover.kept_results import KeptResults  # noqa: PLC0415  (heavy)
    from certibit.theory.discover.saved_method import saved_method  # noqa: PLC0415  (heavy)

    if chosen.save and chosen.save.suffix != ".py":
        raise Refusal(f"{chosen.save} is no file of Python; give a name that ends in .py")
    if not chosen.name.isidentifier() or chosen.name in {"State", "Method"}:
        raise Refusal(f"{chosen.name!r} is no name for a class; give one such as Found")
    task = _task(chosen)
    wanted = [
        one
        for one in sentences(chosen.constants)
        if chosen.up in {None, one.up or "none"}
        and chosen.down in {None, one.down or "none"}
        and chosen.local in {None, "yes" if one.local else "no"}
    ]
    folder = read_output(chosen)
    kept = KeptResults(task, chosen.seed, folder, chosen.fresh)
    at_once = _at_once(chosen, folder)
    with tqdm(
        total=1.0,
        file=sys.stderr,
        disable=True if at_once else None,  # its jobs have a bar of their own
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
    ) as bar:

        def progress(fraction: float, text: str) -> None:
            bar.set_description(text)
            bar.update(max(0.0, fraction - bar.n))

        search = discover(
            task,
            wanted,
            best=chosen.best,
            certificates=chosen.certificates,
            seed=chosen.seed,
            kept=kept,
            progress=progress,
            at_once=at_once,
        )
    if chosen.save:
        if chosen.rank > len(search.found):
            raise Refusal(
                f"--rank {chosen.rank} of {len(search.found)} methods that are certified; "
                "give one of these, or allow more"
            )
        write_text(chosen.save, saved_method(search.found[chosen.rank - 1], search, chosen.name))
    if chosen.json:
        print(json.dumps(search_summary(search), allow_nan=False))
    else:
        print(for_terminal(lambda: describe_search(search)))


def _task(chosen: argparse.Namespace) -> Any:
    """Return the task that is asked for."""
    from certibit.theory.discover.task import FactorTask  # noqa: PLC0415  (heavy)

    given = (
        chosen.n,
        chosen.d,
        compressor(chosen.unbiased),
        compressor(chosen.contractive),
        chosen.downlink_weight,
        chosen.fewest,
    )
    if chosen.of_class == "strongly-convex":
        return FactorTask(*given, kappa=_KAPPA if chosen.kappa is None else chosen.kappa)
    if chosen.kappa is not None:
        raise Refusal(
            f"--kappa is of strongly convex functions, not {chosen.of_class} ones; leave it out"
        )
    descents = extension("certibit.theory.discover.descent_task")
    if descents is None:
        raise Refusal("this copy of certibit has no theory/descent; leave --class out")
    return descents.DescentTask(*given, convex=chosen.of_class == "convex")


def _at_once(chosen: argparse.Namespace, folder: Path) -> Callable[..., Any] | None:
    """Return what does many jobs in other processes, if they are asked for."""
    places, pool = extension(_PLACES), extension("certibit.figures.pool")
    if places is None or pool is None or (place := places.read_place(chosen, folder)) is None:
        return None
    return lambda jobs: pool.traces([pool.Call("a search", job, ()) for job in jobs], place)


def _seed(text: str) -> int:
    number = whole(text)
    if number is None:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 0")
    return number
