"""Proofs in rational numbers that a potential decreases in one step of a method."""
