"""Checks of a compressor: mean and variance, constants, bytes."""
