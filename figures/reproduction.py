"""From recipes to files: the traces of all curves, then every figure with its table."""

from collections.abc import Callable, Iterable
from pathlib import Path

from bitbound.figures.drawing import draw
from bitbound.figures.pool import Job, traces
from bitbound.figures.recipes import METHOD_LABELS, Curve, Figure, Panel
from bitbound.figures.report import comparison
from bitbound.solvers.trace import Trace

SEEDS = 5
"""Seeds of every curve, as in the paper."""


def reproduce(
    figures: Iterable[Figure],
    folder: Path,
    *,
    seeds: int = SEEDS,
    processes: int | None = None,
    tell: Callable[[str], None] = print,
) -> list[Path]:
    """Compute what is missing, draw the figures, and tell the table of every panel.

    A figure is drawn as soon as its last curve is finished.

    Parameters
    ----------
    figures : iterable of Figure
        What to draw. Curves whose method is not in the catalogue are left out and named.
    folder : Path
        Figures go here, traces into its folder ``traces``.
    seeds : int
        Number of seeds of every curve.
    processes : int, optional
        Parallel processes; by default one for every core.
    tell : callable
        Told every text that is worth reading.

    Returns
    -------
    list of Path
        The files drawn.
    """
    waiting = list(figures)
    jobs = {
        (panel, curve): Job(panel, curve, seeds, folder / "traces")
        for figure in waiting
        for panel in figure.panels
        for curve in panel.available
    }
    done: dict[tuple[Panel, Curve], Trace] = {}
    paths: list[Path] = []
    for job, trace in traces(jobs.values(), processes):
        done[job.panel, job.curve] = trace
        for figure in [figure for figure in waiting if _wanted(figure) <= done.keys()]:
            waiting.remove(figure)
            paths += _finish(figure, done, folder, tell)
    return paths


def _wanted(figure: Figure) -> set[tuple[Panel, Curve]]:
    return {(panel, curve) for panel in figure.panels for curve in panel.available}


def _finish(
    figure: Figure,
    done: dict[tuple[Panel, Curve], Trace],
    folder: Path,
    tell: Callable[[str], None],
) -> list[Path]:
    wanted = {key: done[key] for key in _wanted(figure)}
    paths = draw(figure, wanted, folder)
    for panel in figure.panels:
        tell("\n" + comparison(panel, {c: wanted[panel, c] for c in panel.available}))
    tell(f"\n{figure.name}: {', '.join(map(str, paths))}")
    missing = {curve.method for panel in figure.panels for curve in panel.left_out}
    if missing:
        names = [label for method, label in METHOD_LABELS.items() if method in missing]
        tell(f"left out, since this version does not have the methods: {', '.join(names)}")
    return paths
