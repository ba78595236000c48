"""The command ``completion``: what a shell needs to complete the words of a command."""

import argparse
from functools import partial

from bitbound.cli.words.options import Commands
from bitbound.data.errors import Refusal

_SHELLS = ("bash", "zsh", "tcsh")


def add_completion(commands: Commands, parser: argparse.ArgumentParser) -> None:
    """Add the command, which knows the whole parser."""
    added = commands.add_parser("completion", help="print what a shell needs to complete commands")
    added.set_defaults(command=partial(print_completion, parser), quiet=False)
    added.add_argument("shell", choices=_SHELLS, help="put its output where the shell looks")


def print_completion(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    try:
        import shtab  # noqa: PLC0415  (optional)
    except ImportError:
        raise Refusal("completion needs shtab; install it: pip install shtab") from None
    print(shtab.complete(parser, chosen.shell))
