"""The frontier of a descent with stochastic gradients: much descent, or little noise."""

from dataclasses import replace
from operator import methodcaller
from pathlib import Path

from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.looks import method_look
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.catalogue.catalogue import STOCHASTIC
from certibit.theory.certificates.summary import class_setting
from certibit.theory.descent.descent_forms import noise_frontier
from certibit.theory.function_class import FunctionClass

N, OMEGA = 10, 1.0
"""The number of clients, and omega; alpha = 1/(1 + omega) for contractions."""

PARTS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Parts of the largest c."""

VARIED = {"sgd": ("gamma", (0.1, 0.3, 1.0)), "ef21-sgdm": ("eta", (0.05, 0.2, 1.0))}
"""The parameter of each method that is varied; the others are those of its rule."""


def _frontiers(name: str) -> list[Line]:
    """Return the certified frontiers of a method, for L = 1, and what its theorem promises."""
    card, (parameter, values) = STOCHASTIC[name], VARIED[name]
    colour, marker = method_look(name)
    need = card.method.needs.compressor
    where = class_setting(card.method, N, None, OMEGA if need else None, None, 20)
    functions = FunctionClass.nonconvex(N, 1.0, alpha=where.alpha if need else None)
    noisy = replace(functions, noise=GradientNoise())
    lines = []
    for value in values:
        method = card.with_values(where, values={parameter: value})
        proved = noise_frontier(method, noisy, PARTS)
        promised = card.about("squared_gradient")[0].promise(method, where)
        c, e = zip(*((each.c, each.e) for each in proved), strict=True)
        lines.append(Line(c, e, {"color": colour}, name=f"{parameter} = {value:g}"))
        mark = {"marker": marker or "o", "color": "black"}
        lines.append(Line([promised.c], [promised.e], mark))
    return lines


def draw_frontiers(folder: Path) -> list[Path]:
    """Draw e against c: lines are certified, marks are what theorems promise."""
    margins = methodcaller("margins", x=0.25)
    plots: list[Plot] = []
    for name in VARIED:
        label, ylabel = STOCHASTIC[name].label, "" if plots else "e L"
        plots.append(Plot(_frontiers(name), label, "c L", ylabel, "xy", finish=margins))
    title = (
        f"E[Psi+] <= Psi - c |grad f|^2 + e sigma^2, n = {N}, omega = {OMEGA:g}: lines are "
        "certified, marks are theorems"
    )
    return draw_plots("noise", [plots], folder, (8.0, 3.4), title=title)
