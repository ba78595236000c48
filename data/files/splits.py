"""Splits of the rows of a data set over clients."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from certibit.data.errors import Refusal
from certibit.data.files.own_data import Dataset, own_labels

Indices = NDArray[np.intp]
"""Row indices of shape (n, m): client, row."""
Shares = tuple[NDArray[np.intp], ...]
"""Row indices of every client, which may have unequally many."""

_REDRAWS = 1000


@dataclass(frozen=True)
class Division:
    """The number of rows of each class at each client.

    Attributes
    ----------
    classes : tuple
        The classes; none if the targets are numbers.
    counts : tuple of tuple of int
        Rows of every client and class, (n, classes), or (n, 1) without classes.
    discarded : int
        Rows that went to no client.
    """

    classes: tuple[Any, ...]
    counts: tuple[tuple[int, ...], ...]
    discarded: int = 0

    @classmethod
    def of(cls, targets: NDArray[Any], shares: Shares | Indices, classes: tuple[Any, ...]) -> Self:
        """Count the rows of every client and class; targets are in the order of the classes."""
        values = np.unique(targets) if classes else ()
        counts = [
            tuple(int(np.count_nonzero(targets[share] == each)) for each in values) or (len(share),)
            for share in shares
        ]
        return cls(classes, tuple(counts), len(targets) - sum(map(len, shares)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of every client, (n,)."""
        return tuple(map(sum, self.counts))


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
    """Deal rows by the name of a rule: ``shuffled``, ``in-order`` or ``similarity:<percent>``.

    ``in-order`` gives each client floor(N / n) consecutive rows.

    Raises
    ------
    Refusal
        If the rule is unknown, or refuses the numbers.
    """
    if rule == "shuffled":
        return shuffled(len(labels), n, seed)
    if rule == "in-order":
        m = _rows_per_client(len(labels), n)
        return np.arange(n * m).reshape(n, m)
    kind, _, percent = rule.partition(":")
    try:
        s = float(percent)
    except ValueError:
        kind = ""
    if kind != "similarity":
        raise Refusal(
            f"the split {rule!r} is unknown; choose shuffled, in-order or similarity:<percent>"
            " for clients of equal size, or dirichlet:<concentration>"
        )
    return similarity(labels, n, s, seed)


def dirichlet(labels: NDArray[Any], n: int, concentration: float, seed: int) -> Shares:
    """Deal the rows of every class over n clients by proportions from a Dirichlet distribution.

    No row is discarded, and clients have unequally many. A small concentration gives a client
    rows of few classes. Proportions are drawn again until every client has a row.

    Source: Yurochkin et al., Bayesian nonparametric federated learning of neural networks, ICML
    2019, section 4; Li et al., Federated learning on non-IID data silos, ICDE 2022.

    Raises
    ------
    Refusal
        If the concentration is not positive, there are more clients than rows, or 1000 draws leave
        a client without a row.
    """
    if not 0 < concentration < np.inf:
        raise Refusal(f"a Dirichlet concentration of {concentration:g}; expected a positive number")
    _rows_per_client(len(labels), n)
    generator = np.random.default_rng(seed)
    of_classes = [
        generator.permutation(np.flatnonzero(labels == each)) for each in np.unique(labels)
    ]
    for _ in range(_REDRAWS):
        parts: list[list[NDArray[np.intp]]] = [[] for _ in range(n)]
        for rows in of_classes:
            proportions = generator.dirichlet(np.full(n, concentration))
            cuts = np.round(np.cumsum(proportions)[:-1] * len(rows)).astype(np.intp)
            for part, share in zip(parts, np.split(rows, cuts), strict=True):
                part.append(share)
        if all(sum(map(len, part)) for part in parts):
            return tuple(np.concatenate(part) for part in parts)
    raise Refusal(
        f"dirichlet:{concentration:g} leaves one of {n} clients without a row in {_REDRAWS} draws; "
        "choose a larger concentration or fewer clients"
    )


def by_client(clients: Any, N: int) -> Shares:
    """Give every row to the client that its label names, in the order of the sorted labels.

    Raises
    ------
    Refusal
        If :func:`~certibit.data.files.own_data.own_labels` refuses the labels, (N,).
    """
    _, positions = own_labels(clients, "labels of clients", N)
    order = np.argsort(positions, kind="stable")
    return tuple(np.split(order, np.cumsum(np.bincount(positions))[:-1]))


def divide(dataset: Dataset, n: int, rule: str, seed: int) -> Shares:
    """Deal rows by the name of a rule, ``dirichlet:<concentration>`` or one of :func:`split`.

    Raises
    ------
    Refusal
        If the rule is unknown, or does not fit the data.
    """
    kind, _, parameter = rule.partition(":")
    if kind != "dirichlet":
        return tuple(split(dataset.b, n, rule, seed))
    if not dataset.labels:
        raise Refusal(
            f"the split {rule!r} deals the rows of classes and these targets are numbers; "
            "choose shuffled, in-order or similarity:<percent>, or give the client of every row"
        )
    try:
        concentration = float(parameter)
    except ValueError:
        raise Refusal(
            f"the split {rule!r} cannot be read; expected dirichlet:<concentration>, such as "
            "dirichlet:0.3"
        ) from None
    return dirichlet(dataset.b, n, concentration, seed)


def _rows_per_client(N: int, n: int) -> int:
    if not 1 <= n <= N:
        raise Refusal(f"{n} clients for {N} rows; choose from 1 to {N} clients")
    return N // n
