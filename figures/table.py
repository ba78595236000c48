"""Table 2 of the LoCoDL paper beside promised and measured values."""

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from bitbound.figures.explanation import promised
from bitbound.figures.pool import world
from bitbound.figures.recipes import METHOD_LABELS, Curve, Panel
from bitbound.figures.report import WIDTH, accuracy_name, table
from bitbound.solvers.trace import Trace

_REAL = 32


@dataclass(frozen=True)
class Order:
    """A leading order of the number of reals, without its logarithm.

    Attributes
    ----------
    letter : str
        How the table calls it.
    text : str
        The formula.
    value : callable
        Its value at n, d and kappa.
    methods : tuple of str
        The methods that have it.
    """

    letter: str
    text: str
    value: Callable[[float, float, float], float]
    methods: tuple[str, ...]


ORDERS = (
    Order("A", "(1 + d/n) kappa + d", lambda n, d, k: (1 + d / n) * k + d, ("diana",)),
    Order("B", "d kappa", lambda n, d, k: d * k, ("ef21", "fedcomgate", "gd", "scaffold")),
    Order(
        "C",
        "(sqrt(d) + d/sqrt(n)) sqrt(kappa) + d",
        lambda n, d, k: (math.sqrt(d) + d / math.sqrt(n)) * math.sqrt(k) + d,
        ("5gcs-cc", "compressed-scaffnew", "locodl", "tamuna"),
    ),
    Order(
        "D",
        "(1 + d/sqrt(n)) sqrt(kappa) + d",
        lambda n, d, k: (1 + d / math.sqrt(n)) * math.sqrt(k) + d,
        ("adiana",),
    ),
    Order("E", "d sqrt(kappa)", lambda n, d, k: d * math.sqrt(k), ("agd", "scaffnew", "gradskip")),
    Order(
        "F",
        "(1 + d/sqrt(n)) kappa + d",
        lambda n, d, k: (1 + d / math.sqrt(n)) * k + d,
        ("marina", "dasha"),
    ),
)
"""Leading orders of the methods.

Those of DIANA, EF21, 5GCS-CC, ADIANA, CompressedScaffnew, FedCOMGATE and LoCoDL are Table 2 of
arXiv:2403.04348, with the best compressor; the others are those of the methods' own papers.
"""


def table_2(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Tabulate reals to the floor of a panel: leading order, promise and measurement.

    A leading order is multiplied by ln(1/epsilon). The promise is that of the strongest theorem,
    with all constants. Measured is the median over seeds of bits/32, indices included, and "-"
    where the runs were given up before. The last column is measured over promised.
    """
    problem = world(panel, next(iter(traces)))[0]
    factor = math.log(1 / panel.floor)
    rows = []
    for curve, trace in traces.items():
        order = next((each for each in ORDERS if curve.method in each.methods), None)
        value = factor * order.value(problem.n, problem.d, panel.kappa) if order else math.nan
        best = promised(panel, curve)
        limit = best.reals_to(panel.floor) if best else math.inf
        bits = trace.bits_to(panel.floor)
        measured = float(np.median(np.where(np.isnan(bits), np.inf, bits))) / _REAL
        gradients = trace.cost_to(panel.floor, "gradients")
        rows.append(
            (
                METHOD_LABELS.get(curve.method, curve.method),
                curve.rule or "",
                order.letter if order else "",
                _number(value),
                _number(limit),
                _number(measured),
                f"{measured / limit:.3f}" if math.isfinite(measured / limit) else "-",
                _number(float(np.median(np.where(np.isnan(gradients), np.inf, gradients)))),
            )
        )
    caption = (
        f"Reals of 32 bits sent per client until f - f* <= {accuracy_name(panel.floor)} on "
        f"{panel.problem}, d = {problem.d}, kappa = {panel.kappa:g}: the leading order times "
        f"ln(1/epsilon), what theory promises with all constants, and the median of "
        f"{len(next(iter(traces.values())).seeds)} seeds; gradients per client, measured"
    )
    header = ("method", "rule", "", "order", "promised", "measured", "ratio", "grads")
    legend = "\n".join(f"{order.letter} = {order.text}" for order in ORDERS)
    return f"{textwrap.fill(caption, WIDTH)}\n\n{table(header, rows, texts=3)}\n\n{legend}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if math.isfinite(value) else "-"
