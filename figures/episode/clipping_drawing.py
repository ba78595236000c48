"""Draws the figures of the clipped methods: colour says the correction, line style the clipping."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.relaxed.polynomials import Quartics
from certibit.figures.drawing import DASHED, DOTTED, GREY, Line, Plot, draw_plots
from certibit.figures.episode.theorem_runs import THEOREM_EPSILON, Slope
from certibit.figures.episode.tuning import LOCAL_STEPS, TUNINGS, Best, Contest, FloatArray, Results

_SHOWN = 30
"""Rounds of Figure 3."""


def tuning_look(name: str) -> dict[str, Any]:
    """Return the colour, marker and line style of a method as it is tuned.

    Methods without clipping are dashed, in the colour of their clipped relative; those on one
    machine are dotted.
    """
    tuning = TUNINGS[name]
    line: Any = "-" if tuning.clips else DASHED
    return {
        "color": tuning.card.colour,
        "marker": tuning.card.marker,
        "linestyle": line if tuning.federated else DOTTED,
    }


def figure_3(contest: Contest, results: Results, folder: Path) -> list[Path]:
    """Draw Figure 3 of the EPISODE paper: objective against rounds, and where runs end, per H."""
    methods = ("episode", "celgc")
    upper, lower = [], []
    for column, H in enumerate(contest.values):
        problem, label = Quartics.of(H), "objective $f(x)$" if column == 0 else ""
        least, top = problem.f_star, _objective(problem, 1.0)
        bests = {name: results[name][column] for name in methods}
        curves = [_curve(n, b, b.gap + least, _SHOWN, (0.0, 0.1)) for n, b in bests.items()]
        upper.append(
            Plot(
                curves, f"H = {H:g}", "rounds", label, xlim=(0, _SHOWN),
                ylim=(least - 0.06 * (top - least), top + 0.25 * (top - least)),
                levels={"y": least},
            )
        )  # fmt: skip
        low, high = 0.3, problem.x_star.item() + 0.9
        top, x = _objective(problem, low), np.linspace(low, high, 300)
        marks = [end_points(problem, best) for best in bests.values()]
        points = [
            Line(at, problem.value(at[None, None, :]),
                 tuning_look(n) | {"linestyle": "", "markersize": 4.5, "alpha": 0.55})
            for n, at in zip(methods, marks, strict=True)
        ]  # fmt: skip
        curve = Line(x, problem.value(x[None, None, :]), {"color": "0.6", "linewidth": 0.9})
        lower.append(
            Plot(
                [curve, *points], "", "$x$ after 500 rounds", label, xlim=(low, high),
                ylim=(least - 0.12 * (top - least), top + 0.06 * (top - least)),
                levels={"x": problem.x_star.item()},
            )
        )  # fmt: skip
    seeds = results[methods[0]][0].gap.shape[1]
    looks = {TUNINGS[name].label: tuning_look(name) for name in methods}
    legend = {
        "looks": looks | {"minimum of $f$": GREY | {"linestyle": DOTTED}},
        "loc": "outside upper center", "ncols": 3, "title_fontsize": 8,
        "title": f"medians and 10-90 % of {seeds} seeds; n = 2, d = 1, {LOCAL_STEPS} local steps, "
        "every method at the best of its grid",
    }  # fmt: skip
    return draw_plots(
        "episode-figure3", [upper, lower], folder, (7.6, 4.3), legend, height_ratios=(1.25, 1)
    )


def _objective(problem: Quartics, x: float) -> float:
    return float(problem.value(np.full((1, 1, 1), x))[0])


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
    _, _, methods, value = panels[0]
    seeds = methods["episode"][value].gap.shape[1]
    plots = []
    for number, (title, contest, results, value) in enumerate(panels):
        bests = {method: found[value] for method, found in results.items()}
        curves = [
            _curve(method, best, smoothed(best.rounds, best.gap), contest.rounds,
                   (0.05 + 0.02 * (place % 6), 0.17))
            for place, (method, best) in enumerate(bests.items())
        ]  # fmt: skip
        lowest, leftmost = number >= len(panels) - columns, number % columns == 0
        plots.append(
            Plot(
                curves, title,
                f"rounds; medians, 10-90 %, {seeds} seeds" if lowest else "",
                "$f(x) - f^\\star$" if leftmost else "",
                "xy", (1, contest.rounds), (floor, 3 * bests["episode"].gap[0, 0]),
            )
        )  # fmt: skip
    rows = [plots[i : i + columns] for i in range(0, len(plots), columns)]
    size = (1.9 + 2.35 * columns, 0.55 + 2.05 * len(rows))
    looks = {TUNINGS[method].label: tuning_look(method) for method in methods}
    legend = {"looks": looks, "loc": "outside right upper"}
    return draw_plots(name, rows, folder, size, legend, sharex=True, sharey=True)


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
    lines = [
        Line(slopes, values, tuning_look(name) | {"linestyle": "-", "label": labels[name]})
        for name, values in rounds.items()
    ]
    below = {"color": "0.35", "ls": DASHED, "lw": 0.9}
    lines.append(Line(slopes, bound, below | {"label": "lower bound for\nclipped minibatch SGD"}))
    plot = Plot(
        lines, "", "gradient norm $M$ at the start", "rounds to $|\\nabla f| \\leq \\epsilon$", "xy"
    )
    return _alone("episode-lower-bound", plot, folder)


def against_promise(runs: Sequence[Slope], folder: Path) -> list[Path]:
    """Draw the running mean of the gradient norm at the theorem's parameters, and its bound."""
    lines = []
    for run, line in zip(runs, ("-", DASHED), strict=True):
        x, sigma = run.rounds[1:], f"$\\sigma$ = {run.sigma:g}"
        measured = {
            "color": TUNINGS["episode"].card.colour,
            "ls": line,
            "label": f"EPISODE, {sigma}",
        }
        promised = {"color": "0.45", "lw": 0.9, "ls": line, "label": f"promised, {sigma}"}
        lines += [Line(x, run.running[1:], measured), Line(x, run.promised[1:], promised)]
    plot = Plot(
        lines, "", "rounds", "mean of $|\\nabla f(x_r)|$ so far", "xy",
        (100, max(run.rounds[-1] for run in runs)), (0.05, 3000),
        levels={"y": 3 * THEOREM_EPSILON}, level_name="$3\\epsilon$",
    )  # fmt: skip
    return _alone("episode-theorem", plot, folder)


def _alone(name: str, plot: Plot, folder: Path) -> list[Path]:
    return draw_plots(name, [[plot]], folder, (4.6, 2.7), {"loc": "outside right upper"})


def _curve(
    method: str, best: Best, values: FloatArray, rounds: int, markers: tuple[float, float]
) -> Line:
    """Return the median over seeds and the 10-90 % band of values (K, seeds), up to some rounds."""
    kept = best.rounds <= rounds
    look = tuning_look(method) | {"markevery": markers}
    return Line.of_runs(best.rounds[kept], values[kept], look)
