"""Entries, or rows, are drawn and found in one compiled pass; imported when first needed."""

from typing import Any

import numpy as np

from certibit.data.passes.column_pass import write_entries
from certibit.data.passes.compilation import compiled


@compiled
def draw_entries(x: Any, uniforms: Any, indices: Any, values: Any) -> bool:  # pragma: no cover
    """Draw a subset of features for every client and run, and find the entries there.

    ``indices`` (n, k, R) become those of ``subsets``, and ``values`` the entries of x (n, d, R).
    False where a number is not one of [0, 1): its feature would not be one of x.
    """
    n, d, runs = x.shape
    k = uniforms.shape[1]
    last = np.full(d, -1)  # who has drawn a feature last: nothing is searched, and k may be large
    for i in range(n):
        for r in range(runs):
            who = i * runs + r
            for a in range(k):
                j = d - k + a
                t = np.int64(uniforms[i, a, r] * (j + 1))
                if t < 0 or t > j:
                    return False
                if last[t] == who:
                    t = np.int64(j)
                last[t] = who
                indices[i, a, r] = t
                values[i, a, r] = x[i, t, r]
    return True


@compiled
def keep_entries(
    x: Any, uniforms: Any, indices: Any, values: Any, factor: float, out: Any
) -> bool:  # pragma: no cover
    """Draw entries as :func:`draw_entries`, and write them times a factor into zeros (n, d, R)."""
    inside = draw_entries(x, uniforms, indices, values)
    if inside:
        values *= factor
        write_entries(indices, values, out)
    return inside


@compiled
def draw_by_size(x: Any, uniforms: Any, indices: Any, values: Any) -> bool:  # pragma: no cover
    """Draw one feature of every client and run by its absolute value.

    ``indices`` (n, 1, R) become the features, the first whose cumulative size is above uniforms
    times the sum, and ``values`` the sum with the sign of the entry, or 0 where that is 0.
    """
    n, d, runs = x.shape
    sums = np.empty((d + 1, runs))
    sums[0] = 0.0
    for i in range(n):
        for j in range(d):
            for r in range(runs):
                sums[j + 1, r] = sums[j, r] + abs(x[i, j, r])
        for r in range(runs):
            whole = sums[d, r]
            target, first = uniforms[i, 0, r] * whole, 0
            if target >= whole:  # rounding has brought it up
                target = np.nextafter(whole, -1.0)
            while first < d - 1 and sums[first + 1, r] <= target:
                first += 1
            indices[i, 0, r] = first
            values[i, 0, r] = np.sign(x[i, first, r]) * whole
    return True


@compiled
def smallest(keys: Any, counts: Any, drawn: Any) -> None:  # pragma: no cover
    """Set ``drawn`` (n, b, R) to the places of the b smallest of the first counts[i] keys.

    They are in ascending order; keys are (R, n, m).
    """
    n, b, runs = drawn.shape
    least, places = np.empty(b), np.empty(b, np.int64)
    for i in range(n):
        for r in range(runs):
            found = 0
            for s in range(counts[i]):
                key = keys[r, i, s]
                if found < b:
                    found += 1
                elif key >= least[b - 1]:
                    continue
                k = found - 1
                while k > 0 and least[k - 1] > key:
                    least[k], places[k] = least[k - 1], places[k - 1]
                    k -= 1
                least[k], places[k] = key, s
            drawn[i, :, r] = np.sort(places)
