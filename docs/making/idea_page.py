"""The whole idea in one picture, with numbers that are computed when the site is built."""

from html import escape

from certibit.figures.certified.rates import Rate
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.comparison.costs import cost_curve, cost_text
from certibit.figures.text.tables import accuracy_name
from certibit.solvers.compressors.wire import Layout
from making.text import page, raw

_METHOD, _LINES = "diana", ("m = uplink(grad(x) − h)", "x ← x − γ (h_mean + mean m)", "h ← h + α m")
_WIDTH, _HEIGHT, _BOX = 720.0, 280.0, 160.0


def idea_page(rate: Rate, compared: Comparison, layout: Layout) -> str:
    """Return the picture: a method is written once, and four things are made of it."""
    place = [c.card.name for c in compared.contestants].index(_METHOD)
    contestant, trace = compared.contestants[place], compared.traces[place]
    curve = cost_curve(trace, compared.targets[-1], "bits", 0.0)
    bits = f"{cost_text(curve.median[-1])} to {accuracy_name(compared.targets[-1])}"
    boxes = (
        ("run it", f"{trace.final('rounds').max():,.0f} rounds, all seeds", "as one array program"),
        ("count its bits", f"{layout.bits} bits a message,", bits),
        ("check its theorem", f"E[Ψ⁺] ≤ (1 − {rate.published:.4f}) Ψ", "on every step, exactly"),
        ("certify its rate", f"1 − {rate.certified:.4f} proved for", "all functions of the class"),
    )
    step = (_WIDTH - _BOX) / 3
    parts = [_box(_WIDTH / 2 - 150, 10, 300, ("write it once", *_LINES))]
    for number, box in enumerate(boxes):
        x = number * step
        middle = x + _BOX / 2
        parts.append(
            f'<path class="rule" fill="none" d="M{_WIDTH / 2:g},106C{_WIDTH / 2:g},165 '
            f'{middle:g},145 {middle:g},192"/>'
        )
        parts.append(_box(x, 195, _BOX, box))
    svg = (
        f'<svg class="chart idea" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" '
        f'aria-label="one class is run, counted, checked and certified">{"".join(parts)}</svg>'
    )
    return page(
        raw(f"<figure>{svg}</figure>"),
        f"The numbers are those of {contestant.label} on {compared.problem.name}, and for the "
        f"certificate at n = {rate.n}, kappa = {rate.kappa:g}, omega = {rate.omega:g}; computed "
        "when this page was built.",
    )


def _box(x: float, y: float, width: float, lines: tuple[str, ...]) -> str:
    height = 33 + 21 * (len(lines) - 1)
    texts = "".join(
        f'<text x="{x + width / 2:g}" y="{y + 20 + 21 * row:g}" '
        f'class="mid{" head" if row == 0 else ""}">{escape(line)}</text>'
        for row, line in enumerate(lines)
    )
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="6"/>{texts}'
