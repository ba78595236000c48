"""Which client sends which entry: the template of the masks of CompressedScaffnew and TAMUNA."""

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal


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
    template = np.zeros((d, m), dtype=bool)
    places = np.arange(s * d)
    if s * d >= m:
        template[places // s, places % m] = True
    else:
        template[places % d, places] = True
    return template
