"""The command line; ``certibit --help`` names its commands, each a file of a folder here."""

from certibit.cli.application import run_words as main

__all__ = ["main"]
