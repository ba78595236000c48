"""The command ``run``: run one method on one problem."""

import argparse
from dataclasses import replace

from certibit.cli.words import options
from certibit.cli.words.plain_options import JSON, print_json
from certibit.cli.words.progress import progress_bar
from certibit.data.errors import Refusal
from certibit.data.terminal import for_terminal
from certibit.figures.text.tables import cost_table, describe, describe_endings, summary
from certibit.solvers.libraries import LIBRARIES
from certibit.solvers.network import network_named
from certibit.solvers.runs.engine import simulate
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.covered_run import require_theorem

_FINEST = 1e-30
"""The least f - f* or |grad f|^2 that a run can wait for."""


def _run_method(chosen: argparse.Namespace) -> None:
    """Run a method over some seeds and print the cost of each accuracy."""
    _require_fine(chosen)
    weight = options.read_downlink_weight(chosen)
    clock = None if chosen.network is None else network_named(chosen.network)
    card, experiment = options.read_experiment(chosen)
    until, measure = options.read_until(chosen, experiment.problem)
    budget = options.read_limits(chosen).aimed(until, measure)
    if chosen.bits is not None:
        budget = replace(options.read_limits(chosen), bits=chosen.bits)
    require_theorem(card, experiment, strict=chosen.strict)
    with progress_bar(experiment.method.name) as progress:
        run = simulate if chosen.store is None else Store(chosen.store).trace
        trace = run(
            experiment,
            seeds=chosen.seeds,
            budget=budget,
            wire=chosen.wire,
            catch_up=chosen.catch_up,
            library=chosen.library,
            progress=progress,
        )
    if clock is not None:
        trace = trace.timed(clock)
    accuracies = [10.0**-digit for digit in range(1, 300) if 10.0**-digit > until * 1.001]
    accuracies.append(until)
    if chosen.json:
        print_json(summary(experiment, trace, accuracies, weight, measure))
        return
    print(for_terminal(lambda: describe(experiment)), end="\n\n")
    print(for_terminal(lambda: cost_table(trace, accuracies, weight, measure)))
    endings = describe_endings(trace)
    if endings:
        print("\n" + for_terminal(lambda: endings))


def _require_fine(chosen: argparse.Namespace) -> None:
    """Refuse an accuracy below that of numbers."""
    for name, until in (("f - f*", chosen.until), ("|grad f|^2", chosen.until_gradient)):
        if until is not None and 0 < until < _FINEST:
            raise Refusal(
                f"{name} = {until:g} is finer than 64-bit numbers are; give at least {_FINEST:g}"
            )


_OPTIONS = f"""\
PROBLEM  such as a5a@87 or /path/to/file@20
{options.EXPERIMENT}
--seeds :count=5  number of runs
{options.PARAMETERS}
{options.DOWNLINK_WEIGHT}
{options.network_option()}
--wire  encode every message as bytes and decode it
--catch-up  count every broadcast for all clients: those outside the cohort receive it later
--store FOLDER:folder  store the trace; a run that was interrupted continues from there
--library :{"|".join(LIBRARIES)}  array library (default: cupy for large runs if there is a GPU,
    else numpy)
{options.STRICT}
{JSON}
[either]
--bits :float  end a run once BITS bits are sent per client
{options.UNTIL}{options.limits_of_runs()}"""
COMMANDS = {"run": (_run_method, _OPTIONS)}
