"""Ctrl-C while the command is imported, or while it ends: one line, at once."""

import os
import signal
import sys
from itertools import pairwise
from types import FrameType

from bitbound.cli.words.exit_codes import INTERRUPTED


def end_at_interrupts() -> None:
    """End at an interrupt, with one line, if this process is the command line.

    It is for the time in which nobody could catch a KeyboardInterrupt. Where interrupts are
    ignored, or somebody else listens, nothing is changed.
    """
    if _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _end)


def raise_at_interrupts() -> None:
    """Raise KeyboardInterrupt at an interrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _is_command() -> bool:
    """Whether it was started as ``bitbound`` or as ``python -m bitbound``."""
    script = os.path.basename(sys.argv[0]).partition(".")[0] == "bitbound"
    return script or ("-m", "bitbound") in pairwise(sys.orig_argv)


def _end(number: int, frame: FrameType | None) -> None:
    os.write(2, b"bitbound: interrupted\n")
    os._exit(INTERRUPTED)
