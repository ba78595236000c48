"""A plan as text, and as JSON values."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from certibit.data.terminal import paragraph, table
from certibit.figures.text.tables import accuracy_name, json_number, short_cost
from certibit.solvers.network import amount
from certibit.solvers.total_bits import total_text
from certibit.theory.plan.planning import SAMPLED_ROUNDS, Costs, Plan, Reign

_MEASURED = {"gap": "f - f*", "squared_gradient": "a mean |grad f|^2 over the steps"}
LONGEST_NAME = 24
"""A longer name of a pair has a line of its own, so that the rest fits."""


def plan_text(
    plan: Plan, rows: int, measured: Mapping[str, Costs] | None = None, downlink: float = 0.0
) -> str:
    """Tabulate the best offers of a plan, what was measured beside it, and the crossover.

    With a weight of the downlink, total bits are a column in place of the gradients.
    """
    problem = plan.problem
    heading = (
        f"{problem.name}: n={problem.n}, d={problem.d}; promised by theorem, in the mean, to "
        f"{_MEASURED[plan.measure]} <= {accuracy_name(plan.target)}, per client; seconds are "
        f"modelled on {plan.network}; gradients are the promised rounds times the mean of a round"
    )
    sampled = sorted({offer.pair for offer in plan.offers[:rows] if offer.sampled})
    if sampled:
        heading += (
            f", for {', '.join(sampled)} that of at most {SAMPLED_ROUNDS} first ones of a run"
        )
    heading = "; ".join(filter(None, [heading, total_text(downlink)]))
    last = ["total", "rounds"] if downlink else ["rounds", "gradients"]
    header = ["method", "rule", "seconds", "bits up", "down", *last]
    promised = [
        [
            offer.pair + "*" * (offer.by == "certificate"),
            offer.rule,
            *_cells(plan, offer.promised, downlink),
        ]
        for offer in plan.offers[:rows]
    ]
    parts = [paragraph(heading), _table(header, promised)]
    if any(offer.by == "certificate" for offer in plan.offers[:rows]):
        parts[-1] += "\n* promised by a certificate of the same parameters, not by the theorem"
    left = len(plan.offers) - rows
    if left > 0:
        parts[-1] += f"\nand {left} more, slower by promise; --rows shows them"
    if measured:
        runs = [
            [*_name_and_rule(name), *_cells(plan, costs, downlink)]
            for name, costs in measured.items()
        ]
        title = "Measured on runs, medians; seconds are modelled from what was counted"
        if plan.measure == "squared_gradient":
            title += "; the first point counts, not the mean"
        parts.append(f"{title}\n{_table(header, runs)}")
    return "\n\n".join([*parts, _crossover_text(plan)])


def plan_summary(
    plan: Plan, measured: Mapping[str, Costs] | None = None, downlink: float = 0.0
) -> dict[str, Any]:
    """Return everything as strict JSON values; null means "never", and "no limit"."""
    problem = plan.problem
    return {
        "problem": {"name": problem.name, "n": problem.n, "d": problem.d},
        "target": plan.target,
        "measure": plan.measure,
        "network": plan.network.described,
        "downlink_weight": downlink,
        "offers": [
            {
                "name": offer.name,
                "compressor": offer.experiment.compressor.name,
                "promised_by": offer.by,
                "sampled": offer.sampled,
                "promised": _values(plan, offer.promised, downlink),
                "measured": _values(plan, measured[offer.name], downlink)
                if measured and offer.name in measured
                else None,
            }
            for offer in plan.offers
        ],
        "crossover": [
            {"name": reign.offer.name, "up_to": json_number(reign.up_to)}
            for reign in plan.crossover()
        ],
    }


def _name_and_rule(name: str) -> tuple[str, str]:
    """Take an offer's name apart: ``locodl[ours]+natural`` into the pair and the rule."""
    method, _, rest = name.partition("[")
    rule, _, sent = rest.partition("]")
    return method + sent, rule


def _crossover_text(plan: Plan) -> str:
    """Say which offer is promised to be the fastest at which uplink."""
    reigns = plan.crossover()
    title = "Fastest by promise as the uplink varies, all else of the network being equal"
    if len(reigns) == 1:
        return f"{title}\n  at any uplink: {reigns[0].offer.pair}"
    lines = [f"  below {_rate(reigns[0])}: {reigns[0].offer.pair}"]
    for before, reign in pairwise(reigns):
        above = f"above {_rate(before)}"
        until = "" if math.isinf(reign.up_to) else f", below {_rate(reign)}"
        lines.append(f"  {above}{until}: {reign.offer.pair}")
    return "\n".join([title, *lines])


def _rate(reign: Reign) -> str:
    return f"{amount(reign.up_to, 'bit')}/s"


def _cells(plan: Plan, costs: Costs, downlink: float) -> list[str]:
    total, rounds = costs.total(downlink), costs.rounds
    last = (total, rounds) if downlink else (rounds, costs.gradients)
    return [short_cost(x) for x in (costs.seconds(plan.network), costs.up, costs.down, *last)]


def _values(plan: Plan, costs: Costs, downlink: float) -> dict[str, float | None]:
    values = {**asdict(costs), "seconds": costs.seconds(plan.network)}
    values["total"] = costs.total(downlink)
    return {name: json_number(value) for name, value in values.items()}


def _table(header: list[str], rows: list[list[str]]) -> str:
    """Tabulate rows; a long name has a line of its own above its row."""
    lines: list[list[str]] = []
    for name, *cells in rows:
        lines += [[name], ["", *cells]] if len(name) > LONGEST_NAME else [[name, *cells]]
    return table(header, lines, texts=2)
