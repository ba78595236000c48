"""The command line; ``bitbound --help`` names its commands.

Tables go to stdout, progress and warnings to stderr. Exit code 2 and one sentence on stderr for
input that does not fit, 130 after Ctrl-C, 1 if a check fails, 0 otherwise.
"""

import argparse
import json
import os
import sys
import textwrap
import warnings
from collections.abc import Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, NoReturn, TextIO

from tqdm import tqdm

from bitbound.certifying import add_commands as add_certifying
from bitbound.checking import add_checking
from bitbound.data.errors import Refusal
from bitbound.data.files.cache import write_atomically
from bitbound.data.files.manifest import NAMES as DATASETS
from bitbound.data.problems.selector import KAPPA, problem
from bitbound.figures.text.tables import WIDTH, cost_table, describe, summary
from bitbound.solvers.compressors.selector import NAMES as COMPRESSORS
from bitbound.solvers.compressors.selector import compressor
from bitbound.solvers.runs.budget import Budget
from bitbound.solvers.runs.engine import simulate
from bitbound.theory.theorem import Setting
from bitbound.theory.theorems.catalogue import METHODS
from bitbound.theory.theorems.clipping import CLASSES
from bitbound.theory.theorems.coverage import OutsideTheoremWarning, require_theorem
from bitbound.theory.theorems.from_file import find_entry, make_method, read_settings

WRONG_INPUT, INTERRUPTED = 2, 130
_DEFAULT, _FINEST = 1e-6, 1e-30  # f - f*


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        The words after ``bitbound``; by default those of this process.
    """
    with warnings.catch_warnings():
        warnings.showwarning = _show_warning
        warnings.simplefilter("always", OutsideTheoremWarning)
        try:
            chosen = _parser().parse_args(arguments)
            status: int | None = chosen.command(chosen)
            sys.stdout.flush()
            return status or 0
        except BrokenPipeError:  # the reader of our output has left, such as head
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except ZeroDivisionError:
            print(
                "bitbound: these parameters lead to a division by zero; choose others",
                file=sys.stderr,
            )
            return WRONG_INPUT
        except (Refusal, OSError) as error:
            print(f"bitbound: {error}", file=sys.stderr)
            return WRONG_INPUT
        except KeyboardInterrupt:
            print("bitbound: interrupted", file=sys.stderr)
            return INTERRUPTED
    return 0


class _Parser(argparse.ArgumentParser):
    """A parser that says what is wrong in one sentence."""

    def error(self, message: str) -> NoReturn:
        raise Refusal(f"{message} (see {self.prog} --help)")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="bitbound", description="Run distributed optimisation methods and count their bits."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="methods, compressors and data sets by name")
    listing.set_defaults(command=_list)

    running = commands.add_parser("run", help="run one method on one problem")
    running.set_defaults(command=_run)
    running.add_argument("problem", metavar="PROBLEM", help="such as a5a@87 or /path/to/file@20")
    running.add_argument("method", metavar="METHOD", help="such as locodl, or path/to/method.py")
    running.add_argument(
        "compressor", metavar="COMPRESSOR", nargs="?", help="such as rand-k:2+natural"
    )
    running.add_argument("--kappa", type=float, default=KAPPA, help="condition number L/mu")
    running.add_argument("--seeds", type=_count, default=5, help="number of runs")
    end = running.add_mutually_exclusive_group()
    end.add_argument("--bits", type=float, help="stop after so many bits sent per client")
    end.add_argument("--until", type=float, help="stop at this f - f* (default 1e-6)")
    running.add_argument("--parameters", metavar="RULE", help="the rule for the parameters")
    running.add_argument(
        "--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter, such as p=1"
    )
    running.add_argument("--wire", action="store_true", help="send every message as bytes")
    running.add_argument(
        "--strict", action="store_true", help="refuse parameters outside every theorem"
    )
    running.add_argument("--json", action="store_true", help="print one JSON object")

    drawing = commands.add_parser("figures", help="figures of the LoCoDL paper")
    drawing.set_defaults(command=_figures)
    drawing.add_argument("numbers", metavar="FIGURE", nargs="*", help="1, 2, 3, 4 or all")
    drawing.add_argument(
        "--version",
        choices=["paper", "best", "both"],
        default="both",
        help="parameters of the paper, the best theoretical ones, or both (default)",
    )
    drawing.add_argument("--scaled", action="store_true", help="data with scaled features")
    auditing = commands.add_parser("audit", help="audit published proofs, step by step")
    auditing.set_defaults(command=_audit)
    auditing.add_argument("proof", metavar="PROOF", nargs="*", help="episode, locodl; default all")
    auditing.add_argument("--seed", type=_count, default=1, help="seed of the search")
    auditing.add_argument("--effort", type=_count, default=1, help="times the points searched")
    auditing.add_argument("--output", type=Path, default=Path("results/audit"), help="folder")
    add_certifying(commands, _count)
    add_checking(commands, _count)
    clipping = commands.add_parser("episode", help="figures of EPISODE and its rivals")
    clipping.set_defaults(command=_episode)
    clipping.add_argument("--jobs", type=_count, help="parallel processes (default: all cores)")
    clipping.add_argument("--seeds", type=_count, default=20, help="seeds of every grid point")
    clipping.add_argument("--output", type=Path, default=Path("results/episode"), help="folder")
    showing = commands.add_parser("demo", help="all methods on data that needs no file")
    showing.set_defaults(command=_demo)
    for command in (drawing, showing):
        command.add_argument("--jobs", type=_count, help="parallel processes (default: all cores)")
        command.add_argument("--seeds", type=_count, default=5, help="number of runs of each curve")
        command.add_argument("--output", type=Path, default=Path("results"), help="folder")
    return parser


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) >= 1):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number of at least 1")
    return int(text)


def _list(chosen: argparse.Namespace) -> None:
    print("METHOD, with its rules for parameters; the first is the default")
    width = max(map(len, METHODS))
    for name, entry in METHODS.items():
        need = entry.method.needs.compressor
        print(f"  {name:{width}}  {need or 'no'} compressor; {', '.join(entry.rules)}")
    print("\nMETHOD for (L0, L1)-smooth problems; parameters as --set NAME=VALUE")
    width = max(map(len, CLASSES))
    for name, method in CLASSES.items():
        given = [
            field.name if field.default is MISSING else f"{field.name}={field.default}"
            for field in fields(method)  # type: ignore[arg-type]
        ]
        print(f"  {name:{width}}  {', '.join(given)}")
    print("\nCOMPRESSOR, with integers for K and S")
    print(_wrapped(COMPRESSORS))
    print("\nPROBLEM: DATA@CLIENTS, /path/to/file@CLIENTS, quadratic:d=FEATURES@CLIENTS; DATA")
    print(_wrapped(DATASETS))


def _run(chosen: argparse.Namespace) -> None:
    if chosen.bits is None:
        until = _DEFAULT if chosen.until is None else chosen.until
        if 0 < until < _FINEST:
            raise Refusal(
                f"f - f* = {until:g} is finer than 64-bit numbers are; give at least {_FINEST:g}"
            )
        budget = Budget(gap=until)
    else:
        until, budget = _DEFAULT, Budget(bits=chosen.bits)
    entry = find_entry(chosen.method)
    sent = compressor(chosen.compressor) if chosen.compressor else None
    solved = problem(chosen.problem, kappa=chosen.kappa)
    settings = read_settings(entry.method, chosen.set)
    method = make_method(entry, solved, sent, chosen.parameters, settings)
    require_theorem(entry, method, Setting.of(method, solved, sent), strict=chosen.strict)
    with tqdm(
        total=1.0,
        desc=method.name,
        file=sys.stderr,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}",
    ) as bar:
        trace = simulate(
            method,
            solved,
            sent,
            seeds=chosen.seeds,
            budget=budget,
            wire=chosen.wire,
            progress=lambda fraction: bar.update(max(0.0, fraction - bar.n)),
        )
        bar.update(1 - bar.n)
    accuracies = [10.0**-digit for digit in range(1, 300) if 10.0**-digit > until * 1.001]
    accuracies.append(until)
    if chosen.json:
        print(json.dumps(summary(solved, method, sent, trace, accuracies), allow_nan=False))
        return
    print(describe(solved, method, sent), cost_table(trace, accuracies), sep="\n\n")
    diverged = trace.ending.count("diverged")
    if diverged:
        print(f"\n{diverged} of {len(trace.ending)} runs diverged")


def _figures(chosen: argparse.Namespace) -> None:
    from bitbound.figures.locodl.recipes import FIGURES, VERSIONS  # noqa: PLC0415  (heavy)
    from bitbound.figures.locodl.reproduction import reproduce_paper  # noqa: PLC0415  (loads matplotlib)

    words = chosen.numbers or ["all"]
    allowed = [*map(str, FIGURES), "all"]
    for word in words:
        if word not in allowed:
            raise Refusal(f"there is no figure {word!r}; choose some of {', '.join(allowed)}")
    numbers = FIGURES if "all" in words else sorted({int(word) for word in words})
    reproduce_paper(
        numbers,
        chosen.output,
        versions=VERSIONS if chosen.version == "both" else [chosen.version],
        scaled=chosen.scaled,
        seeds=chosen.seeds,
        processes=chosen.jobs,
        tell=tqdm.write,
    )


def _audit(chosen: argparse.Namespace) -> None:
    from bitbound.theory.audit.proofs import PROOFS, audit  # noqa: PLC0415  (slow to import)

    for name in chosen.proof:
        if name not in PROOFS:
            raise Refusal(f"there is no proof {name!r}; choose some of {', '.join(PROOFS)}")
    for name in chosen.proof or PROOFS:
        with tqdm(
            total=len(PROOFS[name].steps), desc=f"audit {name}", unit="step", file=sys.stderr
        ) as bar:
            report = audit(name, chosen.seed, chosen.effort, lambda finding: bar.update())
        report.save(chosen.output)
        print(report.table(), end="\n\n")


def _episode(chosen: argparse.Namespace) -> None:
    from bitbound.figures.episode.experiments import (  # noqa: PLC0415  (loads matplotlib)
        clipping_experiments,
    )

    report: list[str] = []

    def tell(text: str) -> None:
        report.append(text)
        print(text, end="\n\n", flush=True)

    clipping_experiments(chosen.output, seeds=chosen.seeds, processes=chosen.jobs, tell=tell)
    text = "\n\n".join(report) + "\n"
    write_atomically(chosen.output / "report.txt", lambda file: file.write(text.encode()))


def _demo(chosen: argparse.Namespace) -> None:
    from bitbound.figures.locodl.recipes import demonstration  # noqa: PLC0415  (heavy)

    _reproduce(chosen, [demonstration()])


def _reproduce(chosen: argparse.Namespace, figures: list[Any]) -> None:
    from bitbound.figures.locodl.reproduction import reproduce  # noqa: PLC0415  (loads matplotlib)

    reproduce(figures, chosen.output, seeds=chosen.seeds, processes=chosen.jobs, tell=tqdm.write)


def _wrapped(words: Sequence[str]) -> str:
    return textwrap.fill(
        ", ".join(words),
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
        break_long_words=False,
    )


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    print(f"bitbound: {message}", file=sys.stderr)
