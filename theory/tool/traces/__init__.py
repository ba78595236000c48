"""Checks of a trace: a short run again by plain loops, in other batches, and resumed."""
