"""Checks of random choices, their independence, the sizes of messages, and devices."""
