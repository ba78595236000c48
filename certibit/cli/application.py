"""From the words of a command line to its exit code.

Tables go to stdout, progress and warnings to stderr. With ``--json`` stdout has the JSON alone:
whatever else is printed, by a user's code or a process of it, goes to stderr.
"""

import argparse
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TextIO

from certibit.cli.commands import SUMMARIES
from certibit.cli.words.parser import Parser
from certibit.cli.words.plain_options import CONTRADICTION, WRONG_INPUT, add_options
from certibit.data.errors import FailedJobsError, Refusal
from certibit.theory.verdict import ContradictionError, OutsideTheoremWarning

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

_COMMANDS = Path(__file__).with_name("commands")
_DOMAIN = re.compile("math domain error|expected a (nonnegative|positive) input")
"""What Python, and from 3.14 on, says of a root or a logarithm that is no number."""


def run_words(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process, and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is None:  # it is closed, as stdout may be
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        print("certibit: stdout is closed; send it to a file or to /dev/null", file=sys.stderr)
        return WRONG_INPUT
    stdout: Any = _Stream(sys.stdout, "stdout")
    stderr: Any = _Stream(sys.stderr)
    with redirect_stdout(stdout), redirect_stderr(stderr):
        return _status(words, stderr)


def _status(words: list[str], stderr: "_Stream") -> int:
    debug = "--debug" in words
    # more threads only wait for each other; numpy reads this when it is imported
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if any("\0" in word for word in words):
        print("certibit: a word has the character NUL; leave it out", file=sys.stderr)
        return WRONG_INPUT
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OutsideTheoremWarning)
        try:
            chosen = _parsed([word for word in words if word != "--debug"])
            stderr.is_quiet = chosen.quiet
            with _json_alone() if getattr(chosen, "json", False) else nullcontext():
                status: int | None = chosen.command(chosen)
            sys.stdout.flush()
            return status or 0
        except KeyboardInterrupt as interrupt:
            print(f"certibit: interrupted {interrupt}".rstrip(), file=sys.stderr)
            return INTERRUPTED
        except SystemExit as end:
            if not _own_place(end):  # of argparse, which has said why
                raise
            print(f"certibit: {_sentence(end)}", file=sys.stderr)
            return WRONG_INPUT
        except BaseException as error:  # also those of a user's own
            if debug:
                traceback.print_exception(error)
            print(f"certibit: {_sentence(error)}", file=sys.stderr)
            return CONTRADICTION if isinstance(error, ContradictionError) else WRONG_INPUT


def _sentence(error: BaseException) -> str:
    """Return what went wrong in one line, very long words cut in the middle."""
    if isinstance(error, Refusal | OSError | ContradictionError | FailedJobsError):
        told = str(error)
    elif isinstance(error, ZeroDivisionError):
        told = "these parameters lead to a division by zero; choose others"
    elif _DOMAIN.match(str(error)) and not _own_place(error):
        told = "these parameters lead to a root, or a logarithm, that is no number; choose others"
    elif isinstance(error, MemoryError):
        told = "the memory of this machine does not suffice; choose smaller numbers"
    else:
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        told = f"something unforeseen went wrong ({what}{_own_place(error)}); --debug shows where"
    line = " ".join(told.split())
    return re.sub(r"\S{200,}", lambda word: f"{word[0][:60]}...{word[0][-20:]}", line)


def _own_place(error: BaseException) -> str:
    """Return where in a user's file an error comes from, such as `` in own.py, line 9``; or ""."""
    from certibit.data.own.own_file import own_place  # noqa: PLC0415  (slow to import)

    place = own_place(error)
    return f" in {place}" if place else ""


class _Stream:
    """A stream that goes on in /dev/null once its reader has left, as ``head`` does.

    Parameters
    ----------
    stream : file
    name : str, optional
        Of a stream whose other faults, such as a full disk, are refused; else they are ignored.
    result : file, optional
        Where a result is printed instead.
    """

    def __init__(self, stream: TextIO, name: str = "", result: "_Stream | None" = None) -> None:
        self._stream, self._name = stream, name
        self.result, self.is_quiet = result or self, False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text."""
        return self._done(self._stream.write, text) or len(text)

    def flush(self) -> None:
        """Write what is buffered."""
        self._done(self._stream.flush)

    def isatty(self) -> bool:
        """Whether it is a terminal; with ``--quiet`` no, so that no progress is drawn."""
        return not self.is_quiet and self._stream.isatty()

    def _done(self, act: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())
            if self._name and not isinstance(error, BrokenPipeError):
                raise Refusal(
                    f"{self._name} cannot be written ({error.strerror}); send it to another file"
                ) from None


@contextmanager
def _json_alone() -> Iterator[None]:
    """Send what is printed to stderr, also by other processes, but for a result."""
    stdout, stderr = sys.stdout, sys.stderr
    try:
        number, other = stdout.fileno(), stderr.fileno()
    except OSError:  # streams of tests and notebooks
        apart: Any = _Stream(stderr, result=stdout)  # type: ignore[arg-type]
        with redirect_stdout(apart):
            yield
        return
    stdout.flush()
    with os.fdopen(os.dup(number), "w", encoding="utf-8") as file:
        result = _Stream(file, "stdout")
        os.dup2(other, number)
        try:
            apart = _Stream(stderr, result=result)
            with redirect_stdout(apart):
                yield
            result.flush()
        finally:
            sys.__stdout__.flush() if sys.__stdout__ else None
            os.dup2(file.fileno(), number)


def _parsed(words: list[str]) -> argparse.Namespace:
    first = next((place for place, word in enumerate(words) if not word.startswith("-")), 0)
    if (both := " ".join(words[first : first + 2])) in SUMMARIES:
        words = [*words[:first], both, *words[first + 2 :]]
    try:
        return _parser().parse_args(words)
    finally:  # help has been printed
        sys.stdout.flush()


class _ShowVersion(argparse.Action):
    """Print the version, which is slow to look up, and end."""

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version  # noqa: PLC0415  (slow to import)

        print(f"certibit {version('certibit')}")
        parser.exit()


def _parser() -> Parser:
    parser = Parser(
        prog="certibit", description="Run distributed optimisation methods and count their bits."
    )
    parser.add_argument(
        "--version",
        action=_ShowVersion,
        nargs=0,
        default=argparse.SUPPRESS,
        help="print the version",
    )
    parser.add_argument("--debug", action="store_true", help="show where an error comes from")
    parser.add_argument("--quiet", action="store_true", help="draw no progress")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, (module, summary) in SUMMARIES.items():
        if _COMMANDS.joinpath(f"{module}.py").exists():
            shown: dict[str, Any] = {} if " " in name else {"help": summary}
            commands.add_parser(
                name,
                **shown,
                description=f"{summary[0].upper()}{summary[1:]}.",
                fill=partial(_add_options, name, module),
            )
    parser.set_defaults(parser=parser)
    return parser


def _add_options(name: str, module: str, parser: Parser) -> None:
    """Add the options of a command, whose module is slow to import."""
    function, options = import_module(f"certibit.cli.commands.{module}").COMMANDS[name]
    parser.set_defaults(command=function)
    add_options(parser, options)
    parser.add_argument(
        "--quiet", action="store_true", default=argparse.SUPPRESS, help="draw no progress"
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"certibit: {message}", file=sys.stderr)
