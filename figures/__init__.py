"""Figures and tables: recipes of the papers' figures, their drawing, the report."""
