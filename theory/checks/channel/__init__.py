"""Checks of the channel: random choices, bits both ways, nothing that passes unsent."""
