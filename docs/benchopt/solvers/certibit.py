"""The methods of certibit as solvers of benchopt, with parameters from their theorems."""

from typing import Any

import numpy as np
from benchopt import BaseSolver
from benchopt.stopping_criterion import SufficientProgressCriterion

import certibit


class Solver(BaseSolver):
    """A method with a compressor, looked at in every communication round."""

    name = "certibit"
    sampling_strategy = "callback"
    stopping_criterion = SufficientProgressCriterion(patience=30, strategy="callback")
    parameters = {
        "method, compressor": [
            ("locodl", "rand-k:2+natural"),
            ("diana", "rand-k:2+natural"),
            ("ef21", "top-k:2"),
            ("agd", None),
        ]
    }

    def set_objective(self, X: Any, y: Any, clients: Any, mu: float) -> None:
        """Take the problem, and the parameters of the method from theory."""
        self.problem = certibit.problem(X, y, clients=clients, mu=mu)
        self.sent = certibit.compressor(self.compressor) if self.compressor else None
        self.chosen = certibit.parameters(self.method, self.problem, self.sent)
        self.result: dict[str, Any] = {"x": np.zeros(self.problem.d)}

    def run(self, callback: Any) -> None:
        """Run the method until benchopt has seen enough."""

        def look(point: Any) -> bool:
            self.result = {
                "x": point["x"][0, :, 0],
                "bits": point["uplink_bits"][0],
                "downlink_bits": point["downlink_bits"][0],
                "rounds": point["rounds"][0],
                "gradients": point["gradients"][0],
            }
            return not callback()

        certibit.run(
            self.chosen,
            self.problem,
            self.sent,
            seeds=[self.get_seed(use_repetition=True)],
            budget=certibit.Budget(gap=1e-10),  # benchopt may end it before
            record=certibit.Record(ratio=1),
            callback=look,
        )

    def get_result(self) -> dict[str, Any]:
        """Return the model that was seen last, and what it has cost."""
        return self.result
