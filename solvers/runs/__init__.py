"""Runs: the engine's loop, budgets, traces and their store."""
