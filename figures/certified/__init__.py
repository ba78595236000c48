"""Certified against published rates and parameters."""
