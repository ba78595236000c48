"""Which rows of a data set go to which client."""

import numpy as np
from numpy.typing import NDArray

from bitbound.data.errors import Refusal

Indices = NDArray[np.intp]
"""Row indices of shape (n, m): client, row."""


def shuffled(N: int, n: int, seed: int) -> Indices:
    """Deal N rows over n clients at random, m = floor(N / n) each; the rest is discarded.

    Source: LoCoDL (Condat, Maranjyan, Richtarik, 2024), section 4.

    Raises
    ------
    Refusal
        If there are more clients than rows, or no client.
    """
    m = _rows_per_client(N, n)
    return np.random.default_rng(seed).permutation(N)[: n * m].reshape(n, m)


def similarity(labels: NDArray[np.float64], n: int, s: float, seed: int) -> Indices:
    """Deal the rows so that s percent of every client's are i.i.d., the rest sorted by label.

    Every client has m = floor(N / n) rows: the first round(m s / 100) come from a shuffled deck,
    the others in runs from what remains of it, sorted by label. At s = 100 it is :func:`shuffled`,
    at s = 0 all but the clients at the border of two labels see one label only.

    Source: EPISODE (Crawshaw, Bao, Liu, ICLR 2023), section 5.1, after SCAFFOLD (Karimireddy
    et al., ICML 2020).

    Parameters
    ----------
    labels : array of shape (N,)
    n : int
        Number of clients.
    s : float
        Similarity in percent, 0 to 100.
    seed : int
        Seed of the shuffle.

    Raises
    ------
    Refusal
        If there are more clients than rows, no client, or s is outside 0..100.
    """
    if not 0 <= s <= 100:
        raise Refusal(f"a similarity of {s:g} percent; expected a number from 0 to 100")
    deck = shuffled(len(labels), n, seed)
    m = deck.shape[1]
    mixed = round(m * s / 100)
    rest = deck[:, mixed:].reshape(-1)
    rest = rest[np.argsort(labels[rest], kind="stable")]
    return np.concatenate([deck[:, :mixed], rest.reshape(n, m - mixed)], axis=1)


def split(labels: NDArray[np.float64], n: int, rule: str, seed: int) -> Indices:
    """Deal rows by the name of a rule: ``shuffled`` or ``similarity:<percent>``.

    Raises
    ------
    Refusal
        If the rule is unknown, or refuses the numbers.
    """
    if rule == "shuffled":
        return shuffled(len(labels), n, seed)
    kind, _, percent = rule.partition(":")
    try:
        s = float(percent)
    except ValueError:
        kind = ""
    if kind != "similarity":
        raise Refusal(f"the split {rule!r} is unknown; choose shuffled or similarity:<percent>")
    return similarity(labels, n, s, seed)


def _rows_per_client(N: int, n: int) -> int:
    if not 1 <= n <= N:
        raise Refusal(f"{n} clients for {N} rows; choose from 1 to {N} clients")
    return N // n
