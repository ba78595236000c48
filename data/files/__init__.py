"""Where data comes from: LibSVM files, their names, splits over clients, the user's cache."""
