"""The command ``completion``: print a script that completes commands in a shell."""

import argparse

from certibit.data.errors import Refusal


def _print_completion(chosen: argparse.Namespace) -> None:
    """Print the completion script of a shell."""
    try:
        import shtab  # noqa: PLC0415  (optional)
    except ImportError:
        raise Refusal("completion needs shtab; install it: pip install shtab") from None
    print(shtab.complete(chosen.parser.complete(), chosen.shell))


_OPTIONS = """\
SHELL :bash|zsh|tcsh  bash, zsh or tcsh, of the script; store its output where the shell looks for
    completions"""
COMMANDS = {"completion": (_print_completion, _OPTIONS)}
