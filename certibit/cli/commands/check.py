"""The command ``check``: check a method against its theorems, and on request certibit itself."""

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from certibit.cli.words import options
from certibit.cli.words.plain_options import FAILED, JSON, print_result
from certibit.data.terminal import for_terminal
from certibit.figures.text.examinations import describe_examination, examination_summary
from certibit.figures.text.tables import describe, summary_of_parts
from certibit.solvers.registry import extension
from certibit.solvers.runs.budget import Budget
from certibit.solvers.simulation.experiment import is_convex
from certibit.theory.catalogue.covered_run import require_theorem
from certibit.theory.checks.examination import examine
from certibit.theory.checks.method.whole_runs import ITERATIONS

_PLACES, _POOL = map(extension, ("certibit.cli.words.places", "certibit.figures.pool"))


def _check_method(chosen: argparse.Namespace) -> int:
    """Check everything about a method on a problem, print it and return the exit code."""
    weight = options.read_downlink_weight(chosen)
    budget = replace(options.read_limits(chosen), gap=chosen.until)
    place = _PLACES and _POOL and _PLACES.read_place(chosen, Path("results"))
    if _POOL and place is not None:
        call = _POOL.Call(chosen.method, examined, (chosen, weight, budget))
        ((text, holds),) = _POOL.results([call], place)
    else:
        text, holds = examined(chosen, weight, budget)
    print_result(text)
    return 0 if holds else FAILED


def examined(chosen: argparse.Namespace, weight: float, budget: Budget) -> tuple[str, bool]:
    """Check everything, here; return the text to be printed, and whether every check holds."""
    card, experiment = options.read_experiment(chosen)
    name = experiment.method.name
    with tqdm(
        desc=name, bar_format="{desc} {elapsed} {postfix}", file=sys.stderr, disable=None
    ) as bar:
        if not is_convex(experiment):  # nothing else names the hypothesis that fails
            require_theorem(card, experiment, strict=chosen.strict)
        found = examine(
            card,
            experiment,
            budget,
            rule=chosen.parameters,
            by_rule=not chosen.set,
            seeds=chosen.seeds,
            downlink=weight,
            beyond=True,
            strict=chosen.strict,
            tell=bar.set_postfix_str,
        )
    if chosen.json:
        parts = summary_of_parts(experiment)
        return json.dumps(parts | examination_summary(found), allow_nan=False), found.holds
    view = getattr(experiment.problem, "view", "plain")
    lines = (
        for_terminal(lambda: describe(experiment)),
        for_terminal(lambda: describe_examination(found, view, chosen.all)),
    )
    return "\n".join(lines), found.holds


_OPTIONS = f"""\
PROBLEM  such as breast-cancer@9
{options.EXPERIMENT}
{options.PARAMETERS}
--seeds :count=5  number of whole runs
--until :float=1e-6  f - f* at which whole runs end
{options.DOWNLINK_WEIGHT}
{options.STRICT}
--all  print every check, not only those that fail or inform
{JSON}
{options.limits_of_runs(ITERATIONS)}{_PLACES.ONE_PLACE if _PLACES else ""}"""
COMMANDS = {"check": (_check_method, _OPTIONS)}
