"""The command ``new``: a file of one's own to begin with."""

import argparse
import re
from importlib.util import find_spec
from pathlib import Path

from certibit.data.errors import Refusal

_TEMPLATES = Path(__file__).parents[1] / "templates"
_COMMANDS = {
    "method": (
        "run breast-cancer@9 {file} rand-k:10 --kappa 100",
        "certify {file} --n 3 --kappa 10 --omega 2",
        "check breast-cancer@9 {file} rand-k:10",
    ),
    "compressor": (
        "run breast-cancer@9 diana {file}:{class_name}",
        "check breast-cancer@9 diana {file}:{class_name}",
    ),
    "loss": (
        "run breast-cancer@9 gd --loss {file}:{class_name} --kappa 100",
        "check breast-cancer@9 gd --loss {file}:{class_name}",
    ),
}


def _write_template(chosen: argparse.Namespace) -> None:
    """Write a file that works, and print the commands that use it."""
    if not re.fullmatch("[a-z][a-z0-9]*(-[a-z0-9]+)*", chosen.name):
        raise Refusal(
            f"{chosen.name!r} is no name of a {chosen.kind}; give small letters, digits and single "
            "hyphens, such as ef21-hb"
        )
    words = chosen.name.split("-")
    if find_spec("_".join(words)):
        raise Refusal(f"{'_'.join(words)} is a module that Python finds; choose another name")
    names = {
        "name": chosen.name,
        "class_name": "".join(word.capitalize() for word in words),
        "file": "_".join(words) + ".py",
    }
    text = (_TEMPLATES / f"{chosen.kind}.txt").read_text(encoding="utf-8")
    try:
        with open(names["file"], "x", encoding="utf-8") as file:
            file.write(text.format(**names))
    except FileExistsError:
        raise Refusal(f"{names['file']} exists; choose another name, or move it") from None
    print(f"{names['file']} is a {chosen.kind} that works; now try\n")
    for command in _COMMANDS[chosen.kind]:
        print(f"    certibit {command.format(**names)}")


_OPTIONS = """\
KIND :method|compressor|loss  what to write: method, compressor or loss
NAME  its name, such as ef21-hb; the file is ef21_hb.py in this folder"""
COMMANDS = {"new": (_write_template, _OPTIONS)}
