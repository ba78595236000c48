"""The template of the masks of CompressedScaffnew and TAMUNA: which client sends which entry."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from certibit.data.arrays import Array
from certibit.data.errors import Refusal


def check_cohort(m: int, n: int) -> None:
    """Refuse a number m of clients that cannot be drawn of n."""
    if not 1 <= m <= n:
        raise Refusal(f"a cohort of {m} of {n} clients; choose between 1 and {n}")


def check_owners(s: int, m: int) -> None:
    """Refuse a number s of owners per entry that m clients cannot have."""
    if not 2 <= s <= m:
        choice = f"choose s between 2 and {m}" if m >= 2 else "take at least 2 clients"
        raise Refusal(f"s = {s} owners per entry are not possible with {m} clients; {choice}")


def ownership_template(d: int, m: int, s: int) -> NDArray[np.bool_]:
    """Return the template (d, m): s ones in every row, columns as even as can be.

    If s d >= m, row k owns the s consecutive columns that start where row k - 1 stopped, wrapping
    around; the columns have floor(s d/m) or ceil(s d/m) ones. If s d < m, the first s d columns
    have a single one, row after row, and the others are empty. Permuting the columns uniformly
    makes the owners of every entry a uniformly random s-subset of the m clients.
    Source: Condat, Agarsky, Richtarik, arXiv:2210.13277, Figure 1.

    Raises
    ------
    Refusal
        Unless 2 <= s <= m.
    """
    check_owners(s, m)
    template: NDArray[np.bool_] = owned(np.arange(d)[:, None], np.arange(m)[None, :], s, d, m)
    return template


@lru_cache(maxsize=16)
def ownership_rows(d: int, m: int, s: int, n: int) -> NDArray[np.bool_]:
    """Return the columns of the template as rows, and empty ones for the others of n: (n, d)."""
    rows = np.zeros((n, d), dtype=bool)
    rows[:m] = ownership_template(d, m, s).T
    rows.setflags(write=False)
    return rows


def owned(entry: Array, place: Array, s: int, d: int, m: Array | int) -> Array:
    """Whether the template (d, m) has a one in the row of an entry, in the column of a place.

    Places from m on have none. On a device m may be an array of no dimension.
    """
    around, once = (place - s * entry) % m < s, (place < s * d) & (place % d == entry)
    chosen = (around & (s * d >= m)) | (once & (s * d < m))
    return chosen & (place < m)
