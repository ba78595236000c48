"""Options of numbers, files and folders; this module imports nothing slow."""

import argparse
import json
import os
import sys
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from certibit.data.errors import Refusal
from certibit.data.numbers import whole

_TRIED = 2**16
"""Bytes that are written to test whether a folder can be written."""


def count(text: str) -> int:
    """Read a whole number of at least 1."""
    number = whole(text)
    if not number:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return number


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def print_json(value: Any) -> None:
    """Print the JSON object of ``--json``."""
    print_result(json.dumps(value, allow_nan=False))


def print_result(text: str) -> None:
    """Print a text to stdout, also where ``--json`` keeps other texts away from it."""
    print(text, file=getattr(sys.stdout, "result", sys.stdout))


def add_fresh(parser: argparse.ArgumentParser) -> None:
    """Add ``--fresh``, for a command that reuses stored results."""
    parser.add_argument(
        "--fresh", action="store_true", help="ignore stored results and compute them again"
    )


def add_seeds(parser: argparse.ArgumentParser, default: int, meaning: str) -> None:
    """Add ``--seeds``, the number of runs."""
    parser.add_argument("--seeds", type=count, default=default, help=meaning)


def add_output(parser: argparse.ArgumentParser, folder: str) -> None:
    """Add ``--output``, by default a folder below the current one."""
    parser.add_argument("--output", type=Path, default=Path(folder), help="folder of the results")


def read_output(chosen: argparse.Namespace) -> Path:
    """Create the folder of ``--output``, test that it can be written, and return it."""
    folder: Path = chosen.output
    if reason := _unwritable(folder):
        raise Refusal(
            f"the folder {folder} cannot be written ({reason}); choose another with --output"
        )
    return folder


def file_to_write(text: str) -> Path:
    """Read the name of a file; create its folder and test that it can be written."""
    path = Path(text)
    if os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is a folder; give the name of a file")
    if reason := _unwritable(path.parent):
        raise argparse.ArgumentTypeError(f"the folder {path.parent} cannot be written ({reason})")
    return path


def folder_to_write(text: str) -> Path:
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
