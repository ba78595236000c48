"""What compiled code would do without a trick that cannot be switched off: the other way alone."""

from dataclasses import replace
from typing import Any

import numpy as np

from certibit.data.passes.compilation import compiled
from certibit.data.passes.fused import FusedGradients
from certibit.data.passes.row_passes import add_row


@compiled
def add_products(lanes: Any, matrix: Any, y: Any, y_step: Any, m: Any, runs: Any, out: Any) -> None:
    """Do what ``set_products`` does by adding to zeros."""
    starts, columns, values = matrix
    for q in range(out.size):
        out[q] = 0.0
    for r in range(0, runs, len(lanes)):
        some = min(len(lanes), runs - r)
        for row in range(starts.size - 1):
            base, at = row // m * y_step + r, row * runs + r
            begin, end = starts[row], starts[row + 1]
            add_row(lanes, values, columns, begin, end, y, base, runs, some, out, at)


def with_all_features(losses: FusedGradients) -> FusedGradients:
    """Return the same losses, every client having all features, most of them without an entry."""
    (n, _, d), (places, _, starts, columns, values) = losses.shape, losses.features
    counts = np.zeros(n * d, dtype=np.int64)
    counts[places] = np.diff(starts)
    starts = np.concatenate(([0], np.cumsum(counts)))
    features = (np.arange(n * d), np.arange(n + 1) * d, starts, columns, values)
    return replace(losses, features=features)
