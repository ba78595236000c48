"""Certificates of several steps, by potentials that change."""
