"""Options as text, and those of numbers, files and folders; this module imports nothing slow.

A line of the text is the option as its help shows it, and behind two spaces what it means:
``--until GAP:float`` takes a number, ``--seeds :count=5`` a whole number that is 5 if it is left
out, ``--kind :plain|wide`` a choice, ``--noise [B=0]`` a value that may be left out, ``--fresh``
none. ``FILE+`` are words without a name, at least one, ``*`` any number, and ``?`` at most one.
Behind a line ``[title] description`` come the options of a group, to the next empty line, and
behind ``[either]`` some of which one may be given.
"""

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from keyword import iskeyword
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.numbers import whole

FAILED = 1
"""A check fails."""

WRONG_INPUT = 2
"""The input does not fit; one sentence on stderr says why."""

CONTRADICTION = 3
"""Two results contradict each other, which is an error of certibit."""


_OPTION = re.compile(
    r"(?P<name>\S+?)(?P<times>[?*+]?)(?: (?P<metavar>[^\s:]*))?"
    r"(?::(?P<kind>[^\s=]+))?(?:=(?P<default>\S+))?  +(?P<meaning>.+)"
)
_TRIED = 2**16
"""Bytes that are written to test whether a folder can be written."""


def add_options(parser: Any, text: str) -> None:
    """Add the options that a text describes to a parser."""
    place = parser
    for line in re.sub(r"\n {4,}(?=\S)", " ", text).split("\n"):
        title, _, description = line.removeprefix("[").partition("]")
        if not line:
            place = parser
        elif line == "[either]":
            place = parser.add_mutually_exclusive_group()
        elif line.startswith("["):
            place = parser.add_argument_group(title, description.strip() or None)
        elif match := _OPTION.fullmatch(line):
            _add(place, **match.groupdict())
        else:
            raise ValueError(f"no option is read from {line!r}")


def _add(place: Any, name: str, times: str, metavar: str | None, kind: str | None,
         default: str | None, meaning: str) -> None:  # fmt: skip
    how: dict[str, Any] = {"help": meaning}
    if not name.startswith("-"):
        name, metavar = re.match(r"\w+", name)[0].lower(), name  # type: ignore[index]
    elif iskeyword(name.strip("-")):
        how["dest"] = f"of_{name.strip('-')}"
    if metavar and metavar.startswith("["):
        metavar, how["const"] = metavar.strip("[]").split("=")
        times = "?"
    if kind is None and metavar is None:
        how["action"] = "store_true"
    elif kind == "list":
        how |= {"action": "append", "default": []}
    elif kind and "|" in kind:
        how["choices"] = kind.split("|")
    elif kind:
        how["type"] = KINDS[kind]
    given = {"metavar": metavar, "nargs": times, "default": default}
    place.add_argument(name, **how, **{key: value for key, value in given.items() if value})


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    number = whole(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return number


def file_to_write(text: str) -> Path:
    """Read the name of a file; create its folder and test that it can be written."""
    path = Path(text)
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is a folder; give the name of a file")
    _folder_to_write(str(path.parent))
    return path


def _folder_to_write(text: str) -> Path:
    """Read the name of a folder; create it and test that it can be written."""
    if reason := _unwritable(Path(text)):
        raise argparse.ArgumentTypeError(f"the folder {text} cannot be written ({reason})")
    return Path(text)


def _unwritable(folder: Path) -> str:
    """Create a folder and write into it; return the reason if this fails, else ""."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder, buffering=0) as file:
            file.write(bytes(_TRIED))
            return ""
    except OSError as error:
        return error.strerror or type(error).__name__


KINDS: dict[str, Callable[[str], Any]] = {
    "float": float,
    "count": count,
    "text": str,
    "file": file_to_write,
    "folder": _folder_to_write,
    "path": Path,
    "names": lambda text: text.split(","),
}
"""How the values of options are read."""

JSON = "--json  print one JSON object"
FRESH = "--fresh  ignore stored results and compute them again"


def output(folder: str) -> str:
    """Return ``--output``, by default a folder below the current one."""
    return f"--output :path={folder}  folder of the results"


def read_output(chosen: argparse.Namespace) -> Path:
    """Create the folder of ``--output``, test that it can be written, and return it."""
    folder: Path = chosen.output
    if reason := _unwritable(folder):
        raise Refusal(
            f"the folder {folder} cannot be written ({reason}); choose another with --output"
        )
    return folder


def print_json(value: Any) -> None:
    """Print the JSON object of ``--json``."""
    print_result(json.dumps(value, allow_nan=False))


def print_result(text: str) -> None:
    """Print a text to stdout, also where ``--json`` keeps other texts away from it."""
    print(text, file=getattr(sys.stdout, "result", sys.stdout))
