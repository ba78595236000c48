"""Worst cases over all functions and compressors, with proofs."""
