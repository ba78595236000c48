"""What the figures cost: their processor time, in units of a bare gradient."""

import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bare import bare_gradients
from ratios import Ratio

from certibit import problem

FIGURES = "Processor time of a figure, in thousands of bare gradients"
DEMO = "demo"
COMMANDS = {
    DEMO: ("demo",),
    **{f"figure {name}": ("figures", name, "--version", "paper") for name in "1234"},
}
RUNS = 16


def figures(names: Iterable[str] = COMMANDS) -> Iterator[Ratio]:
    """Yield the cost of the demonstration and of the paper's figures, each made afresh."""
    yardstick = problem("breast-cancer@9")
    for name in names:
        before = _unit(yardstick)
        spent = _spent(COMMANDS[name])
        unit = (before + _unit(yardstick)) / 2
        value = spent / (1000 * unit)
        yield Ratio(FIGURES, yardstick.name, RUNS, name, value, value, value)


def _spent(words: tuple[str, ...]) -> float:
    """Return the processor seconds of a command and its workers."""
    before = _children()
    with TemporaryDirectory() as folder:
        command = Path(sys.executable).parent / "certibit"
        subprocess.run([command, *words, "--output", folder], check=True, capture_output=True)
    return _children() - before


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _unit(yardstick: object, times: int = 5000) -> float:
    """Return the processor seconds of a bare gradient, the faster way."""
    seconds = []
    for action in bare_gradients(yardstick, RUNS).values():
        start = time.process_time()
        for _ in range(times):
            action()
        seconds.append((time.process_time() - start) / times)
    return min(seconds)
