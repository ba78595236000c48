"""The memory that arrays need, and the memory that is available."""

from pathlib import Path, PurePosixPath

from certibit.data.errors import Refusal

_BYTES = 8
_GROUPS = Path("/proc/self/cgroup")
"""Names the control groups of this process, one a line: number, kinds of limits, path."""
_LIMITS = Path("/sys/fs/cgroup")


def require_memory(numbers: float, what: str) -> None:
    """Refuse what needs at least so many 64-bit numbers if this machine cannot hold them.

    Parameters
    ----------
    numbers : float
        An estimate from below.
    what : str
        What needs them, as the subject of the sentence.

    Raises
    ------
    Refusal
        If they take more than the memory that this process may use, in use or not.
    """
    there = memory()
    if _BYTES * numbers > there:
        raise Refusal(
            f"{what} would take about {_BYTES * numbers / 1e9:.3g} GB of memory and this machine "
            f"has {there / 1e9:.3g} GB; choose smaller numbers"
        )


def memory() -> int:
    """Return the bytes that this process may use: those of the machine, or fewer in a container.

    On Linux a control group may have a limit, as may each that it is in, and a container may see
    its own group as the outermost.
    """
    import psutil  # noqa: PLC0415  (slow to import)

    return min([int(psutil.virtual_memory().total), *_limits()])


def _limits() -> list[int]:
    """Return the limits of all control groups that this process is in."""
    try:
        groups = [line.split(":", 2) for line in _GROUPS.read_text().splitlines()]
    except OSError:
        return []
    files = []
    for _, kinds, group in groups:
        if not kinds:
            files += _outwards(_LIMITS, group, "memory.max")
        elif "memory" in kinds.split(","):
            files += _outwards(_LIMITS / "memory", group, "memory.limit_in_bytes")
    told = [file.read_text().strip() for file in files if file.is_file()]
    return [int(limit) for limit in told if limit.isdecimal()]


def _outwards(root: Path, group: str, file: str) -> list[Path]:
    """Return the files with the memory limits of a control group and of its parents."""
    parts = PurePosixPath(group.lstrip("/")).parts
    return [root.joinpath(*parts[:depth], file) for depth in range(len(parts) + 1)]
