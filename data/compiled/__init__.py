"""Compiled code: what is compiled, and how it is kept."""
