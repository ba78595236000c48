"""The command ``count``: count the bits of messages of other programs or papers."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from certibit.cli.words.plain_options import add_json
from certibit.data.files.own_data import read_npz
from certibit.data.terminal import for_terminal, table
from certibit.solvers.compressors.counting import Count, Sparse, counted_arrays, counts, described


def add_count(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=count_messages)
    parser.add_argument(
        "messages",
        metavar="FILE",
        help="an .npz file of arrays with a vector along the last axis; or words such as "
        "'rand-k:12 of 122 in float32' (float16, float64, natural, sign)",
    )
    add_json(parser)


def count_messages(chosen: argparse.Namespace) -> None:
    """Print the bits of messages as papers count them, and as a message that decodes needs."""
    path = Path(chosen.messages)
    if path.suffix == ".npz":
        found = counted_arrays(read_npz(path))
    else:
        found = {chosen.messages: described(chosen.messages)}
    if chosen.json:
        told = {
            name: {"d": sparse.d, "messages": len(sparse.sizes), "value": sparse.value}
            | {"counts": [asdict(each) for each in counts(sparse)]}
            for name, sparse in found.items()
        }
        print(json.dumps(told, allow_nan=False))
        return
    print(for_terminal(lambda: "\n\n".join(_text(name, sparse) for name, sparse in found.items())))


def _text(name: str, sparse: Sparse) -> str:
    ways = counts(sparse)
    many = len(sparse.sizes)
    mean = sum(sparse.sizes) / many
    heading = (
        f"{name}: {many} message{'s' * (many > 1)} of {mean:g} of {sparse.d} entries"
        f"{' in the mean' * (many > 1)}, values in {sparse.value}"
    )
    rows = [(each.way, each.why, _bits(each)) for each in ways]
    best: Count = min((each for each in ways if each.decodes), key=lambda each: each.bits)
    lines = table(("counted", "decodes", "bits"), rows, texts=2)
    return f"{heading}\n{lines}\nfewest that decode: {_bits(best)} bits, {best.way}"


def _bits(counted: Count) -> str:
    return f"{counted.bits:,.1f}".removesuffix(".0")
