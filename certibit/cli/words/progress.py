"""The progress bar of commands that run methods."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from certibit.solvers.runs.engine import Progress


@contextmanager
def progress_bar(name: str, delay: float = 0.0) -> Iterator[Progress]:
    """Show the fraction of the work that is done, and the estimated time that remains.

    Nothing is shown in the first ``delay`` seconds. The fraction may decrease: a run that was about
    to be stopped as stagnated has made progress.
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
