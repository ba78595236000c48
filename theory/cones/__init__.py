"""Semidefinite programmes, solved along their central path in extended precision."""
