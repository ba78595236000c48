"""Draws the figures of the clipped methods: colour says the correction, line style the clipping."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Canvas
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator
from numpy.typing import NDArray

from certibit.data.relaxed.polynomials import Quartics
from certibit.figures.drawing import STYLE, save
from certibit.figures.episode.recorded_rounds import FloatArray
from certibit.figures.episode.theorem_runs import THEOREM_EPSILON, Slope
from certibit.figures.episode.tuning import LOCAL_STEPS, Best, Contest, Results
from certibit.figures.episode.tunings import TUNINGS

_DASHED, _DOTTED = (0, (4, 1.6)), (0, (1.2, 1.3))
_BAND, _SHOWN = (10.0, 90.0), 30


def tuning_look(name: str) -> dict[str, Any]:
    """Return the colour, marker and line style of a method as it is tuned.

    Methods without clipping are dashed, in the colour of their clipped relative; those on one
    machine are dotted.
    """
    tuning = TUNINGS[name]
    line: Any = "-" if tuning.clips else _DASHED
    return {
        "color": tuning.colour,
        "marker": tuning.marker,
        "linestyle": line if tuning.federated else _DOTTED,
    }


def figure_3(contest: Contest, results: Results, folder: Path) -> list[Path]:
    """Draw Figure 3 of the EPISODE paper: objective against rounds, and where runs end, per H."""
    with style.context(STYLE):
        canvas = Canvas(figsize=(7.6, 4.3), layout="constrained")
        grid = canvas.add_gridspec(2, len(contest.values), height_ratios=(1.25, 1))
        methods = ("episode", "celgc")
        for column, H in enumerate(contest.values):
            place = canvas.add_subplot(grid[0, column])
            least = Quartics.of(H).f_star
            for name in methods:
                best = results[name][column]
                _band(place, name, best, best.gap + least, _SHOWN)
            place.axhline(least, color="0.35", linewidth=0.7, linestyle=_DOTTED, zorder=1)
            place.set_xlim(0, _SHOWN)
            top = float(Quartics.of(H).value(np.ones((1, 1, 1)))[0])
            place.set_ylim(least - 0.06 * (top - least), top + 0.25 * (top - least))
            place.set_title(f"H = {H:g}")
            place.set_xlabel("rounds")
            if column == 0:
                place.set_ylabel("objective $f(x)$")
            _end(canvas.add_subplot(grid[1, column]), H, column, results, methods)
        handles = [_key(name) for name in methods]
        handles.append(Line2D([], [], color="0.35", lw=0.7, ls=_DOTTED, label="minimum of $f$"))
        seeds = results[methods[0]][0].gap.shape[1]
        canvas.legend(
            handles=handles, loc="outside upper center", ncols=3, title_fontsize=8,
            title=f"medians and 10-90 % of {seeds} seeds; n = 2, d = 1, {LOCAL_STEPS} local steps, "
            "every method at the best of its grid",
        )  # fmt: skip
        return save(canvas, folder, "episode-figure3")


def _end(place: Axes, H: float, column: int, results: Results, methods: Sequence[str]) -> None:
    """Draw f and where the runs of the methods have ended."""
    problem = Quartics.of(H)
    star = problem.x_star.item()
    low, high = 0.3, star + 0.9
    x = np.linspace(low, high, 300)
    place.plot(x, problem.value(x[None, None, :]), color="0.6", linewidth=0.9)
    for name in methods:
        ends = end_points(problem, results[name][column])
        look = {key: tuning_look(name)[key] for key in ("color", "marker")}
        f = problem.value(ends[None, None, :])
        place.plot(ends, f, linestyle="", markersize=4.5, alpha=0.55, **look)
    place.axvline(star, color="0.35", linewidth=0.7, linestyle=_DOTTED, zorder=1)
    place.set_xlim(low, high)
    bottom, top = problem.f_star, float(problem.value(np.full((1, 1, 1), low))[0])
    place.set_ylim(bottom - 0.12 * (top - bottom), top + 0.06 * (top - bottom))
    place.set_xlabel("$x$ after 500 rounds")
    if column == 0:
        place.set_ylabel("objective $f(x)$")


def end_points(problem: Quartics, best: Best) -> FloatArray:
    """Return the last model of every run, (seeds,), from the distance and the gap of its trace.

    Two points have this distance from x*; the model is the one with the recorded gap.
    """
    star, step = problem.x_star.item(), np.sqrt(best.distance[-1])
    sides = np.array([star - step, star + step])
    gaps = np.array([problem.gap(side[None, None, :]) for side in sides])
    nearest = np.argmin(np.abs(gaps - best.gap[-1]), axis=0)
    points: FloatArray = sides[nearest, np.arange(len(step))]
    return points


def draw_comparison(
    name: str,
    panels: Sequence[tuple[str, Contest, Results, int]],
    floor: float,
    folder: Path,
    columns: int,
) -> list[Path]:
    """Draw f - f* against rounds for all methods, one panel per value or contest, both axes log.

    Parameters
    ----------
    panels : sequence of (title, contest, results, place of the value)
        From left to right and down.
    floor : float
        Lower end of the axis of f - f*.
    """
    rows = -(-len(panels) // columns)
    with style.context(STYLE):
        canvas = Canvas(figsize=(1.9 + 2.35 * columns, 0.55 + 2.05 * rows), layout="constrained")
        axes = canvas.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for place, (title, contest, results, value) in zip(axes.flat, panels, strict=True):
            for number, (method, bests) in enumerate(results.items()):
                best = bests[value]
                shift = (number % 6) / 6
                smooth = smoothed(best.rounds, best.gap)
                _band(place, method, best, smooth, contest.rounds, (0.05 + 0.12 * shift, 0.17))
            first = results["episode"][value].gap[0, 0]
            place.set_xscale("log")
            place.set_yscale("log")
            place.set_xlim(1, contest.rounds)
            place.set_ylim(floor, 3 * first)
            place.yaxis.set_major_locator(LogLocator(numticks=8))
            place.xaxis.set_minor_locator(NullLocator())
            place.yaxis.set_minor_locator(NullLocator())
            place.set_title(title)
        seeds = panels[0][2]["episode"][panels[0][3]].gap.shape[1]
        for place in axes[-1]:
            place.set_xlabel(f"rounds; medians, 10-90 %, {seeds} seeds")
        for place in axes[:, 0]:
            place.set_ylabel("$f(x) - f^\\star$")
        methods = panels[0][2]
        canvas.legend(handles=[_key(method) for method in methods], loc="outside right upper")
        return save(canvas, folder, name)


def smoothed(rounds: NDArray[np.int64], gap: FloatArray) -> FloatArray:
    """Smooth every run by the geometric mean over the rounds within 15 % of each; (K, seeds).

    The noise floor of a run remains and its fluctuations are removed.
    """
    logs = np.log(np.clip(gap, 1e-300, 1e300))
    sums = np.concatenate([np.zeros((1, gap.shape[1])), np.cumsum(logs, axis=0)])
    first = np.searchsorted(rounds, rounds / 1.15)
    last = np.searchsorted(rounds, rounds * 1.15, side="right")
    means: FloatArray = np.exp((sums[last] - sums[first]) / (last - first)[:, None])
    return means


def against_slope(
    slopes: Sequence[float], rounds: Mapping[str, FloatArray], bound: FloatArray, folder: Path
) -> list[Path]:
    """Draw the rounds of every method at its best parameters against M, and the proved bound."""
    labels = {
        "clipped-minibatch-sgd": "clipped minibatch SGD, S = 1",
        "episode-plus-plus": "EPISODE++, S = 1",
        "clipped-sgd": "clipped GD, all clients",
    }
    with style.context(STYLE):
        canvas = Canvas(figsize=(4.6, 2.7), layout="constrained")
        place = canvas.subplots()
        for name, values in rounds.items():
            look = {key: tuning_look(name)[key] for key in ("color", "marker")}
            place.plot(slopes, values, label=labels[name], **look)
        place.plot(slopes, bound, color="0.35", ls=_DASHED, lw=0.9,
                   label="lower bound for\nclipped minibatch SGD")  # fmt: skip
        place.set_xscale("log")
        place.set_yscale("log")
        place.set_xlabel("gradient norm $M$ at the start")
        place.set_ylabel("rounds to $|\\nabla f| \\leq \\epsilon$")
        place.xaxis.set_minor_locator(NullLocator())
        place.yaxis.set_minor_locator(NullLocator())
        canvas.legend(loc="outside right upper")
        return save(canvas, folder, "episode-lower-bound")


def against_promise(runs: Sequence[Slope], folder: Path) -> list[Path]:
    """Draw the running mean of the gradient norm at the theorem's parameters, and its bound."""
    with style.context(STYLE):
        canvas = Canvas(figsize=(4.6, 2.7), layout="constrained")
        place = canvas.subplots()
        for run, line in zip(runs, ("-", _DASHED), strict=True):
            label = f"EPISODE, $\\sigma$ = {run.sigma:g}"
            after = slice(1, None)
            place.plot(run.rounds[after], run.running[after], label=label,
                       color=TUNINGS["episode"].colour, ls=line)  # fmt: skip
            place.plot(run.rounds[after], run.promised[after], ls=line, color="0.45", lw=0.9,
                       label=f"promised, $\\sigma$ = {run.sigma:g}")  # fmt: skip
        place.axhline(3 * THEOREM_EPSILON, color="0.35", linewidth=0.7, linestyle=_DOTTED)
        place.annotate("$3\\epsilon$", (1, 3 * THEOREM_EPSILON), xycoords=("axes fraction", "data"),
                       xytext=(3, 0), textcoords="offset points", va="center")  # fmt: skip
        place.set_xscale("log")
        place.set_yscale("log")
        place.set_xlim(100, max(run.rounds[-1] for run in runs))
        place.set_ylim(0.05, 3000)
        place.xaxis.set_minor_locator(NullLocator())
        place.yaxis.set_minor_locator(NullLocator())
        place.set_xlabel("rounds")
        place.set_ylabel("mean of $|\\nabla f(x_r)|$ so far")
        canvas.legend(loc="outside right upper")
        return save(canvas, folder, "episode-theorem")


def _band(
    place: Axes,
    method: str,
    best: Best,
    values: FloatArray,
    rounds: int,
    markers: tuple[float, float] = (0.0, 0.1),
) -> None:
    """Draw the median over seeds and the 10-90 % band of values (K, seeds), up to some rounds."""
    kept = best.rounds <= rounds
    shown = np.minimum(values[kept], 1e300)
    low, median, high = np.percentile(shown, (_BAND[0], 50, _BAND[1]), axis=1)
    look = tuning_look(method)
    place.fill_between(best.rounds[kept], low, high, color=look["color"], alpha=0.12, lw=0)
    place.plot(best.rounds[kept], median, markevery=markers, **look)


def _key(method: str) -> Line2D:
    return Line2D([], [], label=TUNINGS[method].label, **tuning_look(method))
