"""Print what is missing for the tests of clusters; `make test-cluster` calls this."""

import importlib.util
import shutil
import sys
from pathlib import Path

PACKAGES = {"distributed": "cluster", "submitit": "cluster"}
PROGRAMS = {"sinfo": "apt-get install slurm-wlm munge, and a cluster"}


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
