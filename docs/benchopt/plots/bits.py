"""The figure that benchopt lacks: accuracy against the bits of a client."""

from typing import Any

from benchopt import BasePlot

from certibit.solvers.total_bits import bits_name, total_bits


class Plot(BasePlot):
    """The median over repetitions of f minus the smallest value that any solver found."""

    name = "bits"
    type = "scatter"
    options = {"dataset": ..., "objective": ..., "downlink_weight": [0.0, 0.1, 1.0]}

    def plot(
        self, df: Any, dataset: str, objective: str, downlink_weight: float
    ) -> list[dict[str, Any]]:
        """Return one curve per solver."""
        df = df[(df["dataset_name"] == dataset) & (df["objective_name"] == objective)]
        least = df["objective_value"].min()
        curves = []
        for solver, runs in df.groupby("solver_name"):
            total = total_bits(
                runs["objective_bits"], runs["objective_downlink_bits"], downlink_weight
            )
            paid = runs.assign(total_bits=total)
            points = paid.groupby("stop_val")[["total_bits", "objective_value"]].median()
            curves.append(
                {
                    "x": points["total_bits"].tolist(),
                    "y": (points["objective_value"] - least).tolist(),
                    "label": solver,
                    **self.get_style(solver),
                }
            )
        return curves

    def get_metadata(
        self, df: Any, dataset: str, objective: str, downlink_weight: float
    ) -> dict[str, str]:
        """Return the words beside the curves."""
        bits = bits_name(downlink_weight)
        return {"title": f"{objective}\n{dataset}", "xlabel": bits, "ylabel": "f - f*"}
