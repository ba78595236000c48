"""The experiments with clipped methods."""
