"""The command line; ``bitbound --help`` names its commands, each a file of a folder here."""

from bitbound.cli.interrupts import end_at_interrupts

end_at_interrupts()

from bitbound.cli.application import run_words as main  # noqa: E402

__all__ = ["main"]
