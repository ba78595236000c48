"""Runs by compiled code: gradients, messages, local solves and local steps; an extension."""
