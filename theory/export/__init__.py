"""Certificates as files that others check: JSON of fractions, and proofs for the kernel of Rocq."""
