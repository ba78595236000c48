"""The whole idea in one picture, with numbers that are computed when the site is built."""

from html import escape

from certibit.figures.certified.rates import Rate
from certibit.figures.comparison.comparison_result import Comparison
from certibit.figures.costs import cost_curve, cost_text
from certibit.figures.text.tables import accuracy_name
from certibit.solvers.compressors.wire import Layout
from making.text import page, raw

_METHOD, _LINES = "diana", ("m = uplink(grad(x) − h)", "x ← x − γ (h_mean + mean m)", "h ← h + α m")


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
    return page(
        raw(
            f'<div class="idea">{_box("write it once", *_LINES)}'
            f"<div>{''.join(_box(*box) for box in boxes)}</div></div>"
        ),
        f"The numbers are those of {contestant.label} on {compared.problem.name}, and for the "
        f"certificate at n = {rate.n}, kappa = {rate.kappa:g}, omega = {rate.omega:g}; computed "
        "when this page was built.",
    )


def _box(head: str, *lines: str) -> str:
    return f"<p><b>{escape(head)}</b><br>{'<br>'.join(map(escape, lines))}</p>"
