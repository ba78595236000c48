"""Exit codes of the command line; 0 is success, and 130 is Ctrl-C."""

FAILED = 1
"""A check fails."""

WRONG_INPUT = 2
"""The input does not fit; one sentence on stderr says why."""

CONTRADICTION = 3
"""Two results contradict each other, which is an error of certibit."""
