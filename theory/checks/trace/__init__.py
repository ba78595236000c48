"""Checks of a trace: a short run again, by plain loops over clients and coordinates."""
