"""A few values of binomial counts whose weighted sum is the mean of every polynomial of a degree.

Each client tosses its own coin, and the number of heads among the clients of a cell (clients that
were treated alike so far) is binomial. A sum over the clients of what depends on their coins is a
polynomial of these counts, of one degree more than what is summed. The mean of a polynomial of
degree D follows from D + 1 values of a count, and of several counts from those of which at most D
are passed over, counted over all cells. The weights may be negative.
"""

from fractions import Fraction
from functools import lru_cache
from math import prod
from typing import Any

from flint import fmpq

from certibit.theory.worlds.opaque.exact_numbers import Rational, fraction, rational

Heads = tuple[int, ...]
"""The number of heads in each cell."""


@lru_cache(maxsize=16)
def numbers_of_heads(
    sizes: tuple[int, ...], chances: tuple[Any, ...], degree: int = 2
) -> list[tuple[Fraction, Heads]]:
    """Return weights and counts of heads that give the mean of every polynomial of a degree.

    Those of at most so many coins are all that there are.

    Examples
    --------
    >>> [(float(weight), heads) for weight, heads in numbers_of_heads((4,), (0.5,))]
    [(0.75, (2,)), (0.125, (0,)), (0.125, (4,))]
    """
    found: list[tuple[int, list[Rational], Heads]] = [(0, [fmpq(1)], ())]
    for size, p in zip(sizes, chances, strict=True):
        places = _places(size, degree)
        means = _means(places, size, rational(p))
        longer: list[Any] = []
        for passed, before, heads in found:
            for i, place in enumerate(places[: degree - passed + 1]):
                after = [fmpq()] * min(len(before) + len(places) - 1, degree + 1)
                for j in range(i, len(places)):
                    apart = prod(place - other for other in places[: j + 1] if other != place)
                    for power, weight in enumerate(before[: len(after) - j]):
                        after[power + j] += weight * means[j] / apart
                longer.append((passed + i, after, (*heads, place)))
        found = longer
    return [(fraction(sum(weights, fmpq())), heads) for _, weights, heads in found]


def _places(size: int, degree: int) -> list[int]:
    """Return numbers of heads of one cell, first those in the middle; all if there are no more."""
    places = {size * k // degree for k in range(degree + 1)}
    return sorted(sorted(places), key=lambda place: abs(2 * place - size))


def _means(places: list[int], size: int, p: Rational) -> list[Rational]:
    """Return the means of the products of a count less each of the first places."""
    moments = [fmpq(1)]  # of size (size - 1) ..., as many factors
    for power in range(len(places)):
        moments.append(moments[-1] * (size - power) * p)
    factors, means = [1], []
    for place in places:
        means.append(sum((a * b for a, b in zip(factors, moments, strict=False)), fmpq()))
        kept = [(power - place) * factor for power, factor in enumerate(factors)]
        factors = [a + b for a, b in zip([*kept, 0], [0, *factors], strict=True)]
    return means
