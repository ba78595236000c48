"""Figures of the checks of promise against measurement."""
