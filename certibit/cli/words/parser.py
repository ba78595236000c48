"""The parser of the command line: words in any order, defaults in every help, good refusals."""

import argparse
import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, NoReturn

from certibit.data.errors import Refusal


class _Help(argparse.HelpFormatter):
    """Help that shows the default of every option that has one."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=28)

    def _get_help_string(self, action: argparse.Action) -> str | None:
        text = action.help
        default = action.default
        shown = default is not None and default is not False
        shown = shown and default not in (argparse.SUPPRESS, "", [])
        if text and shown and action.option_strings and "default" not in text:
            return f"{text} (default: %(default)s)"
        return text


class Parser(argparse.ArgumentParser):
    """A parser whose error message is one sentence with the nearest name.

    Parameters
    ----------
    *arguments, **options
        Those of ``argparse.ArgumentParser``.
    fill : callable, optional
        Adds the arguments to the parser, when words are first parsed.
    """

    def __init__(
        self, *arguments: Any, fill: Callable[["Parser"], None] | None = None, **options: Any
    ) -> None:
        super().__init__(*arguments, **{"formatter_class": _Help} | options)
        self._mixing = False
        self._fill = fill

    def complete(self) -> "Parser":
        """Return this parser after its arguments and those of its commands have been added."""
        if self._fill:
            self._fill(self)
            self._fill = None
        for action in self._actions:
            if isinstance(action, argparse._SubParsersAction):
                for command in action.choices.values():
                    command.complete()
        return self

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """Parse the words of a command, options and others in any order."""
        if self._subparsers is not None or self._mixing:
            return super().parse_known_args(args, namespace)
        self.complete()
        self._mixing = True
        try:
            chosen, unknown = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._mixing = False
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return chosen, unknown

    def error(self, message: str) -> NoReturn:
        """Refuse the words of a command line."""
        choice = re.fullmatch(r"(.*invalid choice: '(.*)') \(choose from (.*)\)", message)
        near: list[str] = []
        if choice:
            near = get_close_matches(choice[2], re.findall(r"[\w-]+(?: \w+)?", choice[3]))
            message = choice[1] if near else message
        elif unknown := re.match(r"unrecognized arguments: (--[^ =]+)", message):
            near = get_close_matches(unknown[1], self._option_string_actions)
        if near:
            message = f"{message}; did you mean {' or '.join(near)}?"
        raise Refusal(f"{message} (see {self.prog} --help)")
