"""The command ``episode``: draw the figures of the EPISODE paper."""

import argparse
from collections.abc import Callable

from certibit.cli.words.options import add_limits, read_limited_output
from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import add_fresh, add_output, add_seeds
from certibit.data.files.cache import write_text
from certibit.data.terminal import for_terminal


def add_episode(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=draw_episode)
    add_place(parser)
    add_seeds(parser, 20, "seeds of every grid point")
    add_fresh(parser)
    add_limits(parser)
    add_output(parser, "results/episode")


def draw_episode(chosen: argparse.Namespace) -> None:
    """Draw the figures, print what they say and write it to a report."""
    from certibit.figures.episode.experiments import clipping_experiments  # noqa: PLC0415  (loads matplotlib)

    folder, limits = read_limited_output(chosen)
    report: list[str] = []

    def tell(write: Callable[[], str]) -> None:
        report.append(write())
        print(for_terminal(write), end="\n\n", flush=True)

    clipping_experiments(
        folder,
        seeds=chosen.seeds,
        fresh=chosen.fresh,
        limits=limits,
        processes=read_place(chosen, folder),
        tell=tell,
    )
    write_text(folder / "report.txt", "\n\n".join(report))
