"""Formulas that the theorems of several methods share."""
