"""The provenance of a trace: versions, commit, storage of the data, error of x*."""

import platform
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import scipy

from certibit.data.problem import Problem

_ROOT = Path(__file__).resolve().parents[2]


def versions() -> dict[str, str]:
    """Return the versions of what computes."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
    }


def origin(problem: Problem) -> dict[str, object]:
    """Return the origin of a trace, as JSON values.

    The commit is None where this is no checkout, the storage where a problem has no rows, the
    error of x* where a problem says none.
    """
    from importlib.metadata import version  # noqa: PLC0415  (slow to import)

    return {
        "certibit": version("certibit"),
        **versions(),
        "commit": commit(_ROOT),
        "storage": getattr(problem, "storage", None),
        "x_star_error": getattr(problem, "x_star_error", None),
    }


@cache
def commit(root: Path) -> str | None:
    """Return the commit of a checkout, with ``-dirty`` if files differ from it; else None."""
    if not (root / ".git").exists():
        return None
    words = [
        "git",
        "-C",
        str(root),
        "describe",
        "--always",
        "--dirty",
        "--abbrev=40",
        "--exclude=*",
    ]
    try:
        told = subprocess.run(words, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return told.stdout.strip()
