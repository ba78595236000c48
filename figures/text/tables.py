"""Traces as text tables, and as one JSON object."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, is_dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from certibit.data.problem import Problem, RelaxedConstants, is_strongly_convex
from certibit.data.problems.heterogeneity import heterogeneity
from certibit.data.terminal import paragraph, table
from certibit.solvers.libraries import host
from certibit.solvers.runs.budget import STAGNATION
from certibit.solvers.runs.trace import MEASURES, MODELLED, Trace
from certibit.solvers.simulation.experiment import Experiment
from certibit.solvers.total_bits import total_bits, total_text

Rows = dict[str, str | list[str]]
"""Sentences by the word that they stand behind; an empty one is left out."""

ABSENT = "-"
"""The entry of a table without a number."""


def accuracy_name(accuracy: float) -> str:
    """Write an accuracy shortly, such as ``1e-3``; ``float`` reads it again."""
    mantissa, exponent = f"{accuracy:e}".split("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def late_median(values: NDArray[Any]) -> float:
    """Return the median, with NaN as later than everything."""
    return float(np.median(np.where(np.isnan(values), np.inf, values)))


def count_text(value: float) -> str:
    """Write a number without its fraction, or ``ABSENT`` if it is not finite."""
    return f"{value:,.0f}" if math.isfinite(value) else ABSENT


def digits_text(value: float, digits: int = 4) -> str:
    """Write a number with some digits, or ``ABSENT`` if it is not finite."""
    return f"{value:.{digits}g}" if math.isfinite(value) else ABSENT


def short_cost(cost: float, digits: int = 3) -> str:
    """Write a cost with few digits, such as 20.6k; ``ABSENT`` if it is infinite."""
    if not math.isfinite(cost):
        return ABSENT
    rounded = float(f"{cost:.{digits}g}")
    for letter in ("", "k", "M", "G"):
        if rounded < 1000:
            return f"{rounded:.{digits}g}{letter}"
        rounded /= 1000
    return f"{cost:.1e}"


def describe(experiment: Experiment[Problem]) -> str:
    """Say what is run: the problem, how unlike its clients are, the method, the compressor."""
    facts = summary_of_parts(experiment)
    lines = []
    for part in ("problem", "method", "compressor"):
        values = {key: value for key, value in facts[part].items() if value is not None}
        name, relaxed = values.pop("name"), values.pop("relaxed", {})
        values |= {key: value for key, value in relaxed.items() if value is not None}
        text = ", ".join(
            f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
            for key, value in values.items()
        )
        lines.append(_filled(part, f"{name}: {text}"))
    unlike = str(heterogeneity(experiment.problem)).replace("\n", "; ")
    lines.insert(1, _filled("clients", unlike))
    return "\n".join(lines)


def _filled(part: str, text: str) -> str:
    return paragraph(f"{part:12}{text}", hanging=" " * 12)


def cost_table(
    trace: Trace, accuracies: Sequence[float], downlink: float = 0.0, measure: str | None = None
) -> str:
    """Tabulate what each accuracy costs: medians over the runs, and the range of the bits.

    The measure is that of :meth:`~certibit.Trace.bits_to`. With a weight of the downlink, the range
    is that of the total bits, up + downlink down.
    """
    measure = trace.measure if measure is None else measure
    names = ("bits up", "down", "total") if downlink else ("bits per client",)
    written = short_cost if downlink else count_text
    timed = [name for name in MODELLED if name in trace.columns]
    rows = []
    for accuracy in accuracies:
        up, down = (trace.cost_to(accuracy, f"{way}link_bits", measure) for way in ("up", "down"))
        bits = total_bits(up, down, downlink)
        reached = int(np.count_nonzero(~np.isnan(bits)))
        ends = [written(end) for end in (np.nanmin(bits), np.nanmax(bits))] if reached else []
        counted = (up, down, bits) if downlink else (up,)
        seconds = [late_median(trace.cost_to(accuracy, name, measure)) for name in timed]
        rows.append(
            (
                accuracy_name(accuracy),
                *(written(late_median(each)) for each in counted),
                " to ".join(ends) or ABSENT,
                count_text(late_median(trace.cost_to(accuracy, "rounds", measure))),
                count_text(late_median(trace.cost_to(accuracy, "gradients", measure))),
                *map(short_cost, seconds),
                f"{reached} of {bits.size}",
            )
        )
    header = (MEASURES[measure], *names, "least to most", "rounds", "gradients", *timed, "runs")
    return "\n".join(filter(None, [total_text(downlink), table(header, rows, texts=1)]))


_LIMITS = "iterations", "rounds", "bits", "gradients", "seconds"


def describe_endings(trace: Trace) -> str:
    """Say how many runs have stagnated, diverged or ended at a limit, and where; or ""."""
    limits = Counter(end for end in trace.ending if end in _LIMITS)
    middle = late_median(trace.final(trace.measure))
    runs, stagnated = len(trace.ending), trace.ending.count("stagnated")
    diverged = trace.ending.count("diverged")
    told = [
        f"{stagnated} of {runs} runs stagnated: {STAGNATION}." * bool(stagnated),
        f"{diverged} of {runs} runs diverged" * bool(diverged),
        *(
            f"{count} of {runs} runs ended at the limit of {limit}; the median of "
            f"{MEASURES[trace.measure]} is {middle:.2g} at the end"
            for limit, count in limits.items()
        ),
    ]
    return "\n".join(paragraph(line, hanging="  ") for line in told if line)


def summary(
    experiment: Experiment[Problem],
    trace: Trace,
    accuracies: Sequence[float],
    downlink: float = 0.0,
    measure: str | None = None,
) -> dict[str, Any]:
    """Return everything about some runs as strict JSON values; null means "never".

    The measure is that of :meth:`~certibit.Trace.bits_to`. With a weight of the downlink, the bits
    to an accuracy are total bits.

    L, mu and kappa of the problem are as a user asks for them, whatever view the method solves: of
    data, those of formula (11) of LoCoDL.
    """
    measure = trace.measure if measure is None else measure
    bits_to = [trace.bits_to(accuracy, downlink, measure) for accuracy in accuracies]
    bits, measures = ("uplink_bits", "downlink_bits"), tuple(MEASURES)
    timed = [name for name in MODELLED if name in trace.columns]
    columns = ("rounds", "iteration", "gradients", *bits, *measures, *timed)
    names = ("rounds", "iterations", "gradients", *bits, *measures, *timed)
    timed_to = {
        name: [trace.cost_to(accuracy, name, measure) for accuracy in accuracies] for name in timed
    }
    final = {name: trace.final(column) for name, column in zip(names, columns, strict=True)}
    runs = [
        {
            "seed": seed,
            "bits_to": {
                accuracy_name(accuracy): json_number(bits[run])
                for accuracy, bits in zip(accuracies, bits_to, strict=True)
            },
            **{
                f"{name}_to": {
                    accuracy_name(accuracy): json_number(costs[run])
                    for accuracy, costs in zip(accuracies, timed_to[name], strict=True)
                }
                for name in timed
            },
            "ending": trace.ending[run],
            **{name: json_number(values[run]) for name, values in final.items()},
        }
        for run, seed in enumerate(trace.seeds)
    ]
    return summary_of_parts(experiment) | {
        "downlink_weight": downlink,
        "measure": measure,
        "runs": runs,
    }


def summary_of_parts(experiment: Experiment[Problem]) -> dict[str, Any]:
    """Return the problem, the method and the compressor as strict JSON values."""
    problem, method, used = experiment.problem, experiment.method, experiment.compressor
    shared = problem.composite if is_strongly_convex(problem) else problem
    constants: Any = getattr(problem, "stated", shared).constants
    relaxed: dict[str, Any] = {}
    if isinstance(constants, RelaxedConstants):
        relaxed = {key: json_number(value) for key, value in asdict(constants).items()}
    unsolved = bool(np.isnan(host(problem.x_star)).any())
    return {
        "problem": {
            "name": problem.name,
            "n": problem.n,
            "m": getattr(problem, "m", None),
            "d": problem.d,
            "L": json_number(getattr(constants, "L", None)),
            "mu": json_number(constants.mu),
            "kappa": None if relaxed else json_number(getattr(constants, "kappa", None)),
            "f_star": None if unsolved else json_number(problem.f_star),
            **({"relaxed": relaxed} if relaxed else {}),
        },
        "method": {
            "name": method.name,
            **{one.name: json_number(getattr(method, one.name)) for one in fields(method)},
        },
        "compressor": {
            "name": used.name,
            "omega": json_number(used.omega(problem.d)) if used.unbiased else None,
            "bits": used.bits(problem.d),
        },
    }


def json_numbers(values: NDArray[np.float64], digits: int) -> Any:
    """Return an array as lists of JSON numbers with some digits, null where it is not finite."""
    if values.ndim > 1:
        return [json_numbers(row, digits) for row in values]
    return json_number([float(f"{value:.{digits}g}") for value in values])


def attributes(account: Any, **paths: str) -> dict[str, Any]:
    """Return attributes as values of strict JSON, by key; what is proved is a fraction.

    An attribute of an attribute is named with a dot, such as ``certificate.c``.
    """

    def value(x: Any) -> Any:
        if isinstance(x, Mapping):
            return {name: str(y) for name, y in x.items()}
        if isinstance(x, tuple):
            return [value(each) for each in x]
        return str(x) if isinstance(x, Fraction) else json_number(x)

    def at(path: str) -> Any:
        found = account
        for name in path.split("."):
            found = None if found is None else getattr(found, name)
        return found

    return {key: value(at(path)) for key, path in paths.items()}


def json_number(value: Any) -> Any:
    """Return a number as JSON has it: whole ones without a fraction, none if not finite.

    A method that is a parameter of another one is written out.
    """
    if isinstance(value, bool | str) or value is None:
        return value
    if isinstance(value, tuple | list):
        return [json_number(each) for each in value]
    if isinstance(value, dict):
        return {name: json_number(each) for name, each in value.items()}
    if is_dataclass(value):
        return repr(value)
    number = float(value)
    if not math.isfinite(number):
        return None
    return int(number) if isinstance(value, int | np.integer) else number
