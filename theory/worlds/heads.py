"""A few values of binomial counts whose weighted sum is the mean of every quadratic polynomial.

Each client tosses its own coin, and the number of heads among the clients of a cell (clients that
were treated alike so far) is binomial. If a coin acts on its own client only and the server sums
over the clients, a quadratic form of the next state is a polynomial of degree 2 in these counts, so
its expectation depends only on their means and covariances. Three values of a count suffice; the
weights may be negative, and at most two cells at a time differ from their middle value.
"""

from functools import lru_cache
from itertools import combinations
from typing import Any

Heads = tuple[int, ...]
"""The number of heads in each cell."""


@lru_cache(maxsize=16)
def numbers_of_heads(
    sizes: tuple[int, ...], chances: tuple[Any, ...], *, other: bool = False
) -> list[tuple[Any, Heads]]:
    """Return weights and counts of heads that give the mean of every polynomial of degree 2.

    Parameters
    ----------
    sizes : tuple of int
        The number of coins in each cell.
    chances : tuple of numbers
        The probability of heads in each cell.
    other : bool
        Use other counts. A function that is no polynomial of degree 2 has another mean over these.

    Examples
    --------
    >>> numbers_of_heads((4,), (0.5,))
    [(0.75, (2,)), (0.125, (0,)), (0.125, (4,))]
    """
    pairs = list(zip(sizes, chances, strict=True))
    places = [_places(size, p, other) for size, p in pairs]
    middle = tuple(first for first, *_ in places)
    weights: dict[Heads, Any] = {}
    steps = []
    for cell, ((size, p), (first, *others)) in enumerate(zip(pairs, places, strict=True)):
        apart = size * p - first
        for place in others:
            weight = apart / (place - first)
            for third in others:
                if third != place:
                    square = size * p * (1 - p) + apart * (size * p - third)
                    weight = square / ((place - first) * (place - third))
            weights[_with(middle, {cell: place})] = weight
        if others:
            steps.append((cell, others[0], apart / (others[0] - first)))
    for (a, at_a, along), (b, at_b, aside) in combinations(steps, 2):
        both = along * aside
        weights[_with(middle, {a: at_a, b: at_b})] = both
        weights[_with(middle, {a: at_a})] -= both
        weights[_with(middle, {b: at_b})] -= both
    left = 1 - sum(weights.values())
    return [(left, middle), *((weight, heads) for heads, weight in weights.items())]


def _places(size: int, p: Any, other: bool) -> Heads:
    """Return up to three numbers of heads of one cell, all if there are no more."""
    if p in {0, 1}:
        return (size * int(p == 1),)
    if size == 1:
        return (1, 0) if other else (0, 1)
    if other:
        return size, min((3 * size + 3) // 4, size - 1), 0
    return size // 2, 0, size


def _with(heads: Heads, changes: dict[int, int]) -> Heads:
    return tuple(changes.get(cell, number) for cell, number in enumerate(heads))
