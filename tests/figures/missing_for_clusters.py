"""Print what is missing for the tests of clusters; `make test-cluster` calls this."""

import importlib.util
import shutil
import sys
from pathlib import Path

PACKAGES = {"mpi4py": "mpi", "distributed": "cluster", "submitit": "cluster"}
PROGRAMS = {"mpirun": "pip install mpich, or apt-get install openmpi-bin",
            "sinfo": "apt-get install slurm-wlm munge, and a cluster"}  # fmt: skip


def missing():
    """Return a sentence for every package and program that is not here."""
    for module, extra in PACKAGES.items():
        if importlib.util.find_spec(module) is None:
            yield f"{module} is missing: pip install 'certibit[{extra}]'"
    here = str(Path(sys.executable).parent)
    for program, how in PROGRAMS.items():
        if shutil.which(program) is None and shutil.which(program, path=here) is None:
            yield f"{program} is missing: {how}"


if __name__ == "__main__":
    for sentence in missing():
        print(f"{sentence}; its tests are skipped")
