"""Checks of what a theorem says: its formulas, and whether it is tight."""
