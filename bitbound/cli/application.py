"""From the words of a command line to its exit code.

Tables go to stdout, progress and warnings to stderr.
"""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import version
from typing import NoReturn, TextIO

from bitbound.cli.audit import add_audit
from bitbound.cli.certified import add_certified
from bitbound.cli.certify import add_certify
from bitbound.cli.check import add_check
from bitbound.cli.compare import add_compare
from bitbound.cli.demo import add_demo
from bitbound.cli.episode import add_episode
from bitbound.cli.exit_codes import CONTRADICTION, INTERRUPTED, WRONG_INPUT
from bitbound.cli.figures import add_figures
from bitbound.cli.listing import add_list
from bitbound.cli.report import add_report
from bitbound.cli.run import add_run
from bitbound.cli.scaling import add_scaling
from bitbound.cli.theory import add_theory
from bitbound.data.errors import Refusal
from bitbound.theory.contradiction import ContradictionError
from bitbound.theory.theorems.coverage import OutsideTheoremWarning


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``bitbound``; by default those of this process.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OutsideTheoremWarning)
        try:
            chosen = _parser().parse_args(arguments)
            status: int | None = chosen.command(chosen)
            sys.stdout.flush()
            return status or 0
        except BrokenPipeError:  # the reader of our output has left, such as head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except ZeroDivisionError:
            print(
                "bitbound: these parameters lead to a division by zero; choose others",
                file=sys.stderr,
            )
            return WRONG_INPUT
        except (Refusal, OSError) as error:
            print(f"bitbound: {error}", file=sys.stderr)
            return WRONG_INPUT
        except ContradictionError as error:
            print(f"bitbound: {error}", file=sys.stderr)
            return CONTRADICTION
        except KeyboardInterrupt:
            print("bitbound: interrupted", file=sys.stderr)
            return INTERRUPTED
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        choice = re.fullmatch(r"(.*invalid choice: '(.*)') \(choose from (.*)\)", message)
        if choice and (near := get_close_matches(choice[2], re.findall(r"[\w-]+", choice[3]))):
            message = f"{choice[1]}; did you mean {' or '.join(near)}?"
        raise Refusal(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="bitbound", description="Run distributed optimisation methods and count their bits."
    )
    parser.add_argument("--version", action="version", version=f"bitbound {version('bitbound')}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for add in (
        add_list,
        add_run,
        add_compare,
        add_figures,
        add_audit,
        add_certify,
        add_certified,
        add_check,
        add_theory,
        add_scaling,
        add_episode,
        add_demo,
        add_report,
    ):
        add(commands)
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
