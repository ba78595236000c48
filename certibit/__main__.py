"""``python -m certibit`` is the command line."""

import sys

from certibit.cli import main

if __name__ == "__main__":
    sys.exit(main())
