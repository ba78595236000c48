"""The command line; ``bitbound --help`` names its commands, each a file of this folder."""

from bitbound.cli.application import main

__all__ = ["main"]
