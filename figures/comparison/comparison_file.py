"""A comparison in a file: its traces and their specifications, as arrays and JSON."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from certibit.data.errors import DamagedFileError, Refusal
from certibit.data.files.archive import load_arrays, save_arrays
from certibit.data.problem import Problem
from certibit.data.problems.selector import problem as problem_named
from certibit.figures.comparison.contestants import Contestant
from certibit.solvers.compressors.selector import compressor
from certibit.solvers.method import Method
from certibit.solvers.network import Network
from certibit.solvers.runs.budget import Budget
from certibit.solvers.runs.engine import specification
from certibit.solvers.runs.trace import Trace, require_columns
from certibit.solvers.simulation.experiment import Experiment
from certibit.theory.catalogue.catalogue import CARDS, card_of

Pairs = Sequence[tuple[Contestant, Trace]]


def write_comparison(
    path: Path, pairs: Pairs, targets: Sequence[float], network: Network | None
) -> None:
    """Write contestants with their traces as an npz file that ends with its digest."""
    header = {
        "targets": list(targets),
        "network": None if network is None else network.described,
        "contestants": [
            {"variant": each.variant, "specification": trace.specification, "ending": trace.ending}
            for each, trace in pairs
        ],
    }
    columns = {
        f"{place}-{name}": column
        for place, (_, trace) in enumerate(pairs)
        for name, column in trace.columns.items()
    }
    save_arrays(path, {"comparison": np.array(json.dumps(header)), **columns})


def read_comparison(
    path: Path, problem: Problem | None, methods: Sequence[type[Method]]
) -> tuple[Problem, Pairs, tuple[float, ...], Network | None]:
    """Return the problem, the contestants with their traces, the targets and the network.

    Raises
    ------
    DamagedFileError
        If the file is not what was written.
    Refusal
        If the problem or a method cannot be made again from its name and parameters.
    """
    arrays = load_arrays(path)
    try:
        header = json.loads(str(arrays["comparison"]))
        traces = [_trace(arrays, place, each) for place, each in enumerate(header["contestants"])]
        variants = [str(each["variant"]) for each in header["contestants"]]
        targets = tuple(map(float, header["targets"]))
        network = Network(**header["network"]) if header["network"] else None
        made = dict(traces[0].specification["problem"])
    except (KeyError, TypeError, ValueError, IndexError) as fault:
        raise DamagedFileError(f"{path} holds no comparison ({fault!r})") from None
    if problem is None:
        problem = _problem_again(made)
    classes = {name: card.method for name, card in CARDS.items()}
    classes |= {each.name: each for each in methods}
    pairs = [
        (_contestant(trace, variant, problem, classes), trace)
        for trace, variant in zip(traces, variants, strict=True)
    ]
    return problem, pairs, targets, network


def _trace(arrays: Mapping[str, Any], place: int, header: Mapping[str, Any]) -> Trace:
    head = f"{place}-"
    columns = {name.removeprefix(head): a for name, a in arrays.items() if name.startswith(head)}
    ending = tuple(map(str, header["ending"]))
    require_columns(columns, len(ending))
    return Trace(dict(header["specification"]), columns, ending)


def _problem_again(made: Mapping[str, Any]) -> Problem:
    """Return the problem of a name."""
    try:
        kappa = made.get("kappa")
        return problem_named(made["name"], **({} if kappa is None else {"kappa": kappa}))
    except Refusal as reason:
        raise Refusal(f"{made['name']} is no name of a problem; give problem= ({reason})") from None


def _contestant(
    trace: Trace, variant: str, problem: Problem, classes: Mapping[str, type[Method]]
) -> Contestant:
    """Return the contestant of a trace, made again and held against its specification."""
    made = trace.specification
    name, values = made["method"]["name"], made["method"]["parameters"]
    if name not in classes:
        raise Refusal(f"{name} is no method of the catalogue; give its class in methods=")
    values = {key: tuple(x) if isinstance(x, list) else x for key, x in values.items()}
    method = classes[name](**values)
    experiment = Experiment.of(method, problem, compressor(made["compressor"]))
    again = specification(experiment, seeds=1, budget=Budget(iterations=1))
    for part in ("problem", "method", "compressor"):
        if json.loads(json.dumps(again[part])) != json.loads(json.dumps(made[part])):
            raise Refusal(
                f"the {part} of {name} is not that of the file, {made[part]}; give the problem "
                "and the classes that were compared"
            )
    return Contestant(card_of(method), experiment, variant)
