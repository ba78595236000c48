"""Plans as a table, and as a map of the fastest method over uplink and latency."""
