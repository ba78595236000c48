"""Splits of rows over clients: every row is dealt once, or as often as is said."""

import numpy as np
import scipy

from certibit.data.files.dataset import Dataset
from certibit.data.files.splits import divide
from certibit.theory.verdict import Verdict, worst_of

_ROWS, _CLIENTS = 103, (1, 7, 103)
_RULES = ("shuffled", "similarity:0", "similarity:35", "similarity:100", "dirichlet:0.5")


def rows_dealt_once(seed: int = 0) -> Verdict:
    """Check that no split deals a row twice, and that none is left out but a rest below n."""
    labels = np.random.default_rng(seed).choice([-1.0, 1.0], _ROWS)
    rows = scipy.sparse.csr_array(np.ones((_ROWS, 1)))
    data = Dataset("rows", rows, labels, (-1.0, 1.0), "rows")
    found = []
    for rule in _RULES:
        for n in _CLIENTS[: 2 if rule.startswith("dirichlet") else None]:
            dealt = np.concatenate(divide(data, n, rule, seed))
            rest = 0 if rule.startswith("dirichlet") else _ROWS % n
            again, left = len(dealt) - len(np.unique(dealt)), _ROWS - len(np.unique(dealt))
            text = f"{rule} deals {again} of {_ROWS} rows to {n} clients again, and leaves {left}"
            found.append((again + abs(left - rest), text))
    worst, what = worst_of(found)
    advice = f"The split {what}: look at how rows are dealt."
    return Verdict("rows dealt once", worst, 0.0, f"{len(found)} splits", advice)
