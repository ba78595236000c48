"""Extension: runs in which only the clients of a cohort are computed and held."""
