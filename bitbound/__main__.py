"""``python -m bitbound`` is the command line."""

import sys

from bitbound.cli import main

if __name__ == "__main__":
    sys.exit(main())
