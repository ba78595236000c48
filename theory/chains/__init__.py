"""Certificates of several steps, by potentials that change, and of whole runs."""
