"""Figures 1 to 4 of the LoCoDL paper: recipes, claims, verdicts."""
