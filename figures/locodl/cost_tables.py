"""What the curves of a panel cost, and Table 2 of the paper beside promised and measured values."""

import math
from collections.abc import Mapping
from string import ascii_uppercase

from certibit.data.terminal import paragraph, table
from certibit.figures.locodl.panels import Curve, Panel, experiment_of, strongest_promise
from certibit.figures.looks import method_label
from certibit.figures.text.tables import (
    ABSENT,
    accuracy_name,
    count_text,
    late_median,
)
from certibit.solvers.compressors.two_way import downward
from certibit.solvers.runs.trace import Trace
from certibit.solvers.simulation.experiment import ConvexExperiment
from certibit.theory.card import Role
from certibit.theory.catalogue.catalogue import METHODS
from certibit.theory.checks.method.round_cost import round_cost
from certibit.theory.orders import LOWER_BOUND, Order


def panel_table(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Compare the curves of a panel: bits to two accuracies, rounds and gradients.

    Numbers are medians over the seeds; "-" stands where half of the runs or more did not get
    there. Rounds and gradients are those until the end of a run.
    """
    targets = (1e-3, panel.floor)
    rows = [
        (
            curve.method,
            curve.compressor or ABSENT,
            *(count_text(late_median(trace.bits_to(target, panel.downlink))) for target in targets),
            count_text(late_median(trace.final("rounds"))),
            count_text(late_median(trace.final("gradients"))),
        )
        for curve, trace in ((curve, traces[curve]) for curve in panel.curves if curve in traces)
    ]
    names = [accuracy_name(target) for target in targets]
    seeds = max((len(trace.seeds) for trace in traces.values()), default=0)
    caption = (
        f"{panel.title}, kappa = {panel.kappa:g}: {panel.counted} until "
        f"f - f* <= {' and '.join(names)}, rounds and gradients per client until the end; "
        f"medians of {seeds} seeds"
    )
    header = ("method", "compressor", *(f"to {name}" for name in names), "rounds", "gradients")
    return f"{paragraph(caption)}\n\n{table(header, rows, texts=2)}"


_REAL = 32
_PER_ROUND = "the reals of a round times "


def table_2(panel: Panel, traces: Mapping[Curve, Trace]) -> str:
    """Tabulate reals to the floor of a panel: leading order, promise and measurement.

    With a weight of the downlink in the panel, reals received count by it; the leading order is
    then that of the rounds, times the reals of a round of the method that is run.

    A leading order is multiplied by ln(1/epsilon). The promise is that of the strongest theorem,
    with all constants. Measured is the median over seeds of bits/32, indices included, "-" where
    the runs were given up before, and "diverges" where they did. The last columns are measured
    over promised and the gradients per client. The first row is the lower bound.
    """
    problem = experiment_of(panel, next(iter(traces))).problem
    factor = math.log(1 / panel.floor)
    orders = {curve: METHODS[curve.method].orders for curve in traces}
    formulas = {
        curve: each.rounds if panel.downlink else each.reals
        for curve, each in orders.items()
        if each is not None
    }
    letters = dict(
        zip(
            dict.fromkeys(order.formula for order in (*formulas.values(), LOWER_BOUND.reals)),
            ascii_uppercase,
            strict=False,
        )
    )
    least = count_text(factor * LOWER_BOUND.reals(problem.n, problem.d, panel.kappa))
    rows = [("lower bound", "", letters[LOWER_BOUND.reals.formula], least, *[ABSENT] * 4)]
    for curve, trace in traces.items():
        order = formulas.get(curve)
        best = strongest_promise(panel, curve)
        limit = best.reals_to(panel.floor, panel.downlink) if best else math.inf
        bits = trace.bits_to(panel.floor, panel.downlink)
        measured = late_median(bits) / _REAL
        gradients = trace.cost_to(panel.floor, "gradients")
        rows.append(
            (
                method_label(curve.method),
                curve.rule or "",
                letters[order.formula] if order else ABSENT,
                count_text(factor * _reals(order, panel, curve)) if order else ABSENT,
                count_text(limit),
                "diverges" if set(trace.ending) == {"diverged"} else count_text(measured),
                f"{measured / limit:.3f}" if math.isfinite(measured / limit) else ABSENT,
                count_text(late_median(gradients)),
            )
        )
    seeds = len(next(iter(traces.values())).seeds)
    caption = (
        f"Reals of 32 {panel.counted} until f - f* <= {accuracy_name(panel.floor)} on "
        f"{panel.problem}, d = {problem.d}, kappa = {panel.kappa:g}: the leading order times "
        f"{_PER_ROUND * bool(panel.downlink)}ln(1/epsilon), what theory promises with all "
        f"constants, and the median of {seeds} seeds; gradients per client, measured. "
        "The lower bound (arXiv:2305.16297) is an order, for independent unbiased compressors"
    )
    caption += ", and of what is sent only" * bool(panel.downlink)
    header = ("method", "rule", "", "order", "promised", "measured", "ratio", "grads")
    legend = "\n".join(
        paragraph(f"{letter} = {formula}", hanging=" " * 4) for formula, letter in letters.items()
    )
    return f"{paragraph(caption)}\n\n{table(header, rows, texts=3)}\n\n{legend}"


def _reals(order: Order, panel: Panel, curve: Curve) -> float:
    """Return a leading order of reals, of rounds times the reals of a round with a weight."""
    experiment = experiment_of(panel, curve)
    n, d = experiment.n, experiment.problem.d
    alpha = downward(experiment.compressor).alpha(d)
    if not panel.downlink:
        return order(n, d, panel.kappa, 0.0, alpha)
    per_round = round_cost(experiment).bits(panel.downlink) / _REAL
    return per_round * order(n, d, panel.kappa, _variance(curve, experiment), alpha)


def _variance(curve: Curve, experiment: ConvexExperiment) -> float:
    """Return the omega of an order: of the compressor, of 1/alpha - 1, or of shared masks."""
    sent, d = experiment.compressor, experiment.problem.d
    for name, role in METHODS[curve.method].roles.items():
        if role is Role.OWNERS:
            return float(experiment.n / getattr(experiment.method, name) - 1)
    return sent.omega(d) if sent.unbiased else 1 / sent.alpha(d) - 1
