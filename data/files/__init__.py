"""Data files: LibSVM sets and their names, splits over clients, the user's cache."""
