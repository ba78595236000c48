"""Commands that write tables and figures into a folder of results."""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from certibit.cli.words import options
from certibit.cli.words.places import places, read_place
from certibit.cli.words.plain_options import FAILED, FRESH, output, read_output
from certibit.data.errors import Refusal
from certibit.data.files.archive import write_record
from certibit.data.files.cache import write_text
from certibit.data.terminal import for_terminal
from certibit.figures.certified.measured_bits import MOST_ITERATIONS
from certibit.figures.pool import Call, Work, results
from certibit.solvers.registry import extension
from certibit.solvers.runs.budget import ITERATIONS
from certibit.theory.checks.standard import ACCURACY, STANDARD_ITERATIONS, rows, tasks


def _work(chosen: argparse.Namespace, iterations: int = ITERATIONS) -> Work:
    """Return what is asked of figures: folder, seeds, weight, limits, and where curves run."""
    given = vars(chosen)
    asked: dict[str, Any] = {name: given[name] for name in ("seeds", "fresh") if name in given}
    if "downlink_weight" in given:
        asked["downlink"] = options.read_downlink_weight(chosen)
    if "rounds" in given:
        folder, asked["limits"] = options.read_limited_output(chosen, iterations)
    else:
        folder = read_output(chosen)
    tell = lambda write: tqdm.write(for_terminal(write))  # noqa: E731
    return Work(folder, **asked, processes=read_place(chosen, folder), tell=tell)


def _draw_demo(chosen: argparse.Namespace) -> None:
    """Draw the figure of all methods and print its table."""
    from certibit.figures.locodl.recipes import demonstration
    from certibit.figures.locodl.reproduction import reproduce

    reproduce([demonstration()], _work(chosen))


def _draw_figures(chosen: argparse.Namespace) -> None:
    """Draw the chosen figures and print the table of each panel."""
    from certibit.figures.locodl.recipes import FIGURES, VERSIONS
    from certibit.figures.locodl.reproduction import reproduce_paper

    words = chosen.figure or ["all"]
    apart = [name for name in COMMANDS if name in {f"figures {word}" for word in words}]
    if apart:
        raise Refusal(f"{apart[0]} is a command of its own; give no other figure, and options last")
    _require_known("figure", words, [*map(str, FIGURES), "all"])
    numbers = FIGURES if "all" in words else sorted({int(word) for word in words})
    versions = VERSIONS if chosen.version == "both" else [chosen.version]
    reproduce_paper(numbers, _work(chosen), versions=versions)


def _require_known(kind: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise Refusal(f"there is no {kind} {name!r}; choose some of {', '.join(known)}")


def _draw_episode(chosen: argparse.Namespace) -> None:
    """Draw the figures, print what they say and write it to a report."""
    from certibit.figures.episode.experiments import clipping_experiments

    _reported(_work(chosen), clipping_experiments)


def _train_networks(chosen: argparse.Namespace) -> None:
    """Draw the figures, print what they say and write it to a report."""
    library = extension("certibit.data.deep.module_gradients")
    if library is None:
        raise Refusal("this copy of certibit has no data/deep; choose another command")
    work = _work(chosen)
    library.torch_library()
    from certibit.figures.deep.deep_experiments import deep_experiments
    from certibit.figures.deep.networks import TrainingPlan

    plan = TrainingPlan(steps=chosen.steps)
    _reported(work, lambda work: deep_experiments(work, plan))


def _reported(work: Work, do: Callable[[Work], Any]) -> None:
    """Print what is told during some work, and write it to a report."""
    report: list[str] = []

    def tell(write: Callable[[], str]) -> None:
        report.append(write())
        print(for_terminal(write), end="\n\n", flush=True)

    do(replace(work, tell=tell))
    write_text(work.folder / "report.txt", "\n\n".join(report))


_CLASSES = ("strongly-convex", "convex", "nonconvex", "relaxed", "all")


def _compare_certified(chosen: argparse.Namespace) -> None:
    """Write and print the tables and figures of all methods."""
    from certibit.figures.certified.classes import class_table, relaxed_table, rule_tables

    tables: dict[str, tuple[str, Callable[[], str]]] = {
        "all": ("classes", class_table.class_table),
        "convex": ("convex", rule_tables.convex_table),
        "relaxed": ("relaxed", relaxed_table.relaxed_table),
        "nonconvex": ("descents", rule_tables.descent_table),
    }
    if chosen.of_class in tables:
        name, write = tables[chosen.of_class]
        text = for_terminal(write)
        write_text(chosen.output / f"{name}.txt", text)
        print(text)
        return
    from certibit.figures.certified.comparison import certified_comparison

    certified_comparison(_work(chosen, MOST_ITERATIONS))


def _audit_proofs(chosen: argparse.Namespace) -> None:
    """Audit the chosen proofs, save their reports and print their tables."""
    from certibit.theory.audit.proofs import PROOFS, audit

    _require_known("proof", chosen.proof, [*PROOFS])
    folder = read_output(chosen)
    for name in chosen.proof or PROOFS:
        steps = len(PROOFS[name].steps)
        with tqdm(
            total=steps, desc=f"audit {name}", unit="step", file=sys.stderr, disable=None
        ) as bar:
            report = audit(name, chosen.seed, chosen.effort, lambda finding: bar.update())
        report.save(folder)
        print(for_terminal(report.table), end="\n\n")


def _check_theorems(chosen: argparse.Namespace) -> int:
    """Check all theorems, write table and JSON, and return the exit code."""
    from certibit.figures.theory_results import row_summary, theorems_table

    work = _work(chosen, STANDARD_ITERATIONS)
    more = (work.seeds, ACCURACY, work.downlink, work.limits)
    calls = [
        Call(f"{card.name}[{rule}]", rows, (place, *more))
        for place, (card, rule, _, _) in enumerate(tasks())
    ]
    found = [row for some in results(calls, work.processes) for row in some]
    write_text(work.folder / "report.txt", theorems_table(found))
    write_record(work.folder / "report.json", [row_summary(row) for row in found])
    print(for_terminal(lambda: theorems_table(found)))
    return 0 if all(row.holds for row in found) else FAILED


def _write_page(chosen: argparse.Namespace) -> None:
    """Write the page; if there is no figure yet, run the demonstration first."""
    from certibit.figures.locodl.recipes import demonstration
    from certibit.figures.locodl.reproduction import reproduce
    from certibit.figures.report.page import read_parts, write_report

    work = _work(chosen)
    folder = work.folder
    if not any(part.weights for part in read_parts(folder)):
        print(f"{folder} has no comparison; the demonstration runs first", file=sys.stderr)
        reproduce([demonstration()], work)
    print(write_report(folder, chosen.page or folder / "report.html"))
    for part in read_parts(folder):
        if not part.blocks:
            print(f"not run: {part.title} ({part.target})")


_CURVES = f"""\
--seeds :count=5  number of runs of each curve
{FRESH}
{output("results")}
{options.limits_of_runs()}{places()}"""
_FIGURES = f"""\
FIGURE*  1, 2, 3, 4 or all; certibit figures episode, certified and theory, each with a
    --help of its own, draw the others
--version :paper|best|both=both  parameters of the paper, the best theoretical ones, or both
    (default)
{_CURVES}"""
_EPISODE = f"""\
--seeds :count=20  seeds of every grid point
{FRESH}
{output("results/episode")}
{options.limits_of_runs()}{places()}"""
_DEEP = f"""\
--seeds :count=3  seeds of every grid point
--steps :count=400  number of local steps
{FRESH}
{output("results/deep")}
{places()}"""
_CERTIFIED = f"""\
--class CLASS:{"|".join(_CLASSES)}=strongly-convex  class of functions. strongly-convex: rates;
    convex: which methods descend, also under the Polyak-Lojasiewicz condition; nonconvex: which
    methods descend; relaxed: which methods that clip descend on (L0, L1)-smooth functions; all:
    one table of all methods and classes
--seeds :count=1  number of runs measured
{options.DOWNLINK_WEIGHT}
{FRESH}
{output("results/certified")}
{options.limits_of_runs(MOST_ITERATIONS)}{places()}"""
_AUDIT = f"""\
PROOF*  episode, locodl; default both
--seed :count=1  seed of the search
--effort :count=1  factor by which the number of searched points is multiplied
{output("results/audit")}"""
_REPORT = f"""\
--page FILE:file  file of the page (default: report.html in the folder)
{FRESH}
{output("results")}
{places()}"""


def _measured(folder: str, iterations: int) -> str:
    runs = "--seeds :count=4  number of runs"
    more = f"{options.limits_of_runs(iterations)}{places()}"
    return "\n".join([runs, options.DOWNLINK_WEIGHT, output(folder), more])


COMMANDS = {
    "demo": (_draw_demo, _CURVES),
    "figures": (_draw_figures, _FIGURES),
    "figures episode": (_draw_episode, _EPISODE),
    "deep": (_train_networks, _DEEP),
    "figures certified": (_compare_certified, _CERTIFIED),
    "audit": (_audit_proofs, _AUDIT),
    "figures theory": (_check_theorems, _measured("results/theory", STANDARD_ITERATIONS)),
    "report": (_write_page, _REPORT),
}
