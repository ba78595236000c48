"""The command line; the folder ``commands`` has one file per command."""

from certibit.cli.application import run_words as main

__all__ = ["main"]
