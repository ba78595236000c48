"""Checks of a method: its own steps, one step and whole runs against a theorem, boundaries."""
