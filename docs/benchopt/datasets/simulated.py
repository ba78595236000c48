"""Rows that are drawn, without a file."""

from typing import Any

import numpy as np
from benchopt import BaseDataset


class Dataset(BaseDataset):
    """Normal rows, whose targets are mostly the sides of a plane."""

    name = "simulated"
    parameters = {"N": [900], "d": [30]}
    test_config = {"N": 60, "d": 5}

    def get_data(self) -> dict[str, Any]:
        """Return rows (N, d) and targets -1 and 1, (N,)."""
        generator = np.random.default_rng(self.get_seed())
        X = generator.standard_normal((self.N, self.d))
        y = np.sign(X @ generator.standard_normal(self.d) + generator.standard_normal(self.N))
        return {"X": X, "y": y}
