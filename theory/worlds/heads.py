"""A few numbers of heads that stand for all numbers that the coins of clients may show.

Where each coin counts for its own client only, and what clients do is added up, a quadratic form
of the next state is a polynomial of degree 2 in the numbers of heads of the cells. Its mean is
a sum over a few numbers, with weights of both signs: all cells but two have their middle number.
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
    """Return weights and numbers of heads that have the mean of every polynomial of degree 2.

    Parameters
    ----------
    sizes : tuple of int
        How many coins each cell has.
    chances : tuple of numbers
        That of heads in each cell.
    other : bool
        Take other numbers, which give another mean to what is no polynomial of degree 2.

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
