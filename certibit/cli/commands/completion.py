"""The command ``completion``: print a script that completes commands in a shell."""

import argparse

from certibit.data.errors import Refusal

_SHELLS = ("bash", "zsh", "tcsh")


def add_completion(parser: argparse.ArgumentParser) -> None:
    """Add the command."""
    parser.set_defaults(command=print_completion)
    parser.add_argument(
        "shell",
        choices=_SHELLS,
        help="shell of the script; store its output where the shell looks for completions",
    )


def print_completion(chosen: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    try:
        import shtab  # noqa: PLC0415  (optional)
    except ImportError:
        raise Refusal("completion needs shtab; install it: pip install shtab") from None
    print(shtab.complete(chosen.parser.complete(), chosen.shell))
