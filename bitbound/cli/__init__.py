"""The command line; ``bitbound --help`` names its commands, each a file of a folder here."""

from bitbound.cli.application import run_words as main

__all__ = ["main"]
