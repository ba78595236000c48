"""The command ``compare``: compare the bits, rounds and gradients of several methods."""

import argparse

from certibit.cli.words import options
from certibit.cli.words.plain_options import FRESH, JSON, output, print_json, read_output
from certibit.cli.words.progress import progress_bar
from certibit.data.errors import Refusal
from certibit.data.files.cache import write_text
from certibit.data.terminal import for_terminal
from certibit.figures.comparison.compare import compare, keep_comparison, require_name
from certibit.solvers.registry import extension
from certibit.solvers.runs.trace import SECONDS
from certibit.solvers.store.store import Store
from certibit.theory.catalogue.references import bibtex

_PLACES = extension("certibit.cli.words.places")


def _compare_methods(chosen: argparse.Namespace) -> None:
    """Run the methods over some seeds, print what they cost and draw it if asked."""
    weight = options.read_downlink_weight(chosen)
    if weight and chosen.network is not None:
        raise Refusal("a weight of the downlink and a network; they rank in two ways, give one")
    if not chosen.plot and (chosen.axes, chosen.width, chosen.title) != (None, None, None):
        raise Refusal("--axes, --width and --title are of a figure; give its file by --plot")
    if chosen.plot:
        from certibit.figures.drawing import require_format  # noqa: PLC0415  (loads matplotlib)

        require_format(chosen.plot)
    if chosen.report is not None:
        require_name(chosen.report)
    folder, solved = read_output(chosen), options.read_problem(chosen)
    target, measure = options.read_until(chosen, solved)
    processes = _PLACES.read_place(chosen, folder) if _PLACES else None
    with progress_bar("compare", delay=0.01) as progress:  # nothing before the first run
        found = compare(
            solved,
            chosen.method,
            target=target,
            measure=measure,
            seeds=chosen.seeds,
            budget=options.read_limits(chosen),
            network=chosen.network,
            strict=chosen.strict,
            store=Store(folder / "traces", chosen.fresh),
            progress=progress,
            processes=processes,
            named=(chosen.problem, tuple(options.problem_options(chosen).items())),
            tune=chosen.tune,
        )
    if chosen.json:
        print_json(found.summary(weight))
    else:
        print(for_terminal(lambda: found.table(weight)))
    if chosen.report is not None:
        keep_comparison(found, chosen.report, folder, weight)
    if chosen.latex:
        write_text(chosen.latex, found.to_latex(downlink=weight))
    if chosen.bibtex:
        write_text(chosen.bibtex, bibtex(one.card.name for one in found.contestants).rstrip())
    if chosen.plot:
        by = "total bits" if weight else SECONDS if chosen.network else "bits"
        axes = chosen.axes.split(",") if chosen.axes else by
        found.save(chosen.plot, axes, weight, width=chosen.width, title=chosen.title)


_OPTIONS = f"""\
PROBLEM  such as breast-cancer@9
METHOD[+COMPRESSOR]+  such as locodl+rand-k:2+natural, locodl[ours]+natural,
    celgc[eta=1,gamma=1], or path/to/file.py:Name[gamma=1]
{options.PROBLEM_OPTIONS}
--seeds :count=5  number of runs of each method
{options.DOWNLINK_WEIGHT}
{options.network_option()}
{options.STRICT}
--tune GRID:text  run every method with every step size eta and threshold tau of a grid, such as
    eta=0.1,0.01:tau=5,10 (eta alone for methods without threshold), all with the limits of runs,
    and compare them at the best pair: the fewest bits to the finest accuracy
--plot FILE:file  draw the comparison as .svg, .png or .pdf
--axes COSTS  with --plot: costs of axes side by side, such as bits,rounds,gradients
--width :float  with --plot: inches of the figure
--title TEXT  with --plot: its title; "" for none
--latex FILE:file  write the table of the finest accuracy in LaTeX, for its package booktabs
--bibtex FILE:file  write the papers of the methods in BibTeX
--report NAME  store the comparison under this name for certibit report
{FRESH}
{output("results")}
{JSON}
[either]
{options.UNTIL}{options.limits_of_runs()}{_PLACES.places("one") if _PLACES else ""}"""
COMMANDS = {"compare": (_compare_methods, _OPTIONS)}
