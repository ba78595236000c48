"""Runs by compiled code: gradients, messages and mini-batches; an extension."""
