"""The progress bar of commands that run methods."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from certibit.solvers.runs.loop import Progress


@contextmanager
def progress_bar(name: str, delay: float = 0.0) -> Iterator[Progress]:
    """Show the fraction of the work that is done, and the time left at the mean pace so far.

    Nothing is shown in the first ``delay`` seconds. A fraction may fall: a run that was near to be
    given up has made progress.
    """
    with tqdm(
        total=1.0,
        desc=name,
        file=sys.stderr,
        disable=None,
        smoothing=0.0,
        delay=delay,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
    ) as bar:

        def tell(fraction: float) -> None:
            bar.update(min(fraction, 1.0) - bar.n)

        yield tell
        tell(1.0)
