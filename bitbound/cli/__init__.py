"""The command line; ``bitbound --help`` names its commands, each a file of this folder."""

from collections.abc import Sequence

from bitbound.cli.interrupts import end_at_interrupts, raise_at_interrupts

end_at_interrupts()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``bitbound``; by default those of this process.
    """
    from bitbound.cli.application import run_words  # noqa: PLC0415  (slow to import)

    raise_at_interrupts()
    try:
        return run_words(arguments)
    finally:
        end_at_interrupts()
