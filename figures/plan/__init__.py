"""Plans as a table, and as a map of who is the fastest where."""
