"""From the words of a command line to its exit code.

Tables go to stdout, progress and warnings to stderr.
"""

import argparse
import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from contextlib import nullcontext, redirect_stderr
from importlib.metadata import version
from io import StringIO
from typing import TextIO

from bitbound.cli.commands.audit import add_audit
from bitbound.cli.commands.certified import add_certified
from bitbound.cli.commands.certify import add_certify
from bitbound.cli.commands.check import add_check
from bitbound.cli.commands.compare import add_compare
from bitbound.cli.commands.completion import add_completion
from bitbound.cli.commands.count import add_count
from bitbound.cli.commands.demo import add_demo
from bitbound.cli.commands.discover import add_discover
from bitbound.cli.commands.episode import add_episode
from bitbound.cli.commands.figures import add_figures
from bitbound.cli.commands.list import add_list
from bitbound.cli.commands.plan import add_plan
from bitbound.cli.commands.report import add_report
from bitbound.cli.commands.run import add_run
from bitbound.cli.commands.scaling import add_scaling
from bitbound.cli.commands.theory import add_theory
from bitbound.cli.words.exit_codes import CONTRADICTION, INTERRUPTED, WRONG_INPUT
from bitbound.cli.words.parser import Parser
from bitbound.data.errors import Refusal
from bitbound.figures.pool import FailedJobsError
from bitbound.theory.cards.coverage import OutsideTheoremWarning
from bitbound.theory.contradiction import ContradictionError


def run_words(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OutsideTheoremWarning)
        try:
            chosen = _parser().parse_args([word for word in words if word != "--debug"])
            with redirect_stderr(_Log(sys.stderr)) if chosen.quiet else nullcontext():
                status: int | None = chosen.command(chosen)
            sys.stdout.flush()
            return status or 0
        except BrokenPipeError:  # the reader of our output has left, such as head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt:
            print("bitbound: interrupted", file=sys.stderr)
            return INTERRUPTED
        except Exception as error:
            if debug:
                traceback.print_exception(error)
            print(f"bitbound: {_sentence(error)}", file=sys.stderr)
            return CONTRADICTION if isinstance(error, ContradictionError) else WRONG_INPUT
    return 0


def _sentence(error: Exception) -> str:
    """Return what went wrong in one line, very long words cut in the middle."""
    if isinstance(error, Refusal | OSError | ContradictionError | FailedJobsError):
        told = str(error)
    elif isinstance(error, ZeroDivisionError):
        told = "these parameters lead to a division by zero; choose others"
    elif isinstance(error, MemoryError):
        told = "the memory of this machine does not suffice; choose smaller numbers"
    else:
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        told = f"something unforeseen went wrong ({what}); --debug shows where"
    line = " ".join(told.split())
    return re.sub(r"\S{200,}", lambda word: f"{word[0][:60]}...{word[0][-20:]}", line)


class _Log(StringIO):
    """A stream that is no terminal, so that no progress is drawn; the rest is passed on."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def write(self, text: str) -> int:
        return self._stream.write(text)

    def isatty(self) -> bool:
        return False


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(
        prog="bitbound", description="Run distributed optimisation methods and count their bits."
    )
    parser.add_argument("--version", action="version", version=f"bitbound {version('bitbound')}")
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    parser.add_argument("--quiet", action="store_true", help="draw no progress")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        add_list,
        add_run,
        add_compare,
        add_plan,
        add_count,
        add_figures,
        add_audit,
        add_certify,
        add_certified,
        add_discover,
        add_check,
        add_theory,
        add_scaling,
        add_episode,
        add_demo,
        add_report,
    ):
        add(commands)
    for command in commands.choices.values():
        command.add_argument(
            "--quiet", action="store_true", default=argparse.SUPPRESS, help="draw no progress"
        )
    add_completion(commands, parser)
    return parser


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"bitbound: {message}", file=sys.stderr)
