"""Checks of a problem: derivatives, constants, solution, views."""
