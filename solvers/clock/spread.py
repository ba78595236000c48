"""How clients differ: factors of their seconds, by a law or measured."""

import csv
import math
from pathlib import Path

import numpy as np
import scipy
from numpy.typing import NDArray

from certibit.data.errors import Refusal

EQUAL, LOGNORMAL = "equal", "lognormal"

Spread = str | tuple[float, ...]
"""``"equal"``, ``"lognormal:SIGMA"``, or the seconds per gradient of every client."""


def factors(law: str, n: int) -> NDArray[np.float64]:
    """Return by how much each of n clients is slower than the median one, (n,), ascending.

    A lognormal law is represented by its quantiles (i - 1/2)/n, so that nothing is drawn: client i
    takes exp(sigma z_i) times as long, with z_i the quantile of the normal law.

    Raises
    ------
    Refusal
        If there is no such law.
    """
    sigma = _sigma(law)
    quantiles: NDArray[np.float64] = scipy.special.ndtri((np.arange(n) + 0.5) / n)
    return np.exp(sigma * quantiles)


def _sigma(law: str) -> float:
    name, _, number = law.partition(":")
    if law == EQUAL:
        return 0.0
    try:
        sigma = float(number)
        if name == LOGNORMAL and 0 <= sigma < math.inf:
            return sigma
    except ValueError:
        pass
    raise Refusal(f"the spread {law!r} is unknown; expected equal, lognormal:SIGMA or a CSV file")


def require_spread(spread: Spread) -> None:
    """Refuse what is no law, and times that are negative or not finite."""
    if isinstance(spread, str):
        _sigma(spread)
    elif not spread or not all(0 <= seconds < math.inf for seconds in spread):
        raise Refusal("the seconds per gradient of clients must be numbers from 0 on, at least one")


def read_spread(text: str) -> Spread:
    """Read a law, or the CSV file that a text names: a client and seconds in every row.

    Clients are taken in the order in which the file first names them; of several rows of one client
    the mean counts. A first row without numbers is a header.

    Raises
    ------
    Refusal
        If the file cannot be read, or there is neither such a law nor such a file.
    """
    if text.partition(":")[0] in (EQUAL, LOGNORMAL):
        require_spread(text)
        return text
    measured: dict[str, list[float]] = {}
    try:
        rows = list(csv.reader(Path(text).read_text(encoding="utf-8").splitlines()))
        for client, seconds in rows[_has_header(rows) :]:
            measured.setdefault(client.strip(), []).append(float(seconds))
    except (OSError, ValueError) as fault:
        raise Refusal(
            f"the spread {text!r} cannot be read ({fault}); expected equal, lognormal:SIGMA or a "
            "CSV file with rows CLIENT,SECONDS"
        ) from None
    times = tuple(float(np.mean(each)) for each in measured.values())
    require_spread(times)
    return times


def _has_header(rows: list[list[str]]) -> bool:
    """Say whether the second cell of the first row is no number."""
    try:
        float(rows[0][1])
    except (IndexError, ValueError):
        return True
    return False
