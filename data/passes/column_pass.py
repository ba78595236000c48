"""In-place updates of vectors in a round, one compiled pass each; imported when first needed."""

from typing import Any

from certibit.data.passes.compilation import compiled


@compiled
def scale_and_shift(x: Any, runs: Any, factors: Any, shared: Any) -> None:  # pragma: no cover
    """Scale some runs of x, (n, d, R), and add what clients share, (1, d, r), in place."""
    n, d, _ = x.shape
    count, last = runs.size, x.shape[2] - 1
    if count == last + 1:
        for i in range(n):
            for j in range(d):
                for t in range(count):
                    x[i, j, t] = x[i, j, t] * factors[t] + shared[0, j, t]
        return
    for i in range(n):
        for t in range(count):
            run, factor = runs[t], factors[t]
            for j in range(d):
                x[i, j, run] = x[i, j, run] * factor + shared[0, j, t]


@compiled
def write_entries(indices: Any, values: Any, out: Any) -> None:  # pragma: no cover
    """Write entries (n, k, R) at their features into an array (n, d, R)."""
    n, k, runs = values.shape
    for i in range(n):
        for a in range(k):
            for r in range(runs):
                out[i, indices[i, a, r], r] = values[i, a, r]
