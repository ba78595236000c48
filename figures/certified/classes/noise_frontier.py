"""The frontier of a descent with stochastic gradients: much descent, or little noise."""

from dataclasses import dataclass, replace
from operator import methodcaller
from pathlib import Path

from certibit.figures.drawing import Line, Plot, draw_plots
from certibit.figures.looks import method_look
from certibit.solvers.method import Method
from certibit.theory.assumptions.gradient_noise import GradientNoise
from certibit.theory.card import Card
from certibit.theory.catalogue.catalogue import STOCHASTIC
from certibit.theory.certificates.summary import class_setting
from certibit.theory.descent.descent_forms import noise_frontier
from certibit.theory.function_class import FunctionClass
from certibit.theory.setting import Setting
from certibit.theory.theorem import DescentPromise

N, OMEGA = 10, 1.0
"""The number of clients, and omega; alpha = 1/(1 + omega) for contractions."""

PARTS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Parts of the largest c."""

VARIED = {"sgd": ("gamma", (0.1, 0.3, 1.0)), "ef21-sgdm": ("eta", (0.05, 0.2, 1.0))}
"""The parameter of each method that is varied; the others are those of its rule."""


@dataclass(frozen=True)
class _Frontier:
    """What is proved of one method with its parameters, and what its theorem promises."""

    card: Card
    label: str
    certified: tuple[DescentPromise, ...]
    promised: DescentPromise


def _frontiers() -> list[_Frontier]:
    """Certify the frontiers of all methods that are drawn, for L = 1."""
    found = []
    for name, (parameter, values) in VARIED.items():
        card = STOCHASTIC[name]
        need = card.method.needs.compressor
        where = class_setting(card.method, N, None, OMEGA if need else None, None, 20)
        functions = FunctionClass.nonconvex(N, 1.0, alpha=where.alpha if need else None)
        for value in values:
            method = card.with_values(where, values={parameter: value})
            found.append(_frontier(card, method, where, functions, f"{parameter} = {value:g}"))
    return found


def _frontier(
    card: Card, method: Method, where: Setting, functions: FunctionClass, label: str
) -> _Frontier:
    noisy = replace(functions, noise=GradientNoise())
    promised = card.descents[0].promise(method, where)
    return _Frontier(card, label, noise_frontier(method, noisy, PARTS), promised)


def draw_frontiers(folder: Path) -> list[Path]:
    """Draw e against c: lines are certified, marks are what theorems promise."""
    found = _frontiers()
    lines = {name: [each for each in found if each.card.name == name] for name in VARIED}
    plots: list[Plot] = []
    for name, curves in lines.items():
        colour, marker = method_look(name)
        promised = {"marker": marker or "o", "color": "black"}
        drawn = []
        for curve in curves:
            c, e = zip(*((promise.c, promise.e) for promise in curve.certified), strict=True)
            drawn.append(Line(c, e, {"color": colour}, name=curve.label))
            drawn.append(Line([curve.promised.c], [curve.promised.e], promised))
        title, ylabel = curves[0].card.label, "" if plots else "e L"
        margins = methodcaller("margins", x=0.25)
        plots.append(Plot(drawn, title, "c L", ylabel, "xy", finish=margins))
    title = (
        f"E[Psi+] <= Psi - c |grad f|^2 + e sigma^2, n = {N}, omega = {OMEGA:g}: lines are "
        "certified, marks are theorems"
    )
    return draw_plots("noise", [plots], folder, (8.0, 3.4), title=title)
