"""Options that say where many curves are computed."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from certibit.cli.words.plain_options import count
from certibit.data.errors import Refusal

if TYPE_CHECKING:
    from certibit.figures.places.delivery import Place

_CURVES = "where curves are computed"


def add_place(parser: argparse.ArgumentParser, default: str | None = "all cores") -> None:
    """Add ``--on``, with the options of SLURM, and ``--jobs``, unless there is a single job."""
    place = parser.add_argument_group("where it is computed" if default is None else _CURVES)
    if default is None:
        parser.set_defaults(jobs=None)
    else:
        place.add_argument(
            "--jobs", type=count, help=f"number of parallel processes (default: {default})"
        )
    place.add_argument(
        "--on",
        default="local",
        metavar="PLACE",
        help="where to compute: local (default), slurm, or the scheduler of Dask, tcp://HOST:8786",
    )
    place.add_argument("--partition", help="partition of SLURM (default: that of the cluster)")
    place.add_argument(
        "--time", metavar="MINUTES", type=count, help="time limit of a SLURM task, in minutes"
    )
    place.add_argument(
        "--array-parallelism",
        metavar="TASKS",
        type=count,
        help="largest number of SLURM tasks that run at once",
    )


def read_place(chosen: argparse.Namespace, folder: Path) -> "int | Place | None":
    """Return the number of processes, or the cluster that ``--on`` names.

    SLURM's scripts and logs go below the folder of results.
    """
    of_slurm = {"partition": chosen.partition, "minutes": chosen.time,
                "array_parallelism": chosen.array_parallelism}  # fmt: skip
    if chosen.on != "slurm" and any(value is not None for value in of_slurm.values()):
        raise Refusal("--partition, --time and --array-parallelism are SLURM's; give --on slurm")
    if chosen.on == "local":
        processes: int | None = chosen.jobs
        return processes
    if chosen.jobs is not None:
        raise Refusal(
            f"--jobs is the number of processes of this machine; with --on {chosen.on} leave it "
            "out, and give SLURM's as --array-parallelism"
        )
    if chosen.on == "slurm":
        from certibit.figures.places.slurm import Slurm  # noqa: PLC0415  (only where it is used)

        return Slurm(folder.absolute() / "slurm", **of_slurm)
    if "://" in chosen.on:
        from certibit.figures.places.dask_workers import DaskWorkers  # noqa: PLC0415

        return DaskWorkers(chosen.on)
    raise Refusal(f"--on {chosen.on} is no place; choose local, slurm or such as tcp://HOST:8786")
