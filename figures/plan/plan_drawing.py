"""A map of the method with the smallest promised time, over uplink and latency."""

from pathlib import Path

import numpy as np
from matplotlib import style
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure as Canvas
from matplotlib.ticker import FuncFormatter

from certibit.figures.drawing import STYLE, require_format, write_canvas
from certibit.figures.text.tables import accuracy_name
from certibit.solvers.network import amount
from certibit.theory.plan.crossover import fastest
from certibit.theory.plan.planning import Plan

_POINTS = 240
_COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
_SMALLEST = 0.004
"""A region that covers less of the map has no name in it."""


def draw_map(plan: Plan) -> Canvas:
    """Draw the fastest offer over uplink and latency; a cross is the plan's network."""
    uplinks, latencies = np.geomspace(1e2, 1e9, _POINTS), np.geomspace(1e-5, 10, _POINTS)
    best = fastest(plan.offers, plan.network, uplinks, latencies)
    winners, region = np.unique(best, return_inverse=True)
    region = region.reshape(best.shape)
    with style.context(STYLE):
        canvas = Canvas(figsize=(6.4, 4.6), layout="constrained")
        axes = canvas.add_subplot()
        colours = ListedColormap([_COLOURS[k % len(_COLOURS)] for k in range(len(winners))])
        axes.pcolormesh(uplinks, latencies, region, cmap=colours, alpha=0.55, rasterized=True)
        for k, winner in enumerate(winners):
            rows, columns = np.nonzero(region == k)
            if rows.size < _SMALLEST * region.size:
                continue
            middle = int(np.median(rows))
            column = int(np.median(columns[rows == middle])) if middle in rows else columns[0]
            axes.text(
                uplinks[column], latencies[middle], plan.offers[winner].pair.replace("+", "\n+", 1),
                ha="center", va="center", fontsize=7,
            )  # fmt: skip
        axes.plot(plan.network.uplink, plan.network.latency, "kx", clip_on=False)
        axes.set(xscale="log", yscale="log", xlabel="uplink, bits per second")
        axes.set(ylabel="latency of a message, seconds")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: amount(value, "bit")))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: amount(value, "s")))
        problem, network = plan.problem, plan.network
        axes.set_title(
            f"Fastest to f - f* = {accuracy_name(plan.target)} by promise\n"
            f"{problem.name}: n={problem.n}, d={problem.d}; {amount(network.downlink, 'bit')}/s "
            f"down, {amount(network.gradient, 's')} per gradient",
            fontsize=9,
        )
        return canvas


def save_map(plan: Plan, path: Path) -> Path:
    """Write the map as SVG, PNG or PDF, and return the file."""
    require_format(path)
    return write_canvas(draw_map(plan), path)
