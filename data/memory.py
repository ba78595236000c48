"""The memory that arrays need, and the memory that is available."""

from certibit.data.errors import Refusal

_BYTES = 8


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
        If they take more than the memory of this machine, in use or not.
    """
    there = memory()
    if _BYTES * numbers > there:
        raise Refusal(
            f"{what} would take about {_BYTES * numbers / 1e9:.3g} GB of memory and this machine "
            f"has {there / 1e9:.3g} GB; choose smaller numbers"
        )


def memory() -> int:
    """Return the bytes of memory of the machine."""
    import psutil  # noqa: PLC0415  (slow to import)

    return int(psutil.virtual_memory().total)
