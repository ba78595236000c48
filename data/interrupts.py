"""Ctrl-C while the command is imported, or while it ends: one line, at once.

It is answered once this module has been imported; before, an interrupt ends in a traceback of
Python, so little is imported here.
"""

import _signal  # type: ignore[import-not-found]  # of signal, without its enumerations
import os
import sys
from itertools import pairwise

INTERRUPTED = 130
"""The exit code after Ctrl-C."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType


def end_at_interrupts() -> None:
    """End at an interrupt, with one line, if this process is the command line.

    It is used while imports run and no handler could catch a KeyboardInterrupt. If interrupts are
    ignored, or have another handler, nothing is changed.
    """
    if _is_command() and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
        _signal.signal(_signal.SIGINT, _end)


def raise_at_interrupts() -> None:
    """Raise KeyboardInterrupt at an interrupt again."""
    if _signal.getsignal(_signal.SIGINT) is _end:
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)


def _is_command() -> bool:
    """Whether it was started as ``certibit`` or as ``python -m certibit``."""
    script = os.path.basename(sys.argv[0]).partition(".")[0] == "certibit"
    return script or ("-m", "certibit") in pairwise(sys.orig_argv)


def _end(number: int, frame: "FrameType | None") -> None:
    os.write(2, b"certibit: interrupted\n")
    os._exit(INTERRUPTED)


end_at_interrupts()
