"""The command ``deep``: train networks by the methods of EPISODE and others with few bits."""

import argparse
from collections.abc import Callable

from certibit.cli.words.places import add_place, read_place
from certibit.cli.words.plain_options import add_fresh, add_output, add_seeds, count, read_output
from certibit.data.files.cache import write_text
from certibit.data.terminal import for_terminal


def add_deep(parser: argparse.ArgumentParser) -> None:
    """Add the command and its options."""
    parser.set_defaults(command=train_network)
    add_place(parser)
    add_seeds(parser, 3, "seeds of every grid point")
    parser.add_argument("--steps", type=count, default=400, help="number of local steps")
    add_fresh(parser)
    add_output(parser, "results/deep")


def train_network(chosen: argparse.Namespace) -> None:
    """Draw the figures, print what they say and write it to a report."""
    folder = read_output(chosen)
    from certibit.data.deep.torch_library import torch_library  # noqa: PLC0415

    torch_library()
    from certibit.figures.deep.deep_experiments import deep_experiments  # noqa: PLC0415  (torch)
    from certibit.figures.deep.networks import TrainingPlan  # noqa: PLC0415

    report: list[str] = []

    def tell(write: Callable[[], str]) -> None:
        report.append(write())
        print(for_terminal(write), end="\n\n", flush=True)

    deep_experiments(
        folder,
        TrainingPlan(steps=chosen.steps, seeds=chosen.seeds),
        fresh=chosen.fresh,
        processes=read_place(chosen, folder),
        tell=tell,
    )
    write_text(folder / "report.txt", "\n\n".join(report))
