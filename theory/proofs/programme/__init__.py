"""Descents as programmes over semidefinite matrices: their coordinates, and the best of them."""
