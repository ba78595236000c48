"""Data sets, splits over clients, and problems with exact constants and solution."""
