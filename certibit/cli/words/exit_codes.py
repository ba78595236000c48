"""What the command line ends with; 0 stands for success, and 130 for Ctrl-C."""

FAILED = 1
"""A check fails."""

WRONG_INPUT = 2
"""The input does not fit; one sentence on stderr says why."""

CONTRADICTION = 3
"""Two results contradict each other: the tool is wrong, and says so."""
