"""The figure that benchopt lacks: accuracy against the bits that a client has sent."""

from typing import Any

from benchopt import BasePlot


class Plot(BasePlot):
    """The median over repetitions of f minus the smallest value that any solver found."""

    name = "bits"
    type = "scatter"
    options = {"dataset": ..., "objective": ...}

    def plot(self, df: Any, dataset: str, objective: str) -> list[dict[str, Any]]:
        """Return one curve per solver."""
        df = df[(df["dataset_name"] == dataset) & (df["objective_name"] == objective)]
        least = df["objective_value"].min()
        curves = []
        for solver, runs in df.groupby("solver_name"):
            points = runs.groupby("stop_val")[["objective_bits", "objective_value"]].median()
            curves.append(
                {
                    "x": points["objective_bits"].tolist(),
                    "y": (points["objective_value"] - least).tolist(),
                    "label": solver,
                    **self.get_style(solver),
                }
            )
        return curves

    def get_metadata(self, df: Any, dataset: str, objective: str) -> dict[str, str]:
        """Return the words beside the curves."""
        return {"title": f"{objective}\n{dataset}", "xlabel": "Bits per client", "ylabel": "f - f*"}
