"""Options that say where many curves are computed."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from certibit.data.errors import Refusal

if TYPE_CHECKING:
    from certibit.figures.places.delivery import Place

_ON = """\
--on PLACE:text=local  where to compute: local (default), slurm, or the scheduler of Dask,
    tcp://HOST:8786
--partition :text  partition of SLURM (default: that of the cluster)
--time MINUTES:count  time limit of a SLURM task, in minutes
--array-parallelism TASKS:count  largest number of SLURM tasks that run at once
"""
ONE_PLACE = f"\n[where it is computed]\n{_ON}"
"""``--on`` of a single job, with the options of SLURM."""


def places(default: str = "all cores") -> str:
    """Return ``--jobs``, and ``--on`` with the options of SLURM."""
    jobs = f"--jobs :count  number of parallel processes (default: {default})"
    return f"\n[where curves are computed]\n{jobs}\n{_ON}"


def read_place(chosen: argparse.Namespace, folder: Path) -> "int | Place | None":
    """Return the number of processes, or the cluster that ``--on`` names.

    SLURM's scripts and logs go below the folder of results.
    """
    of_slurm = {"partition": chosen.partition, "minutes": chosen.time,
                "array_parallelism": chosen.array_parallelism}  # fmt: skip
    jobs: int | None = getattr(chosen, "jobs", None)
    if chosen.on != "slurm" and any(value is not None for value in of_slurm.values()):
        raise Refusal("--partition, --time and --array-parallelism are SLURM's; give --on slurm")
    if chosen.on == "local":
        return jobs
    if jobs is not None:
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
