"""Checks of the channel: random choices, bits both ways, and that all communication uses it."""
