"""What is drawn: recipes of the papers' figures, the drawing, the report."""
