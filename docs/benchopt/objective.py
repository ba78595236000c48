"""What is minimised: logistic regression with a ridge, its rows at clients."""

from typing import Any

import numpy as np
from benchopt import BaseObjective


class Objective(BaseObjective):
    """The mean of the losses of all rows plus mu |x|^2, and what was paid to get there."""

    name = "Federated logistic regression"
    min_benchopt_version = "1.9"
    parameters = {"mu": [1e-3, 1e-5], "n_clients": [9]}
    test_config = {"mu": 1e-3, "n_clients": 4}

    def set_data(self, X: Any, y: Any) -> None:
        """Take rows (N, d) and targets -1 and 1, (N,)."""
        self.X, self.y = X, y

    def get_objective(self) -> dict[str, Any]:
        """Return what a solver gets: the rows, the client of every row, and mu."""
        clients = np.random.default_rng(0).permutation(len(self.y)) % self.n_clients
        return {"X": self.X, "y": self.y, "clients": clients, "mu": self.mu}

    def evaluate_result(
        self,
        x: Any,
        bits: float = np.nan,
        downlink_bits: float = np.nan,
        rounds: float = np.nan,
        gradients: float = np.nan,
    ) -> dict[str, float]:
        """Return the value at a model x, (d,), and what every client paid for it."""
        value = np.logaddexp(0, -self.y * (self.X @ x)).mean() + self.mu * x @ x
        return {
            "value": value,
            "bits": bits,
            "downlink_bits": downlink_bits,
            "rounds": rounds,
            "gradients": gradients,
        }

    def get_one_result(self) -> dict[str, Any]:
        """Return a model of the right shape."""
        return {"x": np.zeros(self.X.shape[1])}
