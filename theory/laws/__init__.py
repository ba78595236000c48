"""Closed forms of the best step sizes and rates, proved exactly at rational points."""
